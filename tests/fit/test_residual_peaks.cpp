// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <kastor/island_finder.hpp>
#include <limits>
#include <vector>

#include "device.hpp"
#include "fit/band_list.hpp"
#include "fit/residual_peaks.hpp"
#include "generators.hpp"
#include "island_scenes.hpp"
#include "map_on.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace kd = kastor::detail;
namespace ts = testing_support;

template <class C>
class ResidualPeaks : public ::testing::Test {};
TYPED_TEST_SUITE(ResidualPeaks, ts::ExecsAndReals, ts::CaseName);

template <class Exec, class T>
std::vector<kd::ResidualPeak> peaks_on(const std::vector<kastor::ConstImage<T, Exec>>& bands,
                                       const kastor::Background<Exec, T>& background,
                                       const kastor::RunLabels<Exec>& labels, kd::Side side,
                                       const std::uint64_t* region,
                                       const std::vector<kd::ResidualTask>& tasks,
                                       const std::vector<kastor::Gaussian>& models) {
  kd::BandList<Exec, T> band_list;
  const auto rows = band_list(Exec(), bands);
  const auto tasks_there = ts::to_device_list<Exec>(tasks);
  const auto models_there = ts::to_device_list<Exec>(models);
  const ts::DeviceList<Exec, kd::ResidualPeak> peaks("test::peaks", tasks.size());
  using Find = kd::FindResidualPeaks<Exec, T>;
  ts::run_groups<Find::threads, Exec>(static_cast<std::int64_t>(tasks.size()), Find::scratch_bytes,
                                      Find{rows,
                                           background,
                                           labels,
                                           {region, labels.nx},
                                           side,
                                           tasks_there.data(),
                                           models_there.data(),
                                           peaks.data()});
  return ts::to_vector(peaks);
}

/// Both sides of a sky with blank pixels, every island with a model of one or more Gaussians.
TYPED_TEST(ResidualPeaks, AreTheHighestPixelsAboveTheModel) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  auto scene = ts::make_scene<T>(ts::Maps::images, 90, 130, 7);
  // Ties: the first in raster order counts.
  for (T& pixel : scene.image.values) {
    if (std::isfinite(pixel)) pixel = std::round(4 * pixel) / 4;
  }
  const ts::DeviceScene<Exec, T> device(scene);
  kastor::IslandParams params;
  params.seed = 2;
  params.flood = 0.5;
  params.negative = true;
  kastor::IslandFinder<Exec, T> find(Exec{}, params);
  const auto found = find(device.image, device.background);
  for (const bool is_below : {false, true}) {
    const auto& labels = is_below ? find.negative_labels() : find.labels();
    const auto host_labels = ts::to_host_labels<std::int32_t>(labels);
    ts::Random random(3);
    std::vector<kd::ResidualTask> tasks;
    std::vector<kastor::Gaussian> models;
    for (const kastor::Island& island : found.islands) {
      if (((island.flags & kastor::island_negative) != 0) != is_below) continue;
      const auto n = static_cast<std::int32_t>(random.below(4));
      tasks.push_back({island.x_min, island.x_max, island.y_min, island.y_max,
                       static_cast<std::uint32_t>(tasks.size() + 1), n,
                       static_cast<std::int64_t>(models.size())});
      for (std::int32_t i = 0; i < n; ++i)
        models.push_back(kastor::gaussian_of({4, 3, random.uniform()}, 3 * random.uniform(),
                                             island.x_peak + random.gaussian(),
                                             island.y_peak + random.gaussian()));
    }
    ASSERT_GT(tasks.size(), 5U);
    const kastor::ConstImage<T, Exec> image(device.image);
    const kd::Side side = is_below ? kd::Side::below : kd::Side::above;
    const auto got =
        peaks_on<Exec, T>({image}, device.background, labels, side, nullptr, tasks, models);
    const auto in_bands =
        peaks_on<Exec, T>(ts::split_into_bands<Exec, T>(image, 7), device.background, labels, side,
                          nullptr, tasks, models);
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      const kd::ResidualTask& task = tasks[k];
      double best = -std::numeric_limits<double>::infinity();
      std::int64_t at_y = 0;
      std::int64_t at_x = 0;
      for (std::int64_t y = 0; y < scene.image.ny; ++y) {
        for (std::int64_t x = 0; x < scene.image.nx; ++x) {
          if (host_labels(y, x) != task.label) continue;
          double value = static_cast<double>(scene.image(y, x)) - scene.background.level(y, x);
          if (is_below) value = -value;
          double model = 0;
          for (std::int64_t g = task.first; g < task.first + task.count; ++g) {
            const kastor::Gaussian& m = models[static_cast<std::size_t>(g)];
            const auto px = static_cast<double>(x);
            const auto py = static_cast<double>(y);
            const double q = m.s(px, py) * m.s(px, py) + m.z(py) * m.z(py);
            if (q < 60) model += m.peak * kastor::core::exp(-q / 2);
          }
          if (!(value - model > best)) continue;
          best = value - model;
          at_y = y;
          at_x = x;
        }
      }
      EXPECT_EQ(got[k].value, best);
      EXPECT_EQ(got[k].y, at_y);
      EXPECT_EQ(got[k].x, at_x);
      EXPECT_EQ(got[k].rms, scene.background.rms(at_y, at_x));
      EXPECT_EQ(in_bands[k].value, best);
      EXPECT_EQ(in_bands[k].x, at_x);
    }
  }
}

TYPED_TEST(ResidualPeaks, BlankPixelsAndThoseOutsideOfTheRegionAreNone) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::HostImage<T> image(6, 70, T(10));
  image(2, 65) = T(50);
  image(3, 66) = T(40);
  const auto device = ts::to_device<Exec>(image);
  const kastor::Background<Exec, T> background{kastor::PixelMap<Exec, T>(0.0),
                                               kastor::PixelMap<Exec, T>(2.0)};
  kastor::IslandFinder<Exec, T> find(Exec{});
  const auto found = find(device, background);
  ASSERT_EQ(found.islands.size(), 1U);
  const std::vector<kd::ResidualTask> tasks{{0, 69, 0, 5, 1, 0, 0}};
  const std::vector<kastor::Gaussian> none{{1, 0, 0, 1, 0, 1}};
  // The pixels that are now blank or masked were not when the island was found.
  auto holes = image;
  holes(2, 65) = std::numeric_limits<T>::quiet_NaN();
  const auto with_holes = ts::to_device<Exec>(holes);
  ts::HostMask region(6, 70, 1);
  region(3, 66) = 0;
  const auto mask = ts::to_device_mask<Exec>(region);
  const auto at = [&](const kastor::Image<T, Exec>& pixels, const std::uint64_t* words) {
    return peaks_on<Exec, T>({kastor::ConstImage<T, Exec>(pixels)}, background, find.labels(),
                             kd::Side::above, words, tasks, none)[0];
  };
  EXPECT_EQ(at(device, nullptr).value, 50);
  EXPECT_EQ(at(device, nullptr).rms, 2);
  EXPECT_EQ(at(with_holes, nullptr).value, 40);
  EXPECT_EQ(at(with_holes, nullptr).x, 66);
  EXPECT_EQ(at(with_holes, mask.words.data()).value, 10);
  EXPECT_EQ(at(with_holes, mask.words.data()).x, 0);
  for (T& pixel : holes.values) pixel = std::numeric_limits<T>::infinity();
  EXPECT_EQ(at(ts::to_device<Exec>(holes), nullptr).value,
            -std::numeric_limits<double>::infinity());
}

}  // namespace
