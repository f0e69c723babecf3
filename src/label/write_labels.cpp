// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/instantiations.hpp>
#include <kastor/label.hpp>
#include <limits>
#include <string>

#include "core/bits.hpp"
#include "core/launch.hpp"
#include "core/pack.hpp"
#include "core/word_rows.hpp"

namespace kastor::detail {

/// Writes labels; an index is a piece of a row within a word of the mask.
template <class Exec, class Label>
struct WriteLabels {
  static constexpr std::int64_t width = core::write_width_v<Exec>;
  RunLabels<Exec> labels;
  LabelImage<Label, Exec> image;
  std::int64_t pieces_per_row;

  WriteLabels(const RunLabels<Exec>& l, const LabelImage<Label, Exec>& i)
      : labels(l), image(i), pieces_per_row((l.nx + width - 1) / width) {}
  [[nodiscard]] std::int64_t pieces() const { return labels.ny * pieces_per_row; }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = core::row_of_word(i, pieces_per_row);
    const std::int64_t x = (i - y * pieces_per_row) * width;
    const MaskRow row{&labels.mask.words(y, 0)};
    const std::int64_t w = x / 64;
    const std::uint64_t of_word = labels.starts_of(y, w);
    const std::uint64_t bits = row.words[w] >> (x % 64), starts = of_word >> (x % 64);
    std::uint32_t begun = labels.first_in_word(y * ((labels.nx + 63) / 64) + w) +
                          static_cast<std::uint32_t>(core::popcount(of_word)) -
                          static_cast<std::uint32_t>(core::popcount(starts));
    Label* const pixels = &image(y, x);
    const std::int64_t n = labels.nx - x < width ? labels.nx - x : width;
    for (std::int64_t k = 0; k < n; ++k) {
      begun += static_cast<std::uint32_t>(starts >> k & 1);
      pixels[k] = (bits >> k & 1) != 0 ? static_cast<Label>(labels.label(begun - 1)) : Label{0};
    }
  }
};

}  // namespace kastor::detail

namespace kastor {

template <class Exec, class Label>
void write_labels(
    const Exec& space, const RunLabels<Exec>& labels,
    const Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space>& image) {
  KASTOR_EXPECTS("kastor::write_labels",
                 static_cast<std::int64_t>(image.extent(0)) == labels.ny &&
                     static_cast<std::int64_t>(image.extent(1)) == labels.nx,
                 "the image is " + std::to_string(image.extent(0)) + " x " +
                     std::to_string(image.extent(1)) + " pixels; expected " +
                     std::to_string(labels.ny) + " x " + std::to_string(labels.nx));
  KASTOR_EXPECTS("kastor::write_labels",
                 labels.components <= std::int64_t{std::numeric_limits<Label>::max()},
                 "there are " + std::to_string(labels.components) + " labels; expected at most " +
                     std::to_string(std::numeric_limits<Label>::max()) + " for this type of pixel");
  const detail::WriteLabels<Exec, Label> write(labels, image);
  core::for_each("kastor::label::write_labels", space, write.pieces(), write);
}

}  // namespace kastor

#define KASTOR_INSTANTIATE_WRITE(EXEC, LABEL)      \
  template void kastor::write_labels<EXEC, LABEL>( \
      const EXEC&, const kastor::RunLabels<EXEC>&, \
      const Kokkos::View<LABEL**, Kokkos::LayoutRight, EXEC::memory_space>&);
#define KASTOR_INSTANTIATE(EXEC)               \
  KASTOR_INSTANTIATE_WRITE(EXEC, std::int32_t) \
  KASTOR_INSTANTIATE_WRITE(EXEC, std::int64_t)
KASTOR_FOR_EACH_EXEC(KASTOR_INSTANTIATE)
