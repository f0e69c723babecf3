// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIMULATE_ADD_SOURCES_HPP
#define KASTOR_SIMULATE_ADD_SOURCES_HPP

#include <vector>

#include "core/launch.hpp"
#include "core/upload.hpp"
#include "core/writable_rows.hpp"
#include "simulate/stamps.hpp"

namespace kastor::detail {

/// Adds the sources that cross one row, in the order of their list.
template <class T>
struct AddSources {
  const Stamp* stamps;
  const std::int64_t* first_of_row;
  const std::int64_t* sources_of_row;
  const double* profiles;
  std::int64_t first_row;
  core::WritableRows<T> image;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = first_row + i;
    T* row = image.data + i * image.pitch;
    for (std::int64_t k = first_of_row[i]; k < first_of_row[i + 1]; ++k) {
      const Stamp& s = stamps[sources_of_row[k]];
      if (s.kind != Stamp::Kind::separable) {
        for (std::int64_t x = s.x_min; x <= s.x_max; ++x)
          row[x] = static_cast<T>(static_cast<double>(row[x]) + s(profiles, x, y));
        continue;
      }
      const double height = profiles[s.y_profile + y - s.y_min];
      const double* profile = profiles + s.x_profile;
      for (std::int64_t x = s.x_min; x <= s.x_max; ++x)
        row[x] = static_cast<T>(static_cast<double>(row[x]) + height * profile[x - s.x_min]);
    }
  }
};

template <class Exec, class T>
void add_sources(const Exec& space, const SkyParams& params, const std::vector<TrueSource>& truth,
                 std::int64_t first_row, const core::WritableRows<T>& image) {
  const Stamps host = make_stamps(params, truth, first_row, image.ny);
  const auto stamps = core::upload(space, "kastor::simulate::stamps", host.stamps);
  const auto first_of_row =
      core::upload(space, "kastor::simulate::first_of_row", host.first_of_row);
  const auto sources_of_row =
      core::upload(space, "kastor::simulate::sources_of_row", host.sources_of_row);
  const auto profiles = core::upload(space, "kastor::simulate::profiles", host.profiles);
  core::for_each("kastor::simulate::add_sources", space, image.ny,
                 AddSources<T>{stamps.data(), first_of_row.data(), sources_of_row.data(),
                               profiles.data(), first_row, image});
  space.fence("kastor::simulate::sources");
}

}  // namespace kastor::detail

#endif
