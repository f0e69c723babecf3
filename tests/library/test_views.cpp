// SPDX-License-Identifier: Apache-2.0

// Every View that keeps the layout contract is taken as it is, by every public algorithm, and gives
// the bits of a plain one: owned or not, of const pixels, with padded rows, part of a larger one.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstring>
#include <kastor/kastor.hpp>
#include <utility>
#include <vector>

#include "device.hpp"
#include "generators.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

constexpr std::int64_t ny = 70;
constexpr std::int64_t nx = 83;

/// The bytes of everything that was found.
class Bits {
 public:
  template <class Number>
  void add(const Number& number) {
    const auto at = m_bytes.size();
    m_bytes.resize(at + sizeof(Number));
    std::memcpy(m_bytes.data() + at, &number, sizeof(Number));
  }
  void add(const kastor::Statistics& s) {
    static_assert(sizeof(kastor::Statistics) == 6 * sizeof(double), "a new figure is added here");
    for (const double value : {s.mean, s.median, s.std, s.min, s.max}) add(value);
    add(s.count);
  }
  void add(const kastor::SigmaClipResult& clip) {
    add(clip.all);
    add(clip.clipped);
    for (const std::int64_t count : {clip.pixels, clip.blank, std::int64_t{clip.passes}})
      add(count);
    for (const bool is_so : {clip.converged, clip.degenerate}) add(is_so);
    add(clip.route);
  }
  void add(const kastor::Catalogue& catalogue) {
    EXPECT_FALSE(catalogue.empty());
    add(catalogue.size());
    for (const kastor::Source& source : catalogue) add(source);
  }
  void add(const kastor::Islands& islands) {
    EXPECT_FALSE(islands.empty());
    add(islands.size());
    for (const kastor::Island& island : islands) {
      add(island.flux_sum);
      add(island.x_cen);
      add(island.snr_peak);
      add(island.n_pix);
    }
  }
  void add(const kastor::FittedComponents& fits) {
    EXPECT_FALSE(fits.components.empty());
    for (const kastor::Component& c : fits.components) {
      add(c.gaussian);
      add(c.background);
      add(c.n_pix);
    }
    for (const double value : fits.covariance) add(value);
  }
  template <class Value>
  void add(const ts::HostGrid<Value>& image) {
    for (const Value value : image.values) add(value);
  }
  bool operator==(const Bits&) const = default;

 private:
  std::vector<char> m_bytes;
};

/// Calls `use(name, view)` for Views of every kind, all of shape (ny, nx).
template <class Exec, class T, class Use>
void for_each_kind(const Use& use) {
  using Memory = typename Exec::memory_space;
  using Right = Kokkos::LayoutRight;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  const auto columns = std::make_pair(std::int64_t{5}, 5 + nx);
  const auto rows = std::make_pair(std::int64_t{3}, 3 + ny);

  use("owned", Kokkos::View<T**, Right, Memory>("test::owned", ny, nx));
  use("of a device",
      Kokkos::View<T**, Right, Kokkos::Device<Exec, Memory>>("test::device", ny, nx));
  use("with extents of its type", Kokkos::View<T[ny][nx], Right, Memory>("test::fixed"));

  const Kokkos::View<T*, Memory> memory("test::memory", ny * nx);
  use("not owned", Kokkos::View<T**, Right, Memory, Unmanaged>(memory.data(), ny, nx));

  const Kokkos::View<T**, Right, Memory> padded(
      Kokkos::view_alloc("test::padded", Kokkos::AllowPadding), ny, nx);
  EXPECT_GT(padded.stride(0), static_cast<std::size_t>(nx)) << "Kokkos pads no more";
  use("padded", padded);

  const Kokkos::View<T**, Right, Memory> wide("test::wide", ny, 2 * nx);
  use("columns of a wider one", Kokkos::subview(wide, Kokkos::ALL, columns));
  const Kokkos::View<T**, Right, Memory> large("test::large", 2 * ny, 2 * nx);
  use("a cut-out", Kokkos::subview(large, rows, columns));
  const Kokkos::View<T***, Right, Memory> cube("test::cube", 3, ny, nx);
  use("a plane of a cube", Kokkos::subview(cube, 1, Kokkos::ALL, Kokkos::ALL));

  if constexpr (!kastor::is_host_space_v<Exec>) {
    use("pinned", Kokkos::View<T**, Right, Kokkos::SharedHostPinnedSpace>("test::pinned", ny, nx));
    const Kokkos::View<T**, Right, Kokkos::SharedSpace> managed("test::managed", ny, 2 * nx);
    use("columns in managed memory", Kokkos::subview(managed, Kokkos::ALL, columns));
  }
}

template <class From, class To>
struct CopyPixels {
  From from;
  To to;
  KOKKOS_FUNCTION void operator()(std::int64_t y, std::int64_t x) const { to(y, x) = from(y, x); }
};

template <class Exec, class From, class To>
void copy(const Exec& space, const From& from, const To& to) {
  using Policy = Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("test::copy", Policy(space, {0, 0}, {ny, nx}),
                       CopyPixels<From, To>{from, to});
  space.fence("test::copy");
}

template <class Exec, class V>
ts::HostGrid<typename V::non_const_value_type> read(const Exec& space, const V& view) {
  const kastor::Image<typename V::non_const_value_type, Exec> dense("test::dense", ny, nx);
  copy(space, view, dense);
  return ts::to_host_grid(dense);
}

/// What every public function that reads an image says of it.
template <class Exec, class V>
Bits read_by_all(const Exec& space, const V& image) {
  using T = typename V::non_const_value_type;
  constexpr double level = 0.03;
  Bits bits;
  bits.add(kastor::statistics(space, image));
  bits.add(kastor::sigma_clip(space, image));
  bits.add(kastor::SigmaClipper<Exec, T>(space)(image));

  auto mask = kastor::threshold(space, image, level);
  bits.add(kastor::count_foreground(space, mask));
  kastor::threshold_into(space, image, level, mask);
  bits.add(kastor::find_constant_fill(space, image).size());
  const auto low = kastor::threshold(space, image, 0.0);
  kastor::exclude_fill(space, image, {{0.05, 0.1, 0}}, low, kastor::threshold(space, image, 0.2));
  bits.add(kastor::count_foreground(space, low));
  const auto labels = kastor::label(space, mask);
  bits.add(kastor::measure(space, image, labels));
  kastor::Measurer<Exec, T> measure(space);
  bits.add(kastor::to_host<Exec>(space, measure(image, labels)));

  bits.add(kastor::find_sources(space, image).sources);
  bits.add(kastor::SourceFinder<Exec, T>(space)(image).sources);

  kastor::BackgroundParams cells;
  cells.cell_height = cells.cell_width = 16;
  kastor::BackgroundEstimator<Exec, T> estimate(space, cells);
  const auto mesh = estimate(image);
  bits.add(estimate.summary().rms);
  const auto again = kastor::estimate_background(space, image, cells);
  bits.add(kastor::find_islands(space, image, again.background()).islands);
  kastor::IslandFinder<Exec, T> find(space);
  const kastor::Islands islands = find(image, mesh.background()).islands;
  bits.add(islands);
  kastor::Deblender<Exec, T> deblend(space);
  const auto peaks = deblend.peaks(image, mesh.background(), islands, find.labels());
  for (const auto& peak : peaks) bits.add(peak.deviation);
  bits.add(deblend.children(image, mesh.background()).children);
  bits.add(kastor::ComponentFitter<Exec, T>(space)(image, mesh.background(), islands, find.labels(),
                                                   peaks));

  const std::vector<kastor::AperturePosition> centres = {{20, 30}, {80, 2}};
  const kastor::Background<Exec, T> flat{0.001, 0.02};
  for (const auto& flux : kastor::aperture_fluxes(space, image, flat, centres, {1.5, 6}))
    bits.add(flux.flux);
  const auto pixels = kastor::as_const_image<Exec>(image);
  const std::vector<kastor::ForcedPosition> positions = {{20, 30, {}}, {80, 2, {}}};
  kastor::ForcedPhotometer<Exec, T> forced(space, {{5, 4, 0.5}, 1, kastor::FreeParameters::flux});
  for (const auto& row : forced({&pixels, 1}, flat, positions).components)
    bits.add(row.gaussian.peak);

  // As a map: the image over itself.
  const kastor::Background<Exec, T> itself{image, 0.02};
  const kastor::Image<T, Exec> map("test::map", ny, nx);
  kastor::fill_snr_map(space, image, itself, map);
  bits.add(read(space, map));
  kastor::fill_residual_map(space, image, mesh.background(), labels, {}, map);
  bits.add(read(space, map));

  bits.add(read(space, kastor::convolve(space, image, kastor::gaussian_kernel(1.0),
                                        {kastor::ConvolveMode::same})));
  return bits;
}

/// What every public function that fills an image writes into `image`.
template <class Exec, class V>
Bits written_by_all(const Exec& space, const V& image) {
  using T = typename V::non_const_value_type;
  Bits bits;
  kastor::SkyParams params;
  params.ny = ny;
  params.nx = nx;
  params.sources_per_mpx = 3000;
  kastor::simulate_sky(space, params, kastor::sky_truth(params), image);
  bits.add(read(space, image));
  const kastor::Image<T, Exec> sky("test::sky", ny, nx);
  copy(space, image, sky);
  const auto write = [&](const auto& call) {
    call();
    bits.add(read(space, image));
  };
  write([&] { kastor::simulate_diracs(space, 8, image); });
  const kastor::PixelMap<Exec, T> half(0.5);
  write([&] { kastor::fill_map(space, half, image); });
  const kastor::Background<Exec, T> background{0.001, 0.02};
  write([&] { kastor::fill_snr_map(space, sky, background, image); });
  const auto labels = kastor::label(space, kastor::threshold(space, sky, 0.05));
  write([&] { kastor::fill_residual_map(space, sky, background, labels, labels, image); });
  for (const auto method : {kastor::ConvolveMethod::direct, kastor::ConvolveMethod::separable}) {
    kastor::Convolver<Exec, T> convolve(
        space, kastor::gaussian_kernel(1.0),
        {kastor::ConvolveMode::same, method, kastor::NanTreatment::propagate});
    write([&] {
      convolve(sky, image);
      space.fence("test::convolve");
    });
  }
  return bits;
}

template <class Exec, class V>
Bits labels_written(const Exec& space, const V& image) {
  const auto sky = ts::to_device<Exec>(ts::make_image<float>(ts::Pixels::gaussian, ny, nx, 3));
  const auto above = kastor::label(space, kastor::threshold(space, sky, 1.5));
  const auto far_above = kastor::label(space, kastor::threshold(space, sky, 2.5));
  Bits bits;
  kastor::write_labels(space, above, image);
  bits.add(read(space, image));
  kastor::write_island_labels(space, above, far_above, image);
  bits.add(read(space, image));
  return bits;
}

template <class C>
class Views : public ::testing::Test {};
TYPED_TEST_SUITE(Views, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Views, OfEveryKindAreReadAlike) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const auto plain = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, ny, nx, 7));
  const Bits expected = read_by_all(space, plain);
  for_each_kind<Exec, T>([&](const char* kind, const auto& view) {
    using V = std::decay_t<decltype(view)>;
    copy(space, plain, view);
    EXPECT_TRUE(read_by_all(space, view) == expected) << kind;
    const typename V::const_type of_const = view;
    EXPECT_TRUE(read_by_all(space, of_const) == expected) << kind << ", of const pixels";
  });
}

TYPED_TEST(Views, OfEveryKindAreFilledAlike) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const Bits expected = written_by_all(space, kastor::Image<T, Exec>("test::plain", ny, nx));
  for_each_kind<Exec, T>([&](const char* kind, const auto& view) {
    EXPECT_TRUE(written_by_all(space, view) == expected) << kind;
  });
}

/// Filling a cut-out leaves what is around it alone.
TYPED_TEST(Views, AroundACutOutNothingIsWritten) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  kastor::SkyParams params;
  params.ny = 30;
  params.nx = 41;
  const kastor::Image<T, Exec> whole("test::whole", ny, nx);
  Kokkos::deep_copy(whole, T{-7});
  const auto part = Kokkos::subview(whole, std::make_pair(11, 41), std::make_pair(13, 54));
  kastor::simulate_sky(space, params, kastor::sky_truth(params), part);
  const kastor::PixelMap<Exec, T> half(0.5);
  kastor::fill_map(space, half, part);
  const auto host = ts::to_host_grid(whole);
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) {
      const bool inside = y >= 11 && y < 41 && x >= 13 && x < 54;
      ASSERT_EQ(host(y, x), inside ? T(0.5) : T{-7}) << y << ", " << x;
    }
  }
}

template <class Exec>
class LabelViews : public ::testing::Test {};
TYPED_TEST_SUITE(LabelViews, ts::Execs, ts::CaseName);

TYPED_TEST(LabelViews, OfEveryKindAreFilledAlike) {
  using Exec = TypeParam;
  const Exec space;
  const auto compare = [&]<class Label>(Label) {
    const kastor::Image<Label, Exec> plain("test::plain", ny, nx);
    const Bits expected = labels_written(space, plain);
    for_each_kind<Exec, Label>([&](const char* kind, const auto& view) {
      EXPECT_TRUE(labels_written(space, view) == expected) << kind;
    });
  };
  compare(std::int32_t{});
  compare(std::int64_t{});
}

}  // namespace
