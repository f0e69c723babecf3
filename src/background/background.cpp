// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <kastor/background.hpp>
#include <kastor/detail/instantiations.hpp>
#include <string>
#include <utility>
#include <vector>

#include "background/cell_image.hpp"
#include "background/estimate_cells.hpp"
#include "background/gather_cells.hpp"
#include "background/mesh.hpp"
#include "background/source_cells.hpp"
#include "background/spline.hpp"
#include "core/clip_correction.hpp"
#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "core/portable.hpp"
#include "core/ranks.hpp"
#include "core/row_reader.hpp"

namespace kastor::detail {
namespace {

void check(const BackgroundParams& params) {
  const char* const function = "kastor::BackgroundEstimator";
  KASTOR_EXPECTS(function, params.cell_height >= 1 && params.cell_width >= 1,
                 "the cells are " + std::to_string(params.cell_height) + " x " +
                     std::to_string(params.cell_width) + " pixels; expected at least 1 x 1");
  KASTOR_EXPECTS(
      function, params.clip.kappa > 0 && std::isfinite(params.clip.kappa),
      "kappa is " + std::to_string(params.clip.kappa) + "; expected a finite number above 0");
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

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const double below = values.size() % 2 == 1 ? *middle : *std::max_element(values.begin(), middle);
  return core::midpoint(below, *middle);
}

}  // namespace

/// Writes some entries of the table of bands. They are passed as kernel arguments, since a host
/// array would have to outlive the kernels.
template <class T>
struct ListBands {
  static constexpr std::size_t at_once = 64;
  core::BandRows<T> from[at_once];
  core::BandRows<T>* to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = from[i]; }
};

}  // namespace kastor::detail

namespace kastor {

template <class Exec, Real T>
struct BackgroundEstimator<Exec, T>::Plan {
  template <class V>
  using List = Kokkos::View<V*, typename Exec::memory_space>;
  using Nodes = Kokkos::View<MeshNode**, Kokkos::LayoutRight, typename Exec::memory_space>;

  Plan(const Exec& s, const BackgroundParams& p)
      : space(s),
        params(p),
        reader(s),
        counts(Kokkos::view_alloc(s, "kastor::background::counts"), 1) {}

  /// The image in memory is one band.
  [[nodiscard]] BackgroundMesh<Exec, T> run(Bands<T, Exec> bands, const BitMask<Exec>& exclude) {
    const Kokkos::Profiling::ScopedRegion region("kastor::background");
    begin(detail::shape_of<T, Exec>(name, bands), exclude);
    add(bands, 0, exclude);
    return finish();
  }
  [[nodiscard]] BackgroundMesh<Exec, T> run(RowSource<T>& source, const StreamParams& stream,
                                            const BitMask<Exec>& exclude) {
    const Kokkos::Profiling::ScopedRegion region("kastor::background::stream");
    begin(detail::Shape{source.ny(), source.nx()}, exclude);
    read(source, RowRange{0, mesh.ny}, stream, exclude);
    return finish();
  }
  [[nodiscard]] BackgroundMesh<Exec, T> run(RowSource<T>& source, Communicator& ranks,
                                            const StreamParams& stream,
                                            const BitMask<Exec>& exclude) {
    const Kokkos::Profiling::ScopedRegion region("kastor::background::stream");
    core::agree_on(&ranks, "cells", [&] {
      begin(detail::Shape{source.ny(), source.nx()}, exclude);
      read(source, rows_of_rank(mesh.ny, ranks.rank(), ranks.size()), stream, exclude);
    });
    detail::gather_cells(space, ranks, mesh, output());
    return finish();
  }

  /// Divides the image into cells.
  void begin(const detail::Shape& shape, const BitMask<Exec>& exclude) {
    KASTOR_EXPECTS(name, shape.ny > 0 && shape.nx > 0,
                   "the image is " + std::to_string(shape.ny) + " x " + std::to_string(shape.nx) +
                       "; expected at least one pixel");
    const bool excludes = exclude.ny != 0 || exclude.nx != 0;
    KASTOR_EXPECTS(name, !excludes || (exclude.ny == shape.ny && exclude.nx == shape.nx),
                   "the mask is " + std::to_string(exclude.ny) + " x " +
                       std::to_string(exclude.nx) + " and the image " + std::to_string(shape.ny) +
                       " x " + std::to_string(shape.nx) + "; expected the same shape");
    image = shape;
    cell = {std::min(params.cell_height, shape.ny), std::min(params.cell_width, shape.nx)};
    mesh = {(shape.ny - 1) / cell.ny + 1, (shape.nx - 1) / cell.nx + 1};
    prepare();
    core::for_each("kastor::background::clear_counts", space, 1,
                   detail::ClearCounts{counts.data()});
  }

  /// Reads some rows of cells and estimates them.
  void read(RowSource<T>& source, const RowRange& cell_rows, const StreamParams& stream,
            const BitMask<Exec>& exclude) {
    const std::int64_t rows = rows_at_once(stream);
    const std::int64_t past = std::min(cell_rows.past * cell.ny, image.ny);
    for (std::int64_t first = cell_rows.first * cell.ny; first < past; first += rows) {
      const auto band = reader.read(source, first, std::min(rows, past - first));
      add(Bands<T, Exec>(&band, 1), first, exclude);
    }
  }

  /// Estimates the cells of a band of the image, which begins with a row of cells, and ends with
  /// one or with the image.
  void add(Bands<T, Exec> parts, std::int64_t first_row, const BitMask<Exec>& exclude) {
    detail::CellImage<T> band;
    band.image = detail::shape_of<T, Exec>(name, parts);
    band.cell = cell;
    band.mesh = {(band.image.ny - 1) / cell.ny + 1, mesh.nx};
    if (exclude.ny != 0) {
      const std::int64_t words = exclude.words_per_row();
      band.excluded = {exclude.words.data() + first_row * words, words};
    }
    list_bands(parts, band.rows);
    const std::int64_t first_cell = first_row / cell.ny * mesh.nx;
    detail::estimate_cells(
        space, band,
        {params.clip.kappa, params.clip.max_passes, params.estimate, params.min_good_fraction},
        {values.data() + first_cell, valid.data() + first_cell, counts.data()});
  }
  /// Where the cells of the image are.
  [[nodiscard]] detail::CellOutput output() const {
    return {values.data(), valid.data(), counts.data()};
  }

  /// Turns the cells into nodes.
  [[nodiscard]] BackgroundMesh<Exec, T> finish() {
    if (params.mask_large_sources) mask_large_sources();
    make_nodes();
    BackgroundMesh<Exec, T> result;
    result.ny = image.ny;
    result.nx = image.nx;
    // The cell size as requested, not as cut to the image. The difference is only in the position
    // of a single node, which has no effect.
    result.level = {params.cell_height, params.cell_width, false, level_nodes};
    result.rms = {params.cell_height, params.cell_width, true, rms_nodes};
    return result;
  }

  /// Whole rows of cells, as many as may be in memory.
  [[nodiscard]] std::int64_t rows_at_once(const StreamParams& stream) const {
    core::expect_stream(name, stream);
    const std::int64_t of_cells = cell.ny * image.nx * static_cast<std::int64_t>(sizeof(T));
    if (of_cells > stream.memory) {
      throw ResourceError(std::string(name) + ": a row of cells, " + std::to_string(cell.ny) +
                          " rows of " + std::to_string(image.nx) + " pixels, takes " +
                          std::to_string(of_cells) + " bytes; expected at most " +
                          std::to_string(stream.memory) + ", the memory that was given");
    }
    const std::int64_t most = stream.memory / of_cells;
    const std::int64_t wanted = stream.band_rows == 0 ? most : stream.band_rows / cell.ny;
    return cell.ny * std::clamp(wanted, std::int64_t{1}, most);
  }

  [[nodiscard]] BackgroundSummary summary() {
    BackgroundSummary s;
    s.pixels = image.ny * image.nx;
    s.cells = cells();
    KASTOR_EXPECTS(name, s.cells > 0,
                   "found no image yet; expected a call with an image before its summary");
    Kokkos::deep_copy(space, host_counts, counts);
    s.level = median_node(level_nodes);
    s.rms = median_node(rms_nodes);
    s.good = host_counts(0).good;
    s.filled = s.cells - host_counts(0).valid;
    s.source_cells = host_counts(0).source;
    s.masks_sources = s.source_cells > 0 && detail::BridgeSourceCell::is_bridged(host_counts(0));
    KASTOR_EXPECTS(name, s.filled < s.cells,
                   "none of the " + std::to_string(s.cells) + " cells has enough good pixels (" +
                       std::to_string(s.good) + " of " + std::to_string(s.pixels) +
                       " pixels are finite and not excluded); expected a fraction of at least " +
                       std::to_string(params.min_good_fraction) + " in one cell");
    return s;
  }

  void prepare() {
    const std::int64_t n = cells();
    core::grow(values, space, "kastor::background::values", n);
    core::grow(valid, space, "kastor::background::valid", n);
    core::grow(up, space, "kastor::background::up", n);
    core::grow(down, space, "kastor::background::down", n);
    for (Nodes* nodes : {&level_nodes, &rms_nodes}) {
      const auto my = static_cast<std::size_t>(mesh.ny);
      const auto mx = static_cast<std::size_t>(mesh.nx);
      if (nodes->extent(0) == my && nodes->extent(1) == mx) continue;
      *nodes = {};
      *nodes =
          Nodes(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::background::nodes"),
                my, mx);
    }
  }

  void list_bands(Bands<T, Exec> bands, core::ImageRows<T>& rows_of_image) {
    host_bands.clear();
    std::int64_t first_row = 0;
    for (const auto& band : bands) {
      const auto rows = detail::rows_of<T, Exec>(band);
      if (rows.ny > 0) host_bands.push_back({rows.data, rows.pitch, first_row});
      first_row += rows.ny;
    }
    rows_of_image.one = host_bands.front();
    rows_of_image.count = static_cast<std::int64_t>(host_bands.size());
    if (host_bands.size() == 1) return;
    core::grow(band_table, space, "kastor::background::bands", rows_of_image.count);
    rows_of_image.bands = band_table.data();
    using Lister = detail::ListBands<T>;
    for (std::size_t at = 0; at < host_bands.size(); at += Lister::at_once) {
      const std::size_t n = std::min(Lister::at_once, host_bands.size() - at);
      Lister lister{};
      std::copy_n(host_bands.begin() + static_cast<std::ptrdiff_t>(at), n, lister.from);
      lister.to = band_table.data() + at;
      core::for_each("kastor::background::list_bands", space, static_cast<std::int64_t>(n), lister);
    }
  }

  void mask_large_sources() {
    const std::int64_t n = cells();
    core::grow(marks, space, "kastor::background::marks", n);
    core::grow(next_marks, space, "kastor::background::next_marks", n);
    std::uint8_t* from = marks.data();
    std::uint8_t* to = next_marks.data();
    const auto sky = [&] { return detail::SkyCells{mesh, values.data(), valid.data(), from}; };
    core::for_each("kastor::background::clear_marks", space, n, detail::ClearMark{from});
    for (int round = 1; round <= detail::SourceCellRule::rounds; ++round) {
      core::for_each("kastor::background::find_source_cells", space, n,
                     detail::FindSourceCells{counts.data(), sky(), to, round});
      std::swap(from, to);
    }
    core::for_each("kastor::background::grow_source_cells", space, n,
                   detail::GrowSourceCells{counts.data(), sky(), to});
    std::swap(from, to);
    core::for_each("kastor::background::bridge_source_cells", space, n,
                   detail::BridgeSourceCell{counts.data(), sky(), values.data()});
  }

  void make_nodes() {
    const std::int64_t n = cells();
    const detail::ColumnDistances distances{up.data(), down.data()};
    const detail::BothNodes nodes{level_nodes.data(), rms_nodes.data()};
    core::for_each("kastor::background::measure_columns", space, mesh.nx,
                   detail::MeasureColumn{counts.data(), mesh, valid.data(), distances});
    core::for_each("kastor::background::fill_cells", space, n,
                   detail::FillCell{counts.data(), mesh, distances, values.data()});
    const detail::Shape half{params.filter_height / 2, params.filter_width / 2};
    core::for_each("kastor::background::filter", space, n,
                   detail::FilterNode{mesh, half, values.data(), nodes, rms_factor()});
    if (params.interpolation == MeshInterpolation::bilinear) return;
    using Differentiate = detail::DifferentiateTwice;
    const auto differentiate = [&](const Differentiate& kernel) {
      core::for_each("kastor::background::differentiate", space, kernel.size(), kernel);
    };
    differentiate({mesh, nodes, false, &MeshNode::value, &MeshNode::d2y});
    differentiate({mesh, nodes, true, &MeshNode::value, &MeshNode::d2x});
    differentiate({mesh, nodes, true, &MeshNode::d2y, &MeshNode::d2x2y});
  }

  [[nodiscard]] double rms_factor() const {
    if (!params.correct_clip) return 1;
    return detail::clip_correction(params.clip.kappa, params.clip.max_passes);
  }

  /// The median of the values of the nodes. Fences.
  [[nodiscard]] double median_node(const Nodes& nodes) {
    const auto n = static_cast<std::size_t>(cells());
    core::grow(host_nodes, space, "kastor::background::host_nodes", cells());
    const Kokkos::View<MeshNode*, core::HostReadableSpace<Exec>> copied =
        Kokkos::subview(host_nodes, std::make_pair(std::size_t{0}, n));
    Kokkos::deep_copy(space, copied,
                      Kokkos::View<const MeshNode*, typename Exec::memory_space,
                                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>(nodes.data(), n));
    space.fence("kastor::background::summary");
    node_values.resize(n);
    for (std::size_t i = 0; i < n; ++i) node_values[i] = copied(i).value;
    return detail::median_of(node_values);
  }

  [[nodiscard]] std::int64_t cells() const { return mesh.ny * mesh.nx; }

  static constexpr const char* name = "kastor::BackgroundEstimator";
  Exec space;
  BackgroundParams params;
  detail::Shape image, mesh;
  detail::Shape cell;  ///< shape of a full cell, not cut by the border of the image
  core::RowReader<Exec, T> reader;
  List<detail::CellCounts> counts;
  List<detail::CellValue> values;
  List<std::uint8_t> valid, marks, next_marks;
  List<std::int32_t> up, down;
  List<core::BandRows<T>> band_table;
  Nodes level_nodes, rms_nodes;
  std::vector<core::BandRows<T>> host_bands;
  Kokkos::View<detail::CellCounts*, Kokkos::HostSpace> host_counts{
      "kastor::background::host_counts", 1};
  Kokkos::View<MeshNode*, core::HostReadableSpace<Exec>> host_nodes;
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
BackgroundMesh<Exec, T> BackgroundEstimator<Exec, T>::operator()(RowSource<T>& source,
                                                                 const StreamParams& stream,
                                                                 const BitMask<Exec>& exclude) {
  return m_plan->run(source, stream, exclude);
}
template <class Exec, Real T>
BackgroundMesh<Exec, T> BackgroundEstimator<Exec, T>::operator()(RowSource<T>& source,
                                                                 Communicator& ranks,
                                                                 const StreamParams& stream,
                                                                 const BitMask<Exec>& exclude) {
  return m_plan->run(source, ranks, stream, exclude);
}
template <class Exec, Real T>
BackgroundSummary BackgroundEstimator<Exec, T>::summary() {
  return m_plan->summary();
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::BackgroundEstimator<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
#undef KASTOR_INSTANTIATE
