// SPDX-License-Identifier: Apache-2.0

// The kernels of a device's clip, run by teams of a host's threads: the same bits as a host's clip.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/device_clip.hpp>
#include <kastor/detail/plan_memory.hpp>
#include <kastor/sigma_clip.hpp>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "emulated_team.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;
using HostExec = Kokkos::DefaultHostExecutionSpace;

/// How the clip divides its work, which must not matter.
struct Division {
  int teams;
  std::int32_t page_size;
  std::uint32_t most_alone;  ///< pixels of a group of bins that one team joins
  std::int64_t bands;
};

template <class T>
class EmulatedClip {
 public:
  EmulatedClip(const ts::HostImage<T>& image, const Division& division)
      : m_image(image),
        m_bands(division.bands),
        m_small("test::clip", HostExec{}),
        m_gathered(image.values.size() * static_cast<std::size_t>(division.teams)),
        m_sorted(image.values.size()),
        m_page_begins((image.values.size() / static_cast<std::size_t>(division.page_size) + 1) *
                      kd::SortedPages<T>::row),
        m_candidates(m_gathered.size()),
        m_mask(1000, ~std::uint64_t{0}) {
    const auto pixels = static_cast<std::int64_t>(image.values.size());
    kd::ClipParts<T> parts{};
    parts.lay_out(m_small, division.teams, true);
    m_clip =
        kd::DeviceClip<T>{parts,
                          division.teams,
                          {m_gathered.data(), pixels, m_candidates.data(), pixels, parts.segments},
                          {m_sorted.data(), m_page_begins.data(), parts.pages, division.page_size},
                          pixels,
                          {m_mask.data(), static_cast<std::int64_t>(m_mask.size())},
                          &m_outcome,
                          division.most_alone};
  }

  void run(const kd::ClipRequest& request) {
    m_clip.template enqueue<ts::EmulatedTeams>(
        ts::EmulatedLauncher{},
        [this](const auto& visit) {
          std::int64_t row = 0;
          for (std::int64_t b = 1; b <= m_bands; ++b) {
            const std::int64_t past = m_image.ny * b / m_bands;
            const T* const pixels = m_image.values.data() + row * m_image.nx;
            visit(
                kd::SampledRows<T>{{pixels, past - row, m_image.nx, m_image.nx}, row * m_image.nx});
            row = past;
          }
        },
        request);
  }

  [[nodiscard]] const kd::ClipOutcome<T>& outcome() const { return m_outcome; }
  [[nodiscard]] const std::vector<std::uint64_t>& mask() const { return m_mask; }
  /// Pixel and value of those above the level.
  [[nodiscard]] std::map<std::uint64_t, T> foreground() const {
    std::map<std::uint64_t, T> found;
    for (int team = 0; team < m_clip.teams; ++team) {
      for (std::int64_t i = 0; i < m_clip.lists.candidates_by(team); ++i) {
        const auto& candidate =
            m_candidates[static_cast<std::size_t>(team * m_clip.lists.candidate_capacity + i)];
        if (static_cast<double>(candidate.value) > m_outcome.level)
          found[candidate.pixel] = candidate.value;
      }
    }
    return found;
  }

 private:
  const ts::HostImage<T>& m_image;
  std::int64_t m_bands;
  kd::PartitionedMemory<HostExec> m_small;
  std::vector<T> m_gathered, m_sorted;
  std::vector<std::uint16_t> m_page_begins;
  std::vector<kd::Candidate<T>> m_candidates;
  std::vector<std::uint64_t> m_mask;
  kd::ClipOutcome<T> m_outcome{};
  kd::DeviceClip<T> m_clip{};
};

constexpr std::uint32_t all_alone = std::numeric_limits<std::uint32_t>::max();

template <class T>
void gives_the_bits_of_a_host(const ts::HostImage<T>& image, const Division& division,
                              const kastor::SigmaClipParams& params = {}) {
  using Exec = ts::FirstExec;
  EmulatedClip<T> device(image, division);
  kd::ClipLevel level;
  level.sigmas = 4;
  level.about_median = true;
  device.run({params.kappa, params.max_passes, 1.0, level});
  const kd::ClipOutcome<T>& outcome = device.outcome();
  ASSERT_EQ(outcome.decided, 1);
  kastor::SigmaClipResult got = outcome.result;
  got.route = kastor::ClipRoute::bracketed;
  const auto expected = kastor::sigma_clip(Exec{}, ts::to_device<Exec>(image), params);
  EXPECT_TRUE(ts::same_bits(got, expected));
  for (const std::uint64_t word : device.mask()) ASSERT_EQ(word, 0U);

  if (outcome.candidates_hold == 0) return;
  std::map<std::uint64_t, T> foreground;
  for (std::size_t i = 0; i < image.values.size(); ++i) {
    const T x = image.values[i];
    if (std::isfinite(x) && static_cast<double>(x) > outcome.level) foreground[i] = x;
  }
  EXPECT_EQ(device.foreground(), foreground);
}

template <class T>
void gives_the_bits_of_a_host(ts::Pixels kind, const Division& division) {
  gives_the_bits_of_a_host(ts::make_image<T>(kind, 190, 211, 7), division);
}

TEST(DeviceClip, JoinsGroupsAlone) {
  gives_the_bits_of_a_host<float>(ts::Pixels::contaminated, {3, 512, all_alone, 1});
}
TEST(DeviceClip, SharesHeavyGroupsAmongTeams) {
  gives_the_bits_of_a_host<float>(ts::Pixels::exponential, {5, 512, 16, 1});
}
TEST(DeviceClip, SharesWhatTeamsOfDoublesHave) {
  gives_the_bits_of_a_host<double>(ts::Pixels::contaminated, {8, 640, 40, 2});
}
TEST(DeviceClip, CountsSpikes) {
  gives_the_bits_of_a_host<double>(ts::Pixels::tenths, {3, 2048, all_alone, 3});
}

/// Many threads have no pixel of their own, and keep what others found.
TEST(DeviceClip, ReadsWhatIsMostlyBlank) {
  auto image = ts::make_image<double>(ts::Pixels::contaminated, 400, 411, 8);
  ts::Random random(9);
  for (double& pixel : image.values) {
    if (random.below(4) != 0) pixel = std::numeric_limits<double>::quiet_NaN();
  }
  gives_the_bits_of_a_host(image, {41, 512, all_alone, 1});
}

}  // namespace
