// SPDX-License-Identifier: Apache-2.0
#include "simulate/place_in_scene.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulate/profiles.hpp"

namespace kastor::detail {
namespace {

ProfileSums sums_of(const Scene& scene, const TrueSource& source) {
  const double minor = source.minor > 0 ? source.minor : source.fwhm;
  return profile_sums(source.shape, source.fwhm, minor, scene.params.beam_fwhm);
}

}  // namespace

double noise_at(const Scene& scene, double x, double y) {
  const Detector& detector = scene.params.detector;
  if (detector.gain <= 0) return scene.params.noise * scene.noise_factor(x, y);
  const double counts = std::max(0.0, scene.level(x, y)) * detector.gain;
  return std::sqrt(counts + detector.read_noise * detector.read_noise) / detector.gain;
}

double snr_of_unit_peak(const Scene& scene, const TrueSource& source) {
  return scene.params.detector.gain > 0 ? std::sqrt(sums_of(scene, source).square) : 1;
}

double flux_of_unit_peak(const Scene& scene, const TrueSource& source) {
  const double beam = scene.params.beam_fwhm;
  const double unit = scene.params.detector.gain > 0
                          ? 1
                          : profile_sums(SourceShape::gaussian, beam, beam, beam).area;
  return sums_of(scene, source).area / unit;
}

void place_in_scene(const Scene& scene, TrueSource& source) {
  const double seen = scene.attenuation(source.x, source.y);
  source.flux_peak *= seen;
  source.flux_int *= seen;
  if (source.minor <= 0) source.minor = source.fwhm;
  source.rms = noise_at(scene, source.x, source.y);
  const double height = source.flux_peak * snr_of_unit_peak(scene, source);
  source.snr = source.rms > 0 ? height / source.rms
                              : (height > 0 ? std::numeric_limits<double>::infinity() : 0);
}

}  // namespace kastor::detail
