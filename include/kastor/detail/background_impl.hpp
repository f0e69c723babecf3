// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_BACKGROUND_IMPL_HPP
#define KASTOR_DETAIL_BACKGROUND_IMPL_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <kastor/background.hpp>
#include <kastor/detail/background_mesh.hpp>
#include <kastor/detail/bend_nodes.hpp>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/enqueue.hpp>
#include <kastor/detail/estimate_cells.hpp>
#include <kastor/detail/excerpt_cells.hpp>
#include <kastor/detail/fill_map.hpp>
#include <kastor/detail/index_range.hpp>
#include <kastor/detail/plan_memory.hpp>
#include <kastor/detail/replay.hpp>
#include <kastor/detail/team_launcher.hpp>
#include <kastor/detail/work_shares.hpp>
#include <limits>
#include <string>
#include <vector>

namespace kastor::detail {

/// Writes some entries of the table of bands: the host's copy would have to outlive the kernels.
template <class T>
struct ListBands {
  static constexpr int each = 64;
  BandRows<T> from[each];
  BandRows<T>* to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = from[i]; }
};

inline void check(const BackgroundParams& params) {
  const char* const function = "kastor::BackgroundEstimator";
  KASTOR_EXPECTS(function, params.cell_height >= 1 && params.cell_width >= 1,
                 "the cells are " + std::to_string(params.cell_height) + " x " +
                     std::to_string(params.cell_width) + " pixels; expected at least 1 x 1");
  KASTOR_EXPECTS(
      function, params.clip.kappa > 0 && std::isfinite(params.clip.kappa),
      "kappa is " + std::to_string(params.clip.kappa) + "; expected a positive, finite number");
  KASTOR_EXPECTS(function, params.clip.max_passes >= 0,
                 "max_passes is " + std::to_string(params.clip.max_passes) +
                     "; expected 0 (until a pass removes nothing) or more");
  KASTOR_EXPECTS(function, params.min_good_fraction >= 0 && params.min_good_fraction <= 1,
                 "min_good_fraction is " + std::to_string(params.min_good_fraction) +
                     "; expected a number from 0 to 1");
  const auto odd = [](int size) { return size >= 1 && size % 2 == 1; };
  KASTOR_EXPECTS(function, odd(params.filter_height) && odd(params.filter_width),
                 "the median filter is " + std::to_string(params.filter_height) + " x " +
                     std::to_string(params.filter_width) + " cells; expected odd numbers");
}

}  // namespace kastor::detail

namespace kastor {

template <class Exec, Real T>
struct BackgroundEstimator<Exec, T>::Plan {
  template <class V>
  using List = Kokkos::View<V*, typename Exec::memory_space>;
  using Range = detail::IndexRange<Exec>;
  using Nodes = Kokkos::View<MeshNode**, Kokkos::LayoutRight, typename Exec::memory_space>;

  Plan(const Exec& s, const BackgroundParams& p)
      : space(s),
        params(p),
        kernels(s, p.graph),
        counts(Kokkos::view_alloc(s, "kastor::background::counts"), 1),
        excerpts_used(Kokkos::view_alloc(s, "kastor::background::excerpts_used"), 2) {}

  [[nodiscard]] BackgroundMesh<Exec, T> run(Bands<T, Exec> bands, const BitMask<Exec>& exclude) {
    const Kokkos::Profiling::ScopedRegion region("kastor::background");
    const char* const function = "kastor::BackgroundEstimator";
    const detail::Shape shape = detail::shape_of<T, Exec>(function, bands);
    KASTOR_EXPECTS(function, shape.ny > 0 && shape.nx > 0,
                   "the image is " + std::to_string(shape.ny) + " x " + std::to_string(shape.nx) +
                       "; expected at least one pixel");
    const bool excludes = exclude.ny != 0 || exclude.nx != 0;
    KASTOR_EXPECTS(function, !excludes || (exclude.ny == shape.ny && exclude.nx == shape.nx),
                   "the mask is " + std::to_string(exclude.ny) + " x " +
                       std::to_string(exclude.nx) + " and the image " + std::to_string(shape.ny) +
                       " x " + std::to_string(shape.nx) + "; expected one shape");
    image.image = shape;
    image.cell = {std::min(params.cell_height, shape.ny), std::min(params.cell_width, shape.nx)};
    image.mesh = {(shape.ny - 1) / image.cell.ny + 1, (shape.nx - 1) / image.cell.nx + 1};
    image.excluded = {};
    if (excludes) image.excluded = {exclude.words.data(), exclude.words_per_row()};
    prepare();
    list_bands(bands);
    ceilings_of_image = {};
    kernels(detail::place_of(bands), [&] {
      estimate_cells();
      make_nodes();
    });

    BackgroundMesh<Exec, T> result;
    result.ny = shape.ny;
    result.nx = shape.nx;
    // As asked for, not as cut to the image: it decides where a lone node lies, which is of no
    // consequence, and nothing else.
    result.level = {params.cell_height, params.cell_width, false, level_nodes};
    result.rms = {params.cell_height, params.cell_width, true, rms_nodes};
    result.ceilings = ceilings_of_image;
    return result;
  }

  [[nodiscard]] BackgroundSummary summary() {
    BackgroundSummary s;
    s.pixels = image.image.ny * image.image.nx;
    s.cells = cells();
    KASTOR_EXPECTS("kastor::BackgroundEstimator", s.cells > 0,
                   "no image has been seen yet; expected a call with one before its summary");
    Kokkos::deep_copy(space, host_counts, counts);
    detail::grow(host_nodes, space, "kastor::background::host_nodes", s.cells);
    const auto copied =
        Kokkos::View<MeshNode*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
            host_nodes.data(), static_cast<std::size_t>(s.cells));
    using Flat = Kokkos::View<const MeshNode*, typename Exec::memory_space,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    const auto median_of = [&](const Nodes& nodes) {
      Kokkos::deep_copy(space, copied, Flat(nodes.data(), static_cast<std::size_t>(s.cells)));
      space.fence("kastor::background::summary");
      node_values.resize(static_cast<std::size_t>(s.cells));
      for (std::size_t i = 0; i < node_values.size(); ++i) node_values[i] = copied(i).value;
      const auto middle = node_values.begin() + static_cast<std::ptrdiff_t>(node_values.size() / 2);
      std::nth_element(node_values.begin(), middle, node_values.end());
      const double below =
          node_values.size() % 2 == 1 ? *middle : *std::max_element(node_values.begin(), middle);
      return detail::midpoint(below, *middle);
    };
    space.fence("kastor::background::summary");
    s.good = host_counts(0).good;
    s.filled = s.cells - host_counts(0).valid;
    KASTOR_EXPECTS("kastor::BackgroundEstimator", s.filled < s.cells,
                   "none of the " + std::to_string(s.cells) + " cells has enough good pixels (" +
                       std::to_string(s.good) + " of " + std::to_string(s.pixels) +
                       " pixels are finite and not excluded); expected a share of at least " +
                       std::to_string(params.min_good_fraction) + " in one cell");
    s.level = median_of(level_nodes);
    s.rms = median_of(rms_nodes);
    return s;
  }

  [[nodiscard]] std::int64_t cells() const { return image.mesh.ny * image.mesh.nx; }

  void prepare() {
    const std::int64_t n = cells();
    detail::grow(values, space, "kastor::background::values", n);
    detail::grow(valid, space, "kastor::background::valid", n);
    detail::grow(up, space, "kastor::background::up", n);
    detail::grow(down, space, "kastor::background::down", n);
    for (Nodes* nodes : {&level_nodes, &rms_nodes}) {
      const auto my = static_cast<std::size_t>(image.mesh.ny);
      const auto mx = static_cast<std::size_t>(image.mesh.nx);
      if (nodes->extent(0) == my && nodes->extent(1) == mx) continue;
      *nodes = {};
      *nodes =
          Nodes(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::background::nodes"),
                my, mx);
    }
  }

  void list_bands(Bands<T, Exec> bands) {
    image.rows = {};
    std::vector<detail::BandRows<T>>& list = host_bands;
    list.clear();
    std::int64_t first_row = 0;
    for (const auto& band : bands) {
      const auto rows = detail::rows_of<T, Exec>(band);
      if (rows.ny > 0) list.push_back({rows.data, rows.pitch, first_row});
      first_row += rows.ny;
    }
    image.rows.one = list.front();
    image.rows.count = static_cast<std::int64_t>(list.size());
    if (list.size() == 1) return;
    detail::grow(band_table, space, "kastor::background::bands", image.rows.count);
    image.rows.bands = band_table.data();
    using Lister = detail::ListBands<T>;
    for (std::size_t at = 0; at < list.size(); at += Lister::each) {
      const std::size_t n = std::min<std::size_t>(Lister::each, list.size() - at);
      Lister lister{};
      std::copy_n(list.begin() + static_cast<std::ptrdiff_t>(at), n, lister.from);
      lister.to = band_table.data() + at;
      detail::enqueue_range<Kokkos::RangePolicy<Exec>>(space, "kastor::background::list_bands",
                                                       static_cast<std::int64_t>(n), lister);
    }
  }

  void estimate_cells() {
    detail::enqueue_fill(space, counts, {0, 0});
    const detail::EstimateCell<T> estimate{
        image,
        {params.clip.kappa, params.clip.max_passes, params.estimate, params.min_good_fraction},
        {values.data(), valid.data(), counts.data()}};
    if constexpr (is_host_space_v<Exec>) {
      const std::int64_t pixels = image.cell.ny * image.cell.nx;
      const std::size_t bytes = pixels > detail::HostCell<T>::most_pixels
                                    ? 0
                                    : (detail::HostCellRoom<T>::bytes(pixels) + 63) / 64 * 64;
      detail::grow(room, space, "kastor::background::room",
                   detail::workers_for(space, cells()) * static_cast<std::int64_t>(bytes));
      detail::for_each_index_of_workers("kastor::background::estimate_cells", space, cells(),
                                        detail::EstimateOnHost<T>{estimate, room.data(), bytes});
    } else {
      // So that a thread has some hundred pixels, or few cells are done sooner. A device holds a
      // quarter of its threads of these at once: many more would have to wait for their turn.
      constexpr int one_warp = 32, two_warps = 64, four_warps = 128;
      const std::int64_t pixels = image.cell.ny * image.cell.nx;
      const auto count = static_cast<int>(cells());
      const bool is_small = pixels <= 5000;
      const std::int64_t at_once = space.concurrency() / four_warps;
      // Of doubles, the lists that fit the scratch memory are too short.
      const bool fits_excerpts =
          sizeof(T) == 4 && is_small && pixels >= 1024 && params.clip.kappa >= 2.4;
      // Of some thousand, those that do not fit after all would take longer than all others.
      const int many = fits_excerpts && pixels >= 2048 ? 3 : 1;
      if (is_small && cells() > many * at_once) {
        if constexpr (sizeof(T) == 4) {
          if (fits_excerpts) return estimate_from_excerpts(estimate, count);
        }
        launch(detail::EstimateByTeams<T, Exec, one_warp>{estimate, {count}}, count);
      } else if (is_small && cells() > at_once / 3) {
        launch(detail::EstimateByTeams<T, Exec, two_warps>{estimate, {count}}, count);
      } else if (pixels <= detail::most_pixels_of_a_team) {
        launch(detail::EstimateByTeams<T, Exec, four_warps>{estimate, {count}}, count);
      } else {
        launch(detail::StreamByTeams<T, Exec>{estimate}, count);
      }
    }
  }

  void estimate_from_excerpts(const detail::EstimateCell<T>& estimate, int count) {
    constexpr int at_once = 1 << 17;       // so that excerpts take 120 MB of floats at most
    constexpr std::uint32_t pixels = 192;  // of a cell
    const int most = std::min(count, at_once);
    const std::uint32_t pool_size = pixels * static_cast<std::uint32_t>(most);
    detail::grow(excerpts, space, "kastor::background::excerpts", most);
    detail::grow(excerpt_pixels, space, "kastor::background::excerpt_pixels", pool_size);
    detail::grow(unfinished, space, "kastor::background::unfinished", most);
    const detail::ExcerptPool<T> pool{excerpt_pixels.data(), pool_size, &excerpts_used.data()[0]};
    const detail::CellList rest{unfinished.data(), &excerpts_used.data()[1]};
    const detail::CeilingRoom<T> ceiling_room = room_for_ceilings();
    const detail::TeamLauncher<Exec> launcher{space};
    using Take = detail::TakeExcerpts<T, Exec>;
    using Clip = detail::ClipExcerpts<T, Exec>;
    for (int first = 0; first < count; first += most) {
      const int n = std::min(most, count - first);
      detail::enqueue_fill(space, excerpts_used, 0U);
      launcher("kastor::background::take_excerpts", Take::teams(n),
               Take{image, params.clip.kappa, first, n, pool, excerpts.data(), rest, ceiling_room});
      launcher("kastor::background::clip_excerpts", Clip::teams(n),
               Clip{estimate, first, n, excerpts.data(), rest});
      // Few are done sooner if a team puts each in order.
      constexpr std::uint32_t few = 4096;
      const detail::CellsToEstimate few_of_rest{0, rest, 0, few};
      using FourWarps = detail::SortByTeams<T, Exec, 128>;
      using EightWarps = detail::SortByTeams<T, Exec, 256>;
      finish(detail::EstimateByTeams<T, Exec, 32>{estimate, {0, rest, few}}, n);
      if (image.cell.ny * image.cell.nx <= FourWarps::Sorted::most_pixels) {
        launch(FourWarps{estimate, few_of_rest}, n, teams_at_once<FourWarps>());
      } else {
        launch(EightWarps{estimate, few_of_rest}, n, teams_at_once<EightWarps>());
      }
    }
  }

  /// Of a device.
  template <class Kernel>
  [[nodiscard]] int teams_at_once() const {
    return detail::processors_of(space) * Kernel::teams_at_once;
  }

  /// None, if rows lie so that no cell would have any.
  [[nodiscard]] detail::CeilingRoom<T> room_for_ceilings() {
    const detail::BandRows<T>& rows = image.rows.one;
    constexpr std::int64_t pack = detail::PixelPack<T>::size;
    const bool in_packs = image.rows.bands == nullptr && rows.pitch % pack == 0 &&
                          reinterpret_cast<std::uintptr_t>(rows.data) % 16 == 0;
    if (!in_packs || !detail::shape_has_ceilings(image.cell.ny, image.cell.nx) ||
        image.excluded.words != nullptr)
      return {};
    detail::grow(ceilings, space, "kastor::background::ceilings",
                 detail::count_of_ceilings(image.image));
    ceilings_of_image = {image.image.ny, image.image.nx, ceilings};
    return {ceilings.data(), detail::ceiling_stride(image.image.nx)};
  }

  /// Of listed cells, at most `count`: as many teams as work at once take one after the other.
  template <class Kernel>
  void finish(const Kernel& kernel, int count) {
    launch(kernel, count, space.concurrency() / Kernel::threads);
  }

  template <class Kernel>
  void launch(const Kernel& kernel, int count, int most_teams = std::numeric_limits<int>::max()) {
    detail::TeamLauncher<Exec>{space}(
        "kastor::background::estimate_cells",
        std::min((count + Kernel::cells - 1) / Kernel::cells, most_teams), kernel);
  }

  void make_nodes() {
    const detail::Shape mesh = image.mesh;
    const detail::ColumnDistances distances{up.data(), down.data()};
    const detail::BothNodes nodes{level_nodes.data(), rms_nodes.data()};
    detail::enqueue_range<Range>(
        space, "kastor::background::measure_columns", mesh.nx,
        detail::MeasureColumn{counts.data(), mesh, valid.data(), distances});
    detail::enqueue_range<Range>(space, "kastor::background::fill_cells", cells(),
                                 detail::FillCell{counts.data(), mesh, distances, values.data()});
    const detail::Shape half{params.filter_height / 2, params.filter_width / 2};
    detail::enqueue_range<Range>(space, "kastor::background::filter", cells(),
                                 detail::FilterNode{mesh, half, values.data(), nodes});
    if (params.interpolation == MeshInterpolation::bilinear) return;
    bend("kastor::background::bend_along_y", detail::BendAlongY{mesh, nodes});
    bend("kastor::background::bend_along_x", detail::BendAlongX{mesh, nodes});
  }

  template <class Bend>
  void bend(const char* label, const Bend& along) {
    if constexpr (is_host_space_v<Exec>) {
      detail::for_each_index(label, space, along.lines(), detail::BendLine<Bend>{along});
    } else {
      const detail::BendTiles<Exec, Bend> tiles{along};
      detail::TeamLauncher<Exec>{space}(label, tiles.teams(), tiles);
    }
  }

  Exec space;
  BackgroundParams params;
  detail::KernelSequence<Exec> kernels;
  detail::CellImage<T> image;
  List<detail::CellCounts> counts;
  List<detail::CellValue> values;
  List<std::uint8_t> valid;
  List<std::int32_t> up, down;
  List<detail::BandRows<T>> band_table;
  List<detail::CellExcerpt<T>> excerpts;
  List<T> excerpt_pixels;
  List<std::uint32_t> excerpts_used;  ///< pixels, and cells that are unfinished
  List<std::int32_t> unfinished;
  List<T> ceilings;
  PixelCeilings<Exec, T> ceilings_of_image;
  List<std::byte> room;  ///< of a host's threads
  Nodes level_nodes, rms_nodes;
  std::vector<detail::BandRows<T>> host_bands;
  Kokkos::View<detail::CellCounts*, Kokkos::HostSpace> host_counts{
      "kastor::background::host_counts", 1};
  Kokkos::View<MeshNode*, detail::HostReadable<Exec>> host_nodes;
  std::vector<double> node_values;
};

template <class Exec, Real T>
BackgroundEstimator<Exec, T>::BackgroundEstimator(const Exec& space,
                                                  const BackgroundParams& params) {
  detail::check(params);
  m_plan = std::make_unique<Plan>(space, params);
}

template <class Exec, Real T>
BackgroundEstimator<Exec, T>::~BackgroundEstimator() = default;
template <class Exec, Real T>
BackgroundEstimator<Exec, T>::BackgroundEstimator(BackgroundEstimator&&) noexcept = default;
template <class Exec, Real T>
BackgroundEstimator<Exec, T>& BackgroundEstimator<Exec, T>::operator=(
    BackgroundEstimator&&) noexcept = default;

template <class Exec, Real T>
BackgroundMesh<Exec, T> BackgroundEstimator<Exec, T>::operator()(const ConstImage<T, Exec>& image,
                                                                 const BitMask<Exec>& exclude) {
  return m_plan->run(Bands<T, Exec>(&image, 1), exclude);
}
template <class Exec, Real T>
BackgroundMesh<Exec, T> BackgroundEstimator<Exec, T>::operator()(Bands<T, Exec> bands,
                                                                 const BitMask<Exec>& exclude) {
  return m_plan->run(bands, exclude);
}
template <class Exec, Real T>
BackgroundSummary BackgroundEstimator<Exec, T>::summary() {
  return m_plan->summary();
}

template <class Exec, Real T>
void fill_map(const Exec& space, const PixelMap<Exec, T>& map, const MutableImage<T, Exec>& image,
              std::int64_t first_row) {
  KASTOR_EXPECTS("kastor::fill_map", first_row >= 0,
                 "the first row is " + std::to_string(first_row) + "; expected 0 or more");
  const auto ny = static_cast<std::int64_t>(image.extent(0));
  const auto nx = static_cast<std::int64_t>(image.extent(1));
  if (ny * nx == 0) return;
  detail::for_each_index("kastor::background::fill_map", space,
                         is_host_space_v<Exec> ? ny : ny * nx,
                         detail::FillMap<Exec, T>{map, image, first_row});
}

}  // namespace kastor

#endif
