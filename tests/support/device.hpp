// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_DEVICE_HPP
#define KASTOR_TESTS_DEVICE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/label.hpp>
#include <kastor/threshold.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "naive.hpp"

/// Between the plain host containers of the references and the memory of an execution space.
namespace testing_support {

template <class T>
using HostView = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// An image, or labels of one, to be filled.
template <class Exec, class T>
[[nodiscard]] kastor::Image<T, Exec> new_image(const std::string& label, std::int64_t ny,
                                               std::int64_t nx) {
  return kastor::Image<T, Exec>(label, static_cast<std::size_t>(ny), static_cast<std::size_t>(nx));
}

/// The values of a grid of the host's as a View.
template <class Grid>
[[nodiscard]] auto view_of(const Grid& grid) {
  using Value = std::remove_reference_t<decltype(*grid.values.data())>;
  return HostView<Value>(grid.values.data(), static_cast<std::size_t>(grid.ny),
                         static_cast<std::size_t>(grid.nx));
}

template <class Exec, class T>
[[nodiscard]] kastor::Image<T, Exec> to_device(const HostImage<T>& image) {
  kastor::Image<T, Exec> result(Kokkos::view_alloc(Kokkos::WithoutInitializing, "test::image"),
                                static_cast<std::size_t>(image.ny),
                                static_cast<std::size_t>(image.nx));
  Kokkos::deep_copy(result, view_of(image));
  return result;
}

template <class V>
[[nodiscard]] HostGrid<typename V::non_const_value_type> to_host_grid(const V& image) {
  using T = typename V::non_const_value_type;
  HostGrid<T> result(static_cast<std::int64_t>(image.extent(0)),
                     static_cast<std::int64_t>(image.extent(1)));
  Kokkos::deep_copy(HostView<T>(result.values.data(), image.extent(0), image.extent(1)), image);
  return result;
}

/// An image inside a larger one, so that its pitch is not its width.
template <class Exec, class T>
struct CutOut {
  kastor::Image<T, Exec> owner;
  kastor::ConstImage<T, Exec> image;
};

/// The pixels around the cut-out would spoil every figure.
template <class Exec, class T>
[[nodiscard]] CutOut<Exec, T> to_device_cut_out(const HostImage<T>& image) {
  constexpr std::int64_t top = 2, bottom = 1, left = 3, right = 66;
  HostImage<T> larger(top + image.ny + bottom, left + image.nx + right, T(1e9));
  for (std::int64_t y = 0; y < image.ny; ++y) {
    for (std::int64_t x = 0; x < image.nx; ++x) larger(top + y, left + x) = image(y, x);
  }
  CutOut<Exec, T> result;
  result.owner = to_device<Exec>(larger);
  result.image = Kokkos::subview(result.owner, std::make_pair(top, top + image.ny),
                                 std::make_pair(left, left + image.nx));
  return result;
}

/// `count` bands of nearly equal height; fewer if the image has fewer rows.
template <class Exec, class T>
[[nodiscard]] std::vector<kastor::ConstImage<T, Exec>> split_into_bands(
    const kastor::ConstImage<T, Exec>& image, std::int64_t count) {
  const auto ny = static_cast<std::int64_t>(image.extent(0));
  std::vector<kastor::ConstImage<T, Exec>> bands;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = i * ny / count;
    const std::int64_t last = (i + 1) * ny / count;
    if (first == last) continue;
    bands.emplace_back(Kokkos::subview(image, std::make_pair(first, last), Kokkos::ALL));
  }
  return bands;
}

template <class Exec>
[[nodiscard]] kastor::BitMask<Exec> to_device_mask(const HostMask& mask) {
  const HostGrid<std::uint64_t> words = pack_naive(mask);
  auto result = kastor::make_bit_mask(Exec{}, mask.ny, mask.nx);
  Kokkos::deep_copy(result.words, view_of(words));
  return result;
}

/// The first `count` entries.
template <class List>
[[nodiscard]] std::vector<typename List::non_const_value_type> to_host_list(const List& list,
                                                                            std::int64_t count) {
  if (static_cast<std::int64_t>(list.extent(0)) < count) {
    throw std::runtime_error("the list " + list.label() + " is shorter than its count");
  }
  std::vector<typename List::non_const_value_type> result(static_cast<std::size_t>(count));
  if (count == 0) return result;
  const auto host = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace{}, Kokkos::subview(list, std::make_pair(std::int64_t{0}, count)));
  for (std::int64_t i = 0; i < count; ++i) result[static_cast<std::size_t>(i)] = host(i);
  return result;
}

template <class Exec>
[[nodiscard]] HostRuns to_host_runs(const kastor::RunLabels<Exec>& labels) {
  HostRuns runs;
  runs.ny = labels.ny;
  runs.nx = labels.nx;
  runs.runs = labels.runs;
  runs.components = labels.components;
  runs.foreground_pixels = labels.foreground_pixels;
  runs.begin = to_host_list(labels.begin, labels.runs);
  runs.end = to_host_list(labels.end, labels.runs);
  runs.row = to_host_list(labels.row, labels.runs);
  runs.label = to_host_list(labels.label, labels.runs);
  runs.first_run = to_host_list(labels.first_run, labels.components);
  return runs;
}

/// `kastor::write_labels` and the result on the host.
template <class Label, class Exec>
[[nodiscard]] HostGrid<std::int64_t> to_host_labels(const kastor::RunLabels<Exec>& labels) {
  const Exec space;
  const auto image = new_image<Exec, Label>("test::labels", labels.ny, labels.nx);
  Kokkos::deep_copy(image, Label{-1});
  kastor::write_labels(space, labels, image);
  space.fence("test::to_host_labels");
  const HostGrid<Label> narrow = to_host_grid(image);
  HostGrid<std::int64_t> result(narrow.ny, narrow.nx);
  result.values.assign(narrow.values.begin(), narrow.values.end());
  return result;
}

}  // namespace testing_support

#endif
