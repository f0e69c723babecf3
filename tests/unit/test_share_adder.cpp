// SPDX-License-Identifier: Apache-2.0

// Which components a host's worker adds to without a lock.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/measured_runs.hpp>
#include <kastor/detail/share_adder.hpp>
#include <kastor/label.hpp>
#include <string>
#include <vector>

#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

struct Sums {
  std::uint32_t is_shared = 0;
};

/// Of some rows, those with all their runs in a share are its worker's alone, and no others.
template <class Exec>
void own_components_are_found(const ts::HostMask& mask, std::int64_t workers,
                              const kastor::LabelParams& params, std::int64_t first_row,
                              std::int64_t past_row, const std::string& what) {
  const Exec space;
  kastor::Labeller<Exec> labeller(space, params);
  const auto& labels = labeller(ts::to_device_mask<Exec>(mask));
  std::vector<Sums> sums(static_cast<std::size_t>(labels.components));
  kd::RunsOfBands<float, Exec> band{};
  band.runs = kd::runs_of(labels, nullptr, labels.components);
  band.workers = workers;
  band.first_word = first_row * labels.mask.words_per_row();
  band.past_word = past_row * labels.mask.words_per_row();
  band.adder = {workers == 1 && first_row == 0};
  std::vector<kd::ShareAdder<Sums, Exec>> adders;
  for (std::int64_t worker = 0; worker < workers; ++worker)
    adders.emplace_back(band, worker, sums.data()).find_shared();
  for (std::int64_t worker = 0; worker < workers; ++worker) {
    const auto share = band.loop(worker);
    std::vector<bool> is_here(sums.size() + 1), is_elsewhere(sums.size() + 1);
    for (std::int64_t run = 0; run < band.loop(workers - 1).past; ++run) {
      const bool here = run >= share.first && run < share.past;
      (here ? is_here : is_elsewhere)[labels.label(run)] = true;
    }
    for (std::uint32_t label = 1; label <= sums.size(); ++label) {
      if (!is_here[label]) continue;
      EXPECT_EQ(adders[static_cast<std::size_t>(worker)].of(label).alone, !is_elsewhere[label])
          << what << ", worker " << worker << " of " << workers << ", label " << label;
    }
  }
}

std::vector<ts::NamedMask> some_masks() {
  std::vector<ts::NamedMask> masks = ts::torture_masks(40, 70);
  for (const double density : {0.02, 0.2, 0.4, 0.6, 0.95})
    masks.push_back({"random " + std::to_string(density), ts::random_mask(60, 90, density, 5)});
  masks.push_back({"two rows", ts::random_mask(3, 900, 0.4, 6)});
  // Runs of a row that only the next one joins, which may be of other bands.
  ts::HostMask comb(3, 90, 1);
  for (std::int64_t x = 1; x < 90; x += 2) comb.values[static_cast<std::size_t>(x)] = 0;
  masks.push_back({"comb", comb});
  return masks;
}

template <class Exec>
class ShareAdderOn : public ::testing::Test {};
TYPED_TEST_SUITE(ShareAdderOn, ts::Execs, ts::CaseName);

TYPED_TEST(ShareAdderOn, NeedsNoLockForComponentsOfOneShare) {
  using Exec = TypeParam;
  if constexpr (kastor::is_host_space_v<Exec>) {
    for (const auto connectivity : {kastor::Connectivity::four, kastor::Connectivity::eight}) {
      for (const std::int64_t min_pixels : {1, 3}) {
        const kastor::LabelParams params{connectivity, min_pixels};
        for (const std::int64_t workers : {1, 2, 3, 8, 40}) {
          for (const auto& [name, mask] : some_masks()) {
            own_components_are_found<Exec>(mask, workers, params, 0, mask.ny, name);
            own_components_are_found<Exec>(mask, workers, params, mask.ny / 3, mask.ny - 1,
                                           name + ", some rows");
            own_components_are_found<Exec>(mask, workers, params, 0, 1, name + ", the first row");
          }
        }
      }
    }
  }
}

}  // namespace
