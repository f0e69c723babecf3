// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/photon_noise.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kastor::io::detail {
namespace {

/// Adds independent variances to an error; an error that is not known stays so.
void add_variances(double& error, double a, double b = 0) {
  error = std::sqrt(error * error + std::max(a, 0.0) + std::max(b, 0.0));
}

double squared(double x) { return x * x; }

}  // namespace

void add_photon_noise(IslandErrors& errors, const Island& island, double flood, double beam_pixels,
                      double gain) {
  const double sum = island.flux_sum;
  const double peak = island.flux_peak;
  if (!(gain > 0) || !(sum > 0) || !(peak > 0)) return;
  add_variances(errors.peak_err, peak / gain);
  if (!(flood > 0) || !(peak > flood)) {
    add_variances(errors.sum_err, sum / gain);
    return;
  }
  Island at_flood = island;
  at_flood.rms = at_flood.rms_at_peak = std::sqrt(flood / gain);
  IslandErrors even = island_errors(at_flood, flood, {1, beam_pixels});
  // What is there without noise is already in the errors.
  at_flood.rms = at_flood.rms_at_peak = 0;
  const IslandErrors geometry = island_errors(at_flood, flood, {1, beam_pixels});
  even.centre_cov.xx -= geometry.centre_cov.xx;
  even.centre_cov.yy -= geometry.centre_cov.yy;
  even.centre_cov.xy -= geometry.centre_cov.xy;

  const auto pixels = static_cast<double>(island.n_pix);
  const double above = std::max(sum - pixels * flood, 0.0) / gain;
  const double at_peak = (peak - flood) / gain;
  const double q = flood / peak;
  const double lift = sum / (peak - flood) * q;
  const double of_total = (above + lift * (lift - 2) * at_peak) / ((1 - q) * (1 - q));
  add_variances(errors.sum_err, squared(even.sum_err) - squared(geometry.sum_err), above);
  add_variances(errors.total_err, squared(even.total_err) - squared(geometry.total_err), of_total);

  // A disc of N pixels has the moment N^2 / (4 pi) along each axis; stretched as the island is, it
  // takes a fraction of the island's second moments. The light above the threshold is not wider
  // than all of it, nor is its shape known where the island has none.
  const double det = island.var_xx * island.var_yy - island.var_xy * island.var_xy;
  const double disc = flood * pixels * pixels / (4 * std::numbers::pi);
  const bool has_shape = det > 0 && (island.flags & island_no_shape) == 0;
  const double left = has_shape ? std::max(sum - disc / std::sqrt(det), 0.0) / gain : above;
  const double scale = left / (sum * sum);
  errors.centre_cov.xx += even.centre_cov.xx + scale * island.var_xx;
  errors.centre_cov.yy += even.centre_cov.yy + scale * island.var_yy;
  errors.centre_cov.xy += even.centre_cov.xy + scale * island.var_xy;
}

}  // namespace kastor::io::detail
