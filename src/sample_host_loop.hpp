// SPDX-License-Identifier: Apache-2.0
// Included for each level by loops_at_levels.hpp. The compiler makes the vectors.

/// See near_bins_on_host.
template <class T>
[[KASTOR_TARGET]] void near_bins(const NearBins& near, const T* pixels, int n, std::int32_t* bins) {
  const double centre = near.centre, per_unit = near.per_unit;
  const auto fine = static_cast<double>(near.fine);
  const std::int32_t side = near.side;
  constexpr double reach = NearBins::reach;
  for (int k = 0; k < n; ++k) {
    const double t = (static_cast<double>(pixels[k]) - centre) * per_unit;
    const double distance = t < 0 ? -t : t;
    const double inner = distance < 1 ? distance : 1;
    const double all = distance < reach ? distance : reach;
    const double outer = (all > 1 ? all : 1) - 1;
    const std::int32_t i =
        static_cast<std::int32_t>(inner * fine) + static_cast<std::int32_t>(outer * 64);
    bins[k] = t < 0 ? side - 1 - i : side + i;
  }
}
