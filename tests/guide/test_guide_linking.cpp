// SPDX-License-Identifier: Apache-2.0

// The examples of docs/linking.md.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
// example-begin version
#include <kastor/kastor.hpp>
#if KASTOR_VERSION < 100  // 0.1.0
#error "this code needs Kastor 0.1"
#endif
// example-end version
#include <stdexcept>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "mpi_stand_in.hpp"
#include "recorded_events.hpp"

namespace {

namespace ts = testing_support;

// example-begin types
using Exec = Kokkos::DefaultExecutionSpace;
using Field = Kokkos::View<float**, Kokkos::LayoutRight>;  // (y, x), x fastest
// example-end types

Field noisy_field(std::int64_t ny, std::int64_t nx, std::uint64_t seed = 5) {
  return ts::to_device<Exec>(ts::make_image<float>(ts::Pixels::contaminated, ny, nx, seed));
}

Exec own_stream() { return Kokkos::Experimental::partition_space(Exec(), 1)[0]; }

// ----------------------------------------------------------------------------- your own stream

TEST(GuideLinking, LabelsAViewOnAStream) {
  const Field field = noisy_field(120, 150);
  // example-begin own-stream
  const Exec stream = Kokkos::Experimental::partition_space(Exec(), 1)[0];
  const kastor::BitMask<Exec> mask = kastor::threshold(stream, field, 0.05);
  const kastor::RunLabels<Exec> labels = kastor::label(stream, mask);
  const Kokkos::View<std::int32_t**, Kokkos::LayoutRight> image(
      Kokkos::view_alloc(stream, Kokkos::WithoutInitializing, "labels"), field.extent(0),
      field.extent(1));
  kastor::write_labels(stream, labels, image);  // enqueued: 0 is background, then 1, 2, ...
  // example-end own-stream
  stream.fence("test::labels");

  const auto naive = ts::label_naive(ts::threshold_naive(ts::to_host_grid(field), 0.05),
                                     kastor::Connectivity::four);
  const auto found = ts::to_host_grid(image).values;
  ASSERT_GT(labels.components, 1);
  EXPECT_EQ(labels.components, naive.components);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), naive.image.values.begin()));
}

// ------------------------------------------------------------------------------- the time loop

struct Advance {  // any work of the user's: here the field drifts
  Field field;
  float by;
  KOKKOS_FUNCTION void operator()(std::int64_t y, std::int64_t x) const { field(y, x) += by; }
};

void advance(const Exec& stream, const Field& field, float by) {
  using Policy = Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>, Kokkos::IndexType<std::int64_t>>;
  const auto ny = static_cast<std::int64_t>(field.extent(0));
  const auto nx = static_cast<std::int64_t>(field.extent(1));
  Kokkos::parallel_for("advance", Policy(stream, {0, 0}, {ny, nx}), Advance{field, by});
}

TEST(GuideLinking, ATimeLoopAllocatesNothing) {
  const Exec stream = own_stream();
  const Field field = noisy_field(300, 401);
  const Field smooth("smooth", 300, 401);
  const int steps = 5;
  std::vector<int> allocated;
  const ts::Recorder recorder;
  std::vector<double> medians;
  const auto record = [&](const kastor::SigmaClipResult& sky) {
    medians.push_back(sky.clipped.median);
    allocated.push_back(ts::count_of(recorder.events(), ts::What::allocation));
  };

  // example-begin time-loop
  kastor::SigmaClipper<Exec, float> clip(stream);
  kastor::ConvolveParams same;
  same.mode = kastor::ConvolveMode::same;
  kastor::Convolver<Exec, float> convolve(stream, kastor::gaussian_kernel(1.5), same);
  for (int step = 0; step < steps; ++step) {
    advance(stream, field, 0.25F);                     // yours, enqueued
    convolve(field, smooth);                           // enqueued behind it
    const kastor::SigmaClipResult sky = clip(smooth);  // waits for the stream: host values
    record(sky);
  }
  // example-end time-loop

  ASSERT_EQ(allocated.size(), 5U);
  EXPECT_GT(allocated.front(), 0) << "nothing is recorded";
  EXPECT_EQ(allocated.back(), allocated.front());
  EXPECT_NEAR(medians.back() - medians.front(), 1.0, 0.01);
}

// --------------------------------------------------------------------------------- layouts

TEST(GuideLinking, AFieldOfAnotherLayoutIsCopiedInSight) {
  const Exec stream;
  const Field plain = noisy_field(60, 70);
  const Kokkos::View<float**, Kokkos::LayoutLeft> field("field", 60, 70);
  Kokkos::deep_copy(field, plain);
  // example-begin other-layout
  const Field image(Kokkos::view_alloc(stream, Kokkos::WithoutInitializing, "image"),
                    field.extent(0), field.extent(1));
  Kokkos::deep_copy(stream, image, field);  // enqueued; from any layout to the one of images
  const kastor::Statistics all = kastor::statistics(stream, image);
  // example-end other-layout
  EXPECT_EQ(all.mean, kastor::statistics(stream, plain).mean);
}

// example-begin contiguous-rows
/// A View of strides known at run time as Kastor takes it: the same memory, nothing is copied.
kastor::ConstImage<float, Exec> as_image(
    const Kokkos::View<const float**, Kokkos::LayoutStride>& view) {
  if (view.extent(1) > 1 && view.stride(1) != 1) {
    throw std::invalid_argument("the pixels of a row do not lie side by side");
  }
  const auto pitch = view.extent(0) > 1 ? view.stride(0) : view.extent(1);
  const kastor::ConstImage<float, Exec> rows(view.data(), view.extent(0), pitch);
  return Kokkos::subview(rows, Kokkos::ALL, std::make_pair(std::size_t{0}, view.extent(1)));
}
// example-end contiguous-rows

TEST(GuideLinking, StridesOfContiguousRowsNeedNoCopy) {
  const Exec stream;
  const Field field = noisy_field(60, 70);
  const auto part = Kokkos::subview(field, std::make_pair(3, 50), std::make_pair(5, 60));
  const Kokkos::View<const float**, Kokkos::LayoutStride> strided = part;
  const auto expected = kastor::find_sources(stream, part);
  const auto found = kastor::find_sources(stream, as_image(strided));
  ASSERT_EQ(found.sources.size(), expected.sources.size());
  EXPECT_EQ(found.clip.clipped.std, expected.clip.clipped.std);

  const Kokkos::View<const float**, Kokkos::LayoutStride> every_second(
      field.data(), Kokkos::LayoutStride(30, 140, 35, 2));
  EXPECT_THROW((void)as_image(every_second), std::invalid_argument);
}

// ------------------------------------------------------------------------------------- fences

TEST(GuideLinking, AnotherStreamWaits) {
  const Exec one = own_stream(), other = own_stream();
  const Field field = noisy_field(200, 210);
  const Field smooth("smooth", 200, 210), copy("copy", 200, 210);
  kastor::ConvolveParams same;
  same.mode = kastor::ConvolveMode::same;
  kastor::Convolver<Exec, float> convolve(one, kastor::gaussian_kernel(2.0), same);
  // example-begin fence
  convolve(field, smooth);  // enqueued on `one`
  one.fence();              // before anything that is not on `one` may look at `smooth`
  Kokkos::deep_copy(other, copy, smooth);
  // example-end fence
  other.fence();
  const auto expected = kastor::convolve(one, field, kastor::gaussian_kernel(2.0), same);
  EXPECT_TRUE(ts::same_pixels(ts::to_host_grid(copy), ts::to_host_grid(expected)));
}

// ---------------------------------------------------------------------------------------- MPI

// example-begin mpi-rows
/// The rows of an image that a rank holds: its own, and copies of its neighbours' above and below.
struct RowsOfRank {
  std::int64_t first, last;  ///< own rows in the whole image, from first to before last
  std::int64_t above;        ///< copied rows above them
};

/// The sources that a rank answers for are those whose peak is in its own rows; y as in the whole
/// image.
kastor::Catalogue own_sources(kastor::SourceFinder<Exec, float>& find, const Field& rows,
                              const RowsOfRank& which) {
  kastor::Catalogue own;
  const auto shift = static_cast<std::int32_t>(which.first - which.above);
  for (kastor::Source source : find(rows).sources) {
    source.y_cen += static_cast<double>(shift);
    source.y_peak += shift;
    source.y_min += shift;
    source.y_max += shift;
    if (source.y_peak >= which.first && source.y_peak < which.last) own.push_back(source);
  }
  return own;
}
// example-end mpi-rows

// example-begin mpi-level
/// One level for all ranks. The largest of the ranks' noises does not depend on their order.
double level_of_all(MPI_Comm comm, const Exec& stream, const Field& own_rows) {
  double noise = kastor::sigma_clip(stream, own_rows).clipped.std;
  MPI_Allreduce(MPI_IN_PLACE, &noise, 1, MPI_DOUBLE, MPI_MAX, comm);
  return 5 * noise;
}
// example-end mpi-level

TEST(GuideLinking, RanksFindTogetherWhatOneFindsAlone) {
  const std::int64_t ny = 400, nx = 300, halo = 40, ranks = 4;
  kastor::SkyParams sky;
  sky.ny = ny;
  sky.nx = nx;
  sky.sources_per_mpx = 400;
  const Field whole("whole", ny, nx);
  kastor::simulate_sky(Exec(), sky, kastor::sky_truth(sky), whole);
  kastor::FindParams params;
  params.level = level_of_all(MPI_COMM_WORLD, Exec(), whole);
  const kastor::Catalogue expected = kastor::find_sources(Exec(), whole, params).sources;

  kastor::Catalogue found;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const RowsOfRank which{rank * ny / ranks, (rank + 1) * ny / ranks,
                           std::min(halo, rank * ny / ranks)};
    const auto rows = std::make_pair(which.first - which.above, std::min(ny, which.last + halo));
    kastor::SourceFinder<Exec, float> find(own_stream(), params);
    const auto own = own_sources(find, Kokkos::subview(whole, rows, Kokkos::ALL), which);
    EXPECT_GT(own.size(), 0U);
    found.insert(found.end(), own.begin(), own.end());
  }

  ASSERT_EQ(found.size(), expected.size());
  for (const kastor::Source& source : expected) {
    const auto same_peak = [&](const kastor::Source& other) {
      return other.x_peak == source.x_peak && other.y_peak == source.y_peak;
    };
    const auto other = std::find_if(found.begin(), found.end(), same_peak);
    ASSERT_NE(other, found.end());
    EXPECT_EQ(other->n_pix, source.n_pix);
    EXPECT_EQ(other->flux_sum, source.flux_sum);
    EXPECT_EQ(other->x_cen, source.x_cen);
    EXPECT_NEAR(other->y_cen, source.y_cen, 1e-10);
  }
}

}  // namespace
