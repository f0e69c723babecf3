// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_CATALOGUE_COMPARISON_HPP
#define KASTOR_IO_CATALOGUE_COMPARISON_HPP

#include <array>
#include <cstdint>
#include <kastor/io/robust.hpp>
#include <kastor/io/source_list.hpp>
#include <kastor/io/table.hpp>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace kastor::io {

/// Where positions are compared.
enum class MatchFrame { sky, pixels };

/// Which rows of a catalogue take part; NaN is below every limit.
struct Selection {
  std::optional<double> min_flux;  ///< of the peak, else the integrated flux, else the sum
  std::optional<double> min_snr;   ///< peak over noise
};

/// How two catalogues are compared.
struct ComparisonParams {
  /// If not given: on the sky if both catalogues have such positions, else in pixels.
  std::optional<MatchFrame> frame;
  /// [arcsec, or pixel]  [> 0]. If not given: half the median size (FWHM) of the sources of the
  /// first catalogue, else of the second, else 5 arcsec or 3 pixels.
  std::optional<double> radius;
  std::array<Selection, 2> select;  ///< of the first and of the second catalogue
};

/// How the radius came about.
enum class RadiusFrom { given, sizes_of_first, sizes_of_second, standard };

/// A source of the first catalogue and its partner in the second.
struct Match {
  std::size_t first;   ///< index into `SourceList::sources` of the first catalogue
  std::size_t second;  ///< likewise of the second
  double separation;   ///< [arcsec, or pixel]
  double d_first;      ///< second minus first: to the east (RA cos Dec), or in x
  double d_second;     ///< to the north (Dec), or in y
};

/// Sources of one catalogue within [low, high) of S/N or flux, and those of them with a partner.
struct MatchBin {
  double low;                ///< [S/N, or unit of the flux]
  double high;               ///< likewise
  std::int64_t sources = 0;  ///< in the bin
  std::int64_t matched = 0;  ///< of these, with a partner
};

/// One catalogue's side of the comparison.
struct ComparedSide {
  std::int64_t rows = 0;              ///< of the file
  std::int64_t without_position = 0;  ///< of these, in this frame
  std::int64_t selected = 0;          ///< rows with a position that the selection keeps
  /// Share of the selected ones that have a partner: of the first catalogue the completeness, of
  /// the second the reliability of what is tested. NaN if none is selected.
  double matched_share = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::size_t> unmatched;       ///< the brightest first
  std::optional<SourceQuantity> binned_by;  ///< snr, else a flux; none if there is neither
  std::vector<MatchBin> bins;               ///< ascending, limits 1, 2, 5, 10, ...
};

/// How one kind of flux differs between partners.
struct FluxRatio {
  SourceQuantity quantity;  ///< which flux
  /// Of second over first. Its count is 0 where no pair has both, or the units are of two kinds.
  RobustSpread ratio;
  std::string trouble;  ///< why there is none; empty if there is one
};

/// What `compare_catalogues()` finds.
struct Comparison {
  MatchFrame frame = MatchFrame::sky;          ///< where positions were compared
  double radius = 0;                           ///< [arcsec, or pixel]
  RadiusFrom radius_from = RadiusFrom::given;  ///< how it came about
  std::array<ComparedSide, 2> sides;           ///< the first catalogue and the second
  std::vector<Match> matches;                  ///< in the order of the first catalogue
  RobustSpread d_first;                        ///< of `Match::d_first`
  RobustSpread d_second;                       ///< of `Match::d_second`
  RobustSpread separation;                     ///< of `Match::separation`
  std::array<FluxRatio, 3> flux_ratios;        ///< peak, integrated, sum
};

/// Cross-matches two catalogues, the first being the reference and the second what is tested, and
/// sums up how they differ. The selected rows that have a position in the frame are paired by
/// `cross_match()`.
///
/// Offsets on the sky are the separation times the direction at the first source: no seam at 0h,
/// and right at the poles. Medians and spreads are `robust_spread()`. The unmatched are ordered by
/// peak flux, else integrated flux, sum or S/N; equal ones and those without by row. The same
/// result for the same two lists, always.
/// \throws kastor::Error if the two have no positions of the same kind, or lack what the frame or
///   the selection asks for
[[nodiscard]] Comparison compare_catalogues(const SourceList& first, const SourceList& second,
                                            const ComparisonParams& params = {});

/// The matched pairs as a table, to be written: rows (from 0) and ids in both catalogues,
/// positions, separation, offsets, fluxes and S/N, as far as there are any.
[[nodiscard]] Table matches_table(const SourceList& first, const SourceList& second,
                                  const Comparison& comparison);

}  // namespace kastor::io

#endif
