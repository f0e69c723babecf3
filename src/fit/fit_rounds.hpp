// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_FIT_ROUNDS_HPP
#define KASTOR_FIT_FIT_ROUNDS_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <kastor/gaussian.hpp>
#include <span>
#include <vector>

#include "fit/fit_sets.hpp"
#include "fit/group_fitter.hpp"
#include "fit/island_fit.hpp"

/// The order in which components are fitted, dropped and added.
namespace kastor::detail {

/// An island whose residuals are to be searched.
struct ResidualTask {
  std::int32_t x_min, x_max, y_min, y_max;  ///< its box, both ends included
  std::uint32_t label;
  std::int32_t count;  ///< Gaussians of its model
  std::int64_t first;  ///< in the list of all
};

/// The highest pixel of an island in what its model leaves.
struct ResidualPeak {
  double value;           ///< deviation - model [image unit]; -infinity if no pixel can be used
  double rms;             ///< noise there [image unit]
  double sum_of_squares;  ///< of deviation - model, over the island's pixels [image unit^2]
  std::int64_t y, x;
};

/// What is done on the backend.
struct FitCalls {
  /// As `GroupFitter`.
  std::function<const GroupFits&(std::span<const FitComponent>, std::span<const FitGroup>,
                                 std::span<const Gaussian>, bool with_covariance)>
      fit;
  /// The peak of each task. Valid until the next call.
  std::function<std::span<const ResidualPeak>(const std::vector<ResidualTask>&,
                                              const std::vector<Gaussian>&)>
      find_residuals;
};

/// Fits the components of many islands at the same time. Each island is on its own: its result does
/// not depend on the others.
class FitRounds {
 public:
  FitRounds(const FitRules& rules, FitCalls calls);

  /// The islands begin with their parts, and end with sets that are fitted.
  void run(std::vector<IslandFit>& islands);

 private:
  enum class Pass {
    first,
    second,
    rough  ///< as the second one, without a covariance
  };
  /// An island before a part was added.
  struct Trial {
    IslandFit before;
    double sum_of_squares;  ///< of what the model left of its pixels
  };

  void fit_first();
  void fit_again();
  /// Fits sets in both passes, from their guesses.
  void fit_both(const std::vector<SetRef>& sets);
  void drop_weak(std::vector<SetRef> sets);
  /// Of islands without split sets.
  void add_residuals();
  /// Adds a part at a peak of the residuals; the set that it belongs to.
  [[nodiscard]] SetRef add_part(std::size_t island, const ResidualPeak& peak);

  /// Islands with split sets: fits these again, since their neighbours have moved, and adds parts
  /// at many peaks of the residuals at a time, since a crowd hides many.
  void complete_split();
  /// Makes the sets of islands anew and fits them. Returns those that are not estimates.
  std::vector<SetRef> fit_islands(const std::vector<std::size_t>& islands, Pass pass);
  /// Returns the islands that got parts.
  [[nodiscard]] std::vector<std::size_t> add_to_split(const std::vector<std::size_t>& searched);
  /// Adds a part at a peak, unless another new one is near.
  [[nodiscard]] bool add_to_split(IslandFit& fit, std::size_t first_new, const ResidualPeak& peak);

  /// Fits sets in one pass, as they stand.
  void fit_pass(std::vector<SetRef>& sets, Pass pass);
  void fit_round(const std::vector<SetRef>& due, Pass pass, bool with_covariance);
  void add_group(const SetRef& ref, Pass pass);
  /// The sets whose last fit failed, each with one component or one freedom less. Those that are
  /// not to be fitted any more are left out.
  [[nodiscard]] std::vector<SetRef> step_down(const std::vector<SetRef>& sets);
  [[nodiscard]] bool step_down(IslandFit& fit, FitSet& set);
  void begin(const std::vector<SetRef>& sets);
  [[nodiscard]] std::vector<SetRef> all_sets() const;
  /// A set that lost its weakest member; false if there is none to be dropped.
  [[nodiscard]] bool drop_from(IslandFit& fit, FitSet& set) const;
  [[nodiscard]] std::vector<std::size_t> searched_islands(bool are_split);
  /// A search of a box of an island.
  void add_task(const IslandFit& fit, const ResidualTask& box);
  [[nodiscard]] std::span<const ResidualPeak> find_residuals(
      const std::vector<std::size_t>& searched);
  [[nodiscard]] bool is_worth_a_part(const IslandFit& fit, const ResidualPeak& peak) const;
  [[nodiscard]] bool is_good(const IslandFit& fit, const FitSet& set) const;

  [[nodiscard]] IslandFit& island_of(const SetRef& ref) { return (*m_islands)[ref.island]; }
  [[nodiscard]] FitSet& set_of(const SetRef& ref) { return island_of(ref).sets[ref.set]; }
  [[nodiscard]] bool has_failed(const SetRef& ref) {
    return set_of(ref).outcome.status == FitStatus::failed;
  }

  FitRules m_rules;
  FitCalls m_calls;
  std::vector<IslandFit>* m_islands = nullptr;
  // Work space of a call of the kernels.
  std::vector<SetRef> m_due;
  std::vector<FitComponent> m_components;
  std::vector<FitGroup> m_groups;
  std::vector<Gaussian> m_fixed;
  std::vector<ResidualTask> m_tasks;
  std::vector<Gaussian> m_models;
};

}  // namespace kastor::detail

#endif
