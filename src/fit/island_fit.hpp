// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_ISLAND_FIT_HPP
#define KASTOR_FIT_ISLAND_FIT_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <kastor/deblend.hpp>
#include <kastor/fit.hpp>
#include <kastor/gaussian.hpp>
#include <kastor/island.hpp>
#include <span>
#include <vector>

#include "fit/ellipse_algebra.hpp"
#include "fit/group_fitter.hpp"

/// What is known of islands while their components are fitted. All deviations are > 0 on the side
/// of the island.
namespace kastor::detail {

/// Components that are fitted together, at most.
inline constexpr int max_fit_group = 8;

/// `FitParams` as the steps need them.
struct FitRules {
  /// Of an island, this many peaks take part however little they are above their saddles ...
  static constexpr int few_peaks = 16;
  /// ... and all that are above it by this many times the noise.
  static constexpr double sure_prominence = 2;
  bool has_beam;
  bool is_shape_free;
  Gaussian beam;  ///< without a beam the narrowest shape of a guess, a circle of one pixel
  FitParams params;

  explicit FitRules(const FitParams& p);
};

enum class FitMode {
  as_asked,
  beam_shape,  ///< its fit failed; the shape is fixed
  estimate     ///< that failed, too; it is not fitted any more
};

/// A component of an island.
struct FitPart {
  Gaussian at_peak;  ///< the guess if there are others: at the pixel of its peak
  Gaussian now;      ///< last result, at first the guess
  FitComponent fit;  ///< where a fit begins, and its bounds
  double rms;        ///< noise at the pixel of its peak [image unit]
  FitMode mode = FitMode::as_asked;
  bool is_dropped = false;
  std::uint32_t flags = 0;  ///< bits of `ComponentFlag`
};

/// Parts of an island that are fitted together, and what came of it.
struct FitSet {
  std::array<std::int32_t, max_fit_group> members = {};
  int count = 0;
  bool is_split = false;  ///< there are others that it should be fitted with
  FitOutcome outcome = {FitStatus::failed, 0, 0, 1, 0, 0};
  std::vector<double> covariance;  ///< as of `GroupFits`

  [[nodiscard]] std::span<const std::int32_t> parts() const {
    return {members.data(), static_cast<std::size_t>(count)};
  }
  void add(std::int32_t part) {
    members[static_cast<std::size_t>(count)] = part;
    ++count;
  }
  /// Peak of its member i, divided by the error.
  [[nodiscard]] double significance(const std::vector<FitPart>& of_island, int i) const;
};

/// An island with its components.
struct IslandFit {
  Island island;
  std::uint32_t label;  ///< of its pixels
  double peak;          ///< its highest deviation [image unit]
  Gaussian alone;       ///< the guess if there is only one component: its moments
  std::vector<FitPart> parts;
  std::vector<FitSet> sets;  ///< of the parts that are not dropped; may be empty
  std::uint32_t flags;       ///< of all components: bits of `ComponentFlag`

  /// The number of parts that are not dropped.
  [[nodiscard]] int count() const;
  /// Whether a set is not fitted.
  [[nodiscard]] bool is_estimate(const FitSet& set) const;
  [[nodiscard]] bool has_split() const;
  [[nodiscard]] FitPart& part(std::int32_t i) { return parts[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const FitPart& part(std::int32_t i) const {
    return parts[static_cast<std::size_t>(i)];
  }
};

/// Makes the parts of an island from its peaks, which are in the order of `IslandPeaks`.
void begin_island(const Island& island, std::uint32_t label, std::span<const IslandPeak> peaks,
                  const FitRules& rules, IslandFit& fit);
/// A part at a pixel, with this deviation there.
[[nodiscard]] FitPart part_at(const Gaussian& shape, double x, double y, double deviation,
                              double rms);
/// The shape of a point: the beam's; without one the narrowest of the island's parts.
[[nodiscard]] Gaussian point_shape_of(const IslandFit& fit, const FitRules& rules);
/// Where the fit of a part begins, which is also its estimate.
[[nodiscard]] Gaussian guess_of(const IslandFit& fit, const FitPart& part, const FitRules& rules);
/// 6 or 3, as of `FitComponent`.
[[nodiscard]] std::int32_t free_parameters_of(const FitPart& part, const FitRules& rules);
/// Sets a part back to its guess, with the bounds of its fit.
void begin_part(const IslandFit& fit, const FitRules& rules, FitPart& part);

}  // namespace kastor::detail

#endif
