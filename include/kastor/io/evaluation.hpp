// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_EVALUATION_HPP
#define KASTOR_IO_EVALUATION_HPP

#include <array>
#include <cstdint>
#include <functional>
#include <kastor/io/beam.hpp>
#include <kastor/io/table.hpp>
#include <kastor/io/wcs.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kastor::io {

/// A value and its central confidence interval of 68.27 % (one sigma of a normal distribution). All
/// NaN if there is nothing to estimate it from.
struct Estimate {
  double value = std::numeric_limits<double>::quiet_NaN();  ///< NaN if there is none
  double low = std::numeric_limits<double>::quiet_NaN();    ///< lower end of the interval
  double high = std::numeric_limits<double>::quiet_NaN();   ///< upper end of the interval
};

/// The share `found` / `all` with Wilson's score interval (J. Am. Stat. Assoc. 22, 209, 1927),
/// which stays within 0 and 1 and is not empty at these.
[[nodiscard]] Estimate binomial_estimate(std::int64_t found, std::int64_t all);

/// The mean of a Poisson distribution of which `count` events were seen [>= 0], with the exact
/// (Garwood) interval, of which Gehrels (ApJ 303, 336, 1986) has tables: 0 (+1.84), 5 (-2.16,
/// +3.38).
[[nodiscard]] Estimate poisson_estimate(std::int64_t count);

/// The S/N at which half of the sources are found.
struct HalfPoint {
  double snr = std::numeric_limits<double>::quiet_NaN();    ///< NaN if there is no such point
  double error = std::numeric_limits<double>::quiet_NaN();  ///< standard error; NaN if not known
};

/// Estimates the S/N at which half of the sources are found, from the true S/N of each and whether
/// it was found (1) or not (0). The best rising step function (isotonic regression) gives a first
/// value, where it passes one half. Within a factor of 1.7 of it a logistic function of ln S/N is
/// fitted by maximum likelihood, so that bright sources missed and faint ones met by chance do not
/// weigh; its middle and the standard error of that are the result. If no such fit exists, as when
/// all sources above some S/N are found and none below, the result is the first value, without an
/// error. None if fewer or more than half are found at every S/N.
/// \param snr    [> 0, finite]
/// \param found  as many as `snr`
[[nodiscard]] HalfPoint half_point(std::span<const double> snr, std::span<const int> found);

/// Noise as correlated as these correlation coefficients of pixels one step apart say.
struct NoiseCorrelation {
  double x = 0;     ///< of neighbours along x
  double y = 0;     ///< of neighbours along y
  double up = 0;    ///< of neighbours along the diagonal (+1, +1)
  double down = 0;  ///< of neighbours along the diagonal (+1, -1)
};
/// That of noise whose autocorrelation is a beam of this area: an elliptical Gaussian, here a
/// circular one.  \param beam_pixels  area of the beam, pi FWHM^2 / (4 ln 2) [pixel]  [> 0]
[[nodiscard]] NoiseCorrelation beam_correlation(double beam_pixels);

/// Expected number of 8-connected islands of Gaussian noise above `threshold` [sigma] for each
/// pixel of a large image: the Euler characteristic of the pixels above, islands minus holes, which
/// are rare. With P(...) for the probability that all of these pixels are above, it is P(one pixel)
/// - P(two neighbours), of 4 kinds, + P(three of a 2 x 2 square), of 4 kinds, - P(all four), from
/// the normal distribution of the square. So it counts what pixels see of the peaks of the noise.
/// For thresholds of 3 or more. NaN if the threshold is below 1 or the correlations fit no noise.
[[nodiscard]] double expected_islands_per_pixel(double threshold, const NoiseCorrelation& noise);

/// The same of a smooth random field without pixels, an upper limit: the density of the Euler
/// characteristic of its excursion set (Adler, The Geometry of Random Fields, 1981; Worsley et al.,
/// J. Cereb. Blood Flow Metab. 12, 900, 1992), sqrt(det L) (2 pi)^(-3/2) u exp(-u^2 / 2). L is the
/// covariance of the gradient of noise of unit variance: rho(h) = exp(-h L h / 2), so that L_xx =
/// -2 ln rho_x. If the autocorrelation is the beam, this is u exp(-u^2 / 2) / sqrt(2 pi) for each
/// beam area. NaN if the threshold is below 1 or a correlation is not within 0 and 1: white noise
/// is not smooth.
[[nodiscard]] double smooth_islands_per_pixel(double threshold, const NoiseCorrelation& noise);

/// The image in which sources were looked for.
struct EvaluatedImage {
  std::int64_t ny = 0;  ///< rows [pixel]
  std::int64_t nx = 0;  ///< columns [pixel]
  /// Fills the nx values of row y; NaN where no source can be found: blank, masked.
  std::function<void(std::int64_t y, std::span<double> values)> row;
  const Wcs* wcs = nullptr;  ///< null if it has no celestial coordinates
  std::optional<Beam> beam;  ///< none if not known
  std::string unit;          ///< BUNIT; may be empty
};

/// The true sources in an image, ready for `evaluate()`.
class Truth {
 public:
  /// Reads a table of true sources: as `kastor simulate sky` writes it, or any other that
  /// `read_source_list()` reads, with a column snr or with flux_peak and rms. Positions on the sky
  /// are converted to pixels of the image. Fluxes without a unit are in Jy and Jy/beam if the unit
  /// of the image is per beam, else in that unit;
  /// sizes without a unit in pixels.
  /// \param image    what it refers to must outlive this
  /// \param min_snr  sources below this true S/N are left out
  /// \throws kastor::Error `FILE: what was found; what was expected`
  Truth(const std::string& path, const EvaluatedImage& image, double min_snr = 0);
  ~Truth();
  Truth(Truth&&) noexcept;
  Truth& operator=(Truth&&) noexcept;

  struct State;
  [[nodiscard]] const State& state() const { return *m_state; }

 private:
  std::unique_ptr<State> m_state;
};

/// A catalogue to evaluate: a file, or a table that is not written.
struct EvaluatedCatalogue {
  std::string name;              ///< the file; of a table, what messages call it
  const Table* table = nullptr;  ///< null: read the file
  /// Whether the inverted image was searched too, as by `IslandParams::negative`, even if no row is
  /// negative.
  bool with_negative = false;
};

/// Parameters of `evaluate()`.
struct EvaluationParams {
  /// Matching radius [pixel]  [> 0]. If not given: half the median size (FWHM) of the true sources,
  /// else half the beam, else 3 pixels.
  std::optional<double> radius;
  std::optional<double> radius_arcsec;  ///< the same on the sky [arcsec], in place of `radius`
  double pool_low = 10;   ///< measures are pooled over sources of true S/N from here [>= 0]
  double pool_high = 50;  ///< to below here [> pool_low]
  /// Limits of the bins of S/N, ascending [>= 0]; the last bin has no upper limit.
  std::vector<double> bins = {0, 2, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 10, 15, 20, 30, 50, 100};
  /// Threshold [sigma] by which the catalogue was made, for the false ones expected of noise.
  std::optional<double> threshold;
};

/// Sources in [low, high) of S/N, and how many of them have a partner.
struct ShareBin {
  double low = 0;            ///< lower limit of S/N
  double high = 0;           ///< upper limit; infinite for the last bin
  std::int64_t all = 0;      ///< sources
  std::int64_t matched = 0;  ///< those with a partner
  Estimate share;            ///< matched / all
};

/// What mean deviation and scatter a sample has; with standard errors, of a normal distribution.
struct Spread {
  std::int64_t count = 0;                                        ///< number of values
  double median = std::numeric_limits<double>::quiet_NaN();      ///< NaN without values
  double median_err = std::numeric_limits<double>::quiet_NaN();  ///< 1.2533 sigma / sqrt(n)
  double mean = std::numeric_limits<double>::quiet_NaN();        ///< NaN without values
  double mean_err = std::numeric_limits<double>::quiet_NaN();    ///< std / sqrt(n)
  /// 1.4826 times the median absolute deviation from the median.
  double sigma = std::numeric_limits<double>::quiet_NaN();
  double sigma_err = std::numeric_limits<double>::quiet_NaN();  ///< 1.1664 sigma / sqrt(n)
  double std = std::numeric_limits<double>::quiet_NaN();        ///< with n - 1; NaN below 2 values
  double std_err = std::numeric_limits<double>::quiet_NaN();    ///< std / sqrt(2 (n - 1))
};

/// What is measured of a source, and compared with the truth.
enum class MeasuredQuantity { flux_int, flux_iso, flux_peak, x, y, major, minor };
inline constexpr std::size_t k_measured_quantities = 7;
/// The name of a quantity: "flux_int", ...
[[nodiscard]] const char* name_of(MeasuredQuantity quantity);

/// One measure of matched isolated sources in [low, high) of true S/N.
struct MeasureBin {
  double low = 0;    ///< lower limit of true S/N
  double high = 0;   ///< upper limit; infinite for the last bin
  Spread deviation;  ///< measured / true - 1; for x and y measured - true [pixel]
  Spread pull;       ///< (measured - true) / error
};

/// How well one quantity is measured.
struct Measure {
  MeasuredQuantity quantity = MeasuredQuantity::flux_int;  ///< what is measured
  std::string column;            ///< of the catalogue; empty if there is none
  std::string error_column;      ///< of its error; empty if there is none
  std::string unit;              ///< of the deviation's base after conversion; may be empty
  std::string trouble;           ///< why there is no comparison; empty if there is one
  MeasureBin pooled;             ///< over the range of true S/N of the parameters
  std::vector<MeasureBin> bins;  ///< those with pairs
};

/// False detections: rows without a partner, away from all true sources.
struct FalseDetections {
  std::int64_t count = 0;  ///< in the clear area
  Estimate per_million;    ///< for each 10^6 beams of clear area; NaN if the beam is not known
};

/// A pair of a true source and a row of the catalogue.
struct EvaluatedPair {
  std::size_t truth;                                   ///< row of the truth, from 0
  std::size_t row;                                     ///< row of the catalogue, from 0
  double separation;                                   ///< [pixel]
  bool isolated;                                       ///< whether the true source is isolated
  double true_snr;                                     ///< S/N of the true source
  std::array<double, k_measured_quantities> truths;    ///< true values; NaN if there is none
  std::array<double, k_measured_quantities> measured;  ///< in their units; NaN if there is none
  std::array<double, k_measured_quantities> errors;    ///< NaN if there is none
};

/// The result of `evaluate()`.
struct Evaluation {
  // The true sources.
  std::int64_t truth_rows = 0;      ///< rows of the truth
  std::int64_t truth_left_out = 0;  ///< without a position or below the limit of S/N
  std::int64_t truth_outside = 0;   ///< their pixel is not in the image, or not usable
  std::int64_t truth_used = 0;      ///< all others
  std::int64_t truth_isolated = 0;  ///< of these; see `evaluate()`

  // The catalogue.
  std::int64_t rows = 0;              ///< rows of the catalogue
  std::int64_t without_position = 0;  ///< rows without a position
  std::int64_t negative = 0;          ///< rows of negative islands, which are those of the inverse
  std::int64_t rows_outside = 0;      ///< in no usable pixel, nor partners of true ones in one
  std::int64_t positive = 0;          ///< all others
  std::int64_t matched = 0;           ///< of these, with a partner
  std::int64_t fragments = 0;         ///< without a partner, near a true source
  std::int64_t false_rows = 0;        ///< without a partner, away from all true sources

  // The image.
  double beam_pixels = std::numeric_limits<double>::quiet_NaN();  ///< area of the beam [pixel]
  std::string beam_from;           ///< "beam", "median size of the truth"; empty without beam
  std::int64_t usable_pixels = 0;  ///< pixels in which a source can be found
  std::int64_t clear_pixels = 0;   ///< usable pixels away from all true sources
  double radius = 0;               ///< matching radius [pixel]
  std::string radius_from;         ///< "given", "half the median size of the truth", ...

  // Found, true, false.
  Estimate completeness;                    ///< of isolated sources
  std::int64_t found_isolated = 0;          ///< isolated sources with a partner
  std::int64_t found_all = 0;               ///< used sources with a partner
  HalfPoint half;                           ///< of isolated sources
  std::vector<ShareBin> completeness_bins;  ///< of isolated sources, by true S/N; those with any
  Estimate reliability;                     ///< matched / positive
  std::string reliability_by;               ///< what the S/N of a row is; empty if it has none
  std::vector<ShareBin> reliability_bins;   ///< by S/N of the catalogue; those with any
  FalseDetections false_detections;         ///< in the catalogue
  std::optional<FalseDetections> inverted;  ///< in the inverted image, if it was searched
  std::int64_t inverted_near = 0;           ///< rows of the inverse near true sources
  NoiseCorrelation noise;                   ///< of the pixels in the clear area; NaN without any
  /// Expected number of false ones in the clear area, if the noise is as correlated as its pixels
  /// show; NaN without a threshold.
  double expected_false = std::numeric_limits<double>::quiet_NaN();
  double expected_smooth = std::numeric_limits<double>::quiet_NaN();  ///< without pixels
  double expected_beam = std::numeric_limits<double>::quiet_NaN();    ///< if the beam correlates it

  std::array<Measure, k_measured_quantities> measures;  ///< in the order of `MeasuredQuantity`
  std::vector<EvaluatedPair> pairs;                     ///< in the order of the truth
  std::vector<std::string> notes;                       ///< one sentence each
};

/// Tests a catalogue against the truth, in pixels of the image.
///
/// Rows and true sources are paired by `cross_match()`. A true source is isolated if no other, of
/// whatever brightness, is closer than twice the larger of the beam and both sizes (FWHM), if it is
/// in no group, and if the square of two sizes around it is within the usable pixels; completeness
/// and measures are those of isolated sources. Near a true source means within the radius at which
/// its profile falls to the noise, at least its size, the beam and the matching radius; all other
/// usable pixels are clear, and only rows there are false detections. Rows with a negative flux
/// count as those of the inverted image. Rows in no usable pixel are left out, but for partners of
/// usable true sources.
///
/// Columns are known by the names that Kastor, PyBDSF, Aegean, SExtractor, SEP and photutils give
/// them. A sum of pixels is converted to a flux density by the area of the beam. Fluxes of
/// different kinds of units, or of a known and an unknown one, are not compared. The same input
/// always gives the same result. \param inverted  the catalogue of the inverted image; null if
/// there is none \throws kastor::Error if a file cannot be used or a parameter is out of its range
[[nodiscard]] Evaluation evaluate(const Truth& truth, const EvaluatedCatalogue& catalogue,
                                  const EvaluatedCatalogue* inverted = nullptr,
                                  const EvaluationParams& params = {});

/// The pairs as a table to be written.
[[nodiscard]] Table pairs_table(const Evaluation& evaluation);

}  // namespace kastor::io

#endif
