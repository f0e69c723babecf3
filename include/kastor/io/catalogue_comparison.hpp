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

/// Which rows of a catalogue take part. NaN is below every limit.
struct Selection {
  /// Lower limit of the peak flux, else of the integrated flux, else of the sum.
  std::optional<double> min_flux;
  std::optional<double> min_snr;  ///< lower limit of the peak over the noise
};

/// Parameters of `compare_catalogues()`.
struct ComparisonParams {
  /// If not given: the sky if both catalogues have positions on it, else pixels.
  std::optional<MatchFrame> frame;
  /// Matching radius [arcsec, or pixel]  [> 0]. If not given: half the median size (FWHM) of the
  /// sources in the first catalogue, else in the second, else 5 arcsec or 3 pixels.
  std::optional<double> radius;
  std::array<Selection, 2> select;  ///< of the first and of the second catalogue
};

/// Where the radius comes from.
enum class RadiusFrom { given, sizes_of_first, sizes_of_second, standard };

/// A source of the first catalogue and its partner in the second.
struct Match {
  std::size_t first;   ///< index into `SourceList::sources` of the first catalogue
  std::size_t second;  ///< index into `SourceList::sources` of the second catalogue
  double separation;   ///< [arcsec, or pixel]
  double d_first;      ///< offset, second minus first: to the east (RA cos Dec), or in x
  double d_second;     ///< offset, second minus first: to the north (Dec), or in y
};

/// The sources of one catalogue with S/N or flux in [low, high), and those of them with a partner.
struct MatchBin {
  double low;                ///< [S/N, or unit of the flux]
  double high;               ///< [S/N, or unit of the flux]
  std::int64_t sources = 0;  ///< in the bin
  std::int64_t matched = 0;  ///< sources in the bin that have a partner
};

/// One catalogue's side of the comparison.
struct ComparedSide {
  std::int64_t rows = 0;              ///< rows of the file
  std::int64_t without_position = 0;  ///< rows without a position in this frame
  std::int64_t selected = 0;          ///< rows with a position that the selection keeps
  /// Fraction of the selected rows that have a partner: for the first catalogue the completeness,
  /// for the second the reliability of the tested catalogue. NaN if no row is selected.
  double matched_share = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::size_t> unmatched;  ///< indices into `SourceList::sources`, the brightest first
  std::optional<SourceQuantity> binned_by;  ///< snr, else a flux; none if there is neither
  std::vector<MatchBin> bins;               ///< ascending, limits 1, 2, 5, 10, ...
};

/// Ratio of one kind of flux between partners.
struct FluxRatio {
  SourceQuantity quantity;  ///< which flux
  /// Second over first. Its count is 0 if no pair has both, or if the units are of different kinds.
  RobustSpread ratio;
  std::string trouble;  ///< why there is no ratio; empty if there is one
};

/// The result of `compare_catalogues()`.
struct Comparison {
  MatchFrame frame = MatchFrame::sky;          ///< where positions were compared
  double radius = 0;                           ///< [arcsec, or pixel]
  RadiusFrom radius_from = RadiusFrom::given;  ///< where the radius comes from
  std::array<ComparedSide, 2> sides;           ///< the first catalogue and the second
  std::vector<Match> matches;                  ///< in the order of the first catalogue
  RobustSpread d_first;                        ///< spread of `Match::d_first`
  RobustSpread d_second;                       ///< spread of `Match::d_second`
  RobustSpread separation;                     ///< spread of `Match::separation`
  std::array<FluxRatio, 3> flux_ratios;        ///< peak, integrated, sum
};

/// Cross-matches two catalogues, the first of which is the reference and the second is tested, and
/// summarises how they differ. Selected rows that have a position in the frame are paired by
/// `cross_match()`.
///
/// An offset on the sky is the separation times the direction at the first source, so there is no
/// seam at 0h, and it is right at the poles. Medians and spreads are those of `robust_spread()`.
/// The unmatched sources are sorted by peak flux, else by integrated flux, sum or S/N; ties and
/// sources without a value keep the order of the rows. The same two lists always give the same
/// result.
///
/// \throws kastor::Error if the two have no positions of the same kind, if only one has positions
/// of B1950 (FK4), if they lack what the frame or the selection asks for, or if the radius is not >
/// 0
[[nodiscard]] Comparison compare_catalogues(const SourceList& first, const SourceList& second,
                                            const ComparisonParams& params = {});

/// The matched pairs as a table to be written: rows (from 0) and ids in both catalogues, positions,
/// separation, offsets, fluxes and S/N, as far as they exist.
[[nodiscard]] Table matches_table(const SourceList& first, const SourceList& second,
                                  const Comparison& comparison);

}  // namespace kastor::io

#endif
