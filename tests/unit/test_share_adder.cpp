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

/// Those with all their runs in a share are its worker's alone, and no others.
template <class Exec>
void own_components_are_found(const ts::HostMask& mask, std::int64_t workers,
                              const std::string& what) {
  const Exec space;
  const auto labels = kastor::label(space, ts::to_device_mask<Exec>(mask));
  std::vector<Sums> sums(static_cast<std::size_t>(labels.components));
  kd::RunsOfBands<float, Exec> band{};
  band.runs = kd::runs_of(labels, nullptr, labels.components);
  band.workers = workers;
  band.past_word = labels.mask.ny * labels.mask.words_per_row();
  band.adder = {workers == 1};
  std::vector<kd::ShareAdder<Sums, Exec>> adders;
  for (std::int64_t worker = 0; worker < workers; ++worker)
    adders.emplace_back(band, worker, sums.data()).find_shared();
  for (std::int64_t worker = 0; worker < workers; ++worker) {
    const auto share = band.loop(worker);
    std::vector<bool> is_here(sums.size() + 1), is_elsewhere(sums.size() + 1);
    for (std::int64_t run = 0; run < labels.runs; ++run) {
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

template <class Exec>
class ShareAdderOn : public ::testing::Test {};
TYPED_TEST_SUITE(ShareAdderOn, ts::Execs, ts::CaseName);

TYPED_TEST(ShareAdderOn, NeedsNoLockForComponentsOfOneShare) {
  using Exec = TypeParam;
  if constexpr (kastor::is_host_space_v<Exec>) {
    for (const std::int64_t workers : {1, 2, 3, 8, 40}) {
      for (const double density : {0.02, 0.2, 0.4, 0.6, 0.95})
        own_components_are_found<Exec>(ts::random_mask(60, 90, density, 5), workers, "random");
      for (const auto& torture : ts::torture_masks(40, 70))
        own_components_are_found<Exec>(torture.mask, workers, torture.name);
    }
  }
}

}  // namespace
