// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_FORCED_FITS_HPP
#define KASTOR_FIT_FORCED_FITS_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <kastor/component.hpp>
#include <kastor/fit.hpp>
#include <kastor/forced.hpp>
#include <kastor/gaussian.hpp>
#include <span>
#include <utility>
#include <vector>

#include "fit/forced_groups.hpp"
#include "fit/forced_places.hpp"
#include "fit/group_fitter.hpp"

namespace kastor::detail {

/// Pixels within this radius of a position are fitted [FWHM].
inline constexpr double forced_radius = 0.6;
/// Positions whose ellipses of this radius touch are fitted together [FWHM]: beyond, less than a
/// thousandth of one's light is taken for the other's.
inline constexpr double forced_reach = 1;

/// What is fitted at given positions in which order, and the rows that come of it.
class ForcedFits {
 public:
  /// As `GroupFitter`.
  using Fit =
      std::function<const GroupFits&(std::span<const FitComponent>, std::span<const FitGroup>,
                                     std::span<const Gaussian>, bool with_covariance)>;

  /// \param positions  all rows
  /// \param rows       those that lie on the image
  /// \param gaussians  these, of any height
  ForcedFits(std::span<const ForcedPosition> positions, const ForcedParams& params,
             std::span<const std::size_t> rows, std::span<const Gaussian> gaussians);

  /// `places`: the usable pixel nearest to each of `gaussians`.
  [[nodiscard]] FittedComponents run(std::span<const ForcedPlace> places, const Fit& fit);

 private:
  using Index = std::int32_t;
  /// One position that is measured.
  struct Source {
    std::size_t row;
    Gaussian given;   ///< where it is measured
    Gaussian fitted;  ///< the present result; its peak is 0 before the first
    ForcedPlace place;
  };
  struct Group {
    ForcedGroup members;
    FitOutcome outcome;
    double rms;
    std::vector<double> covariance;  ///< of the core
    std::uint32_t flags = 0;
    bool has_failed = false;
  };
  using Groups = std::vector<Group*>;

  void choose(std::span<const ForcedPlace> places);
  void make_groups();
  void fit_flux(const Groups& whole, const Groups& parts, bool is_last);
  void fit_free(const Groups& whole, const Groups& parts);
  void fit_alone();
  void fit_groups(const Groups& groups, FreeParameters free, bool with_covariance);
  [[nodiscard]] FitGroup add_to_call(const Group& group, FreeParameters free);
  [[nodiscard]] FitComponent component(const Source& of, FreeParameters free) const;
  void take(const Groups& groups, const GroupFits& fits, bool with_covariance);
  void write_rows();
  void write_row(const Group& group, std::size_t k, std::int64_t id, Component& row) const;
  void copy_repeated_rows();

  [[nodiscard]] Source& source(Index i) { return m_sources[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Source& source(Index i) const {
    return m_sources[static_cast<std::size_t>(i)];
  }

  const ForcedParams& m_params;
  std::span<const ForcedPosition> m_positions;
  std::span<const std::size_t> m_rows;
  std::span<const Gaussian> m_gaussians;
  const Fit* m_fit = nullptr;
  std::vector<Source> m_sources;
  std::vector<std::pair<std::size_t, std::size_t>> m_repeated;  ///< row, and the one it repeats
  std::vector<Group> m_groups;
  FittedComponents m_result;
  // Of a call of the kernels.
  std::vector<FitComponent> m_components;
  std::vector<FitGroup> m_call;
  std::vector<Gaussian> m_fixed;
};

}  // namespace kastor::detail

#endif
