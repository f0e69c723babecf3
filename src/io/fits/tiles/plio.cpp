// SPDX-License-Identifier: Apache-2.0
#include "io/fits/tiles/plio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <kastor/error.hpp>
#include <string>

namespace kastor::io::detail {
namespace {

/// What the four high bits of a word tell to do with the twelve low ones.
enum class LineOpcode : std::uint8_t {
  zeros = 0,          // ZN: a run of zeros
  set_high = 1,       // SH: the value is the next word, then these bits
  increase = 2,       // IH: add to the value
  decrease = 3,       // DH: subtract from the value
  values = 4,         // HN: a run of the value
  zeros_value = 5,    // PN: zeros, the last of the run is the value
  increase_once = 6,  // IS: add to the value, which is the next one
  decrease_once = 7   // DS: subtract from the value, which is the next one
};

/// The words of a line list after its header.
class LineList {
 public:
  explicit LineList(std::span<const std::uint8_t> data) : m_data(data) {
    const std::size_t words = data.size() / 2;
    if (words < 3) fail(fmt::format("they have {} bytes; expected a header", data.size()));
    // The third word is the length in the older header of three words, and negative in the newer
    // one, of as many words as the second one says.
    m_end = word_at(2);
    m_next = 3;
    if (is_negative(m_end) || m_end == 0) {
      if (words < 5) fail(fmt::format("they have {} bytes; expected a header", data.size()));
      m_next = word_at(1);
      m_end = (word_at(4) << 15) + word_at(3);
      if (m_next < 5 || is_negative(word_at(1)) || is_negative(word_at(3)) ||
          is_negative(word_at(4)))
        fail("their header has an unusable length");
    }
    if (m_end < m_next || m_end > words) {
      fail(
          fmt::format("they say that they have {} words; expected {} to {}", m_end, m_next, words));
    }
  }

  [[nodiscard]] bool empty() const { return m_next == m_end; }
  [[nodiscard]] std::uint32_t take() {
    if (empty()) fail("their last word needs another one");
    return word_at(m_next++);
  }

  [[noreturn]] static void fail(const std::string& what) {
    throw Error("the PLIO_1 data are damaged: " + what);
  }

 private:
  static bool is_negative(std::uint32_t word) { return word >= 0x8000; }
  [[nodiscard]] std::uint32_t word_at(std::size_t i) const {
    return (std::uint32_t{m_data[2 * i]} << 8) | m_data[2 * i + 1];
  }

  std::span<const std::uint8_t> m_data;
  std::uint32_t m_next = 0;
  std::uint32_t m_end = 0;
};

/// The next `count` of the values not decoded yet, which loses them.
std::span<std::int32_t> next_values(std::span<std::int32_t>& left, std::size_t count,
                                    std::size_t size) {
  if (count > left.size())
    LineList::fail(fmt::format("they have more than {} values, of which the tile is", size));
  const auto run = left.first(count);
  left = left.subspan(count);
  return run;
}

}  // namespace

void decode_plio(std::span<const std::uint8_t> data, std::span<std::int32_t> out) {
  LineList list(data);
  std::span<std::int32_t> left = out;
  std::uint32_t value = 1;  // sums wrap around
  while (!list.empty()) {
    const std::uint32_t word = list.take();
    const std::uint32_t low = word & 0xfff;
    const auto opcode = static_cast<LineOpcode>(word >> 12);
    switch (opcode) {
      case LineOpcode::set_high:
        value = (list.take() << 12) + low;
        break;
      case LineOpcode::increase:
      case LineOpcode::increase_once:
        value += low;
        break;
      case LineOpcode::decrease:
      case LineOpcode::decrease_once:
        value -= low;
        break;
      default:
        break;
    }
    const auto here = static_cast<std::int32_t>(value);
    switch (opcode) {
      case LineOpcode::zeros:
      case LineOpcode::values:
      case LineOpcode::zeros_value: {
        const auto run = next_values(left, low, out.size());
        std::fill(run.begin(), run.end(), opcode == LineOpcode::values ? here : 0);
        if (opcode == LineOpcode::zeros_value && !run.empty()) run.back() = here;
        break;
      }
      case LineOpcode::increase_once:
      case LineOpcode::decrease_once:
        next_values(left, 1, out.size())[0] = here;
        break;
      case LineOpcode::set_high:
      case LineOpcode::increase:
      case LineOpcode::decrease:
        break;
      default:
        LineList::fail(fmt::format("they have the opcode {}; expected 0 to 7", word >> 12));
    }
  }
  std::fill(left.begin(), left.end(), 0);
}

}  // namespace kastor::io::detail
