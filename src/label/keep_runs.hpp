// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_LABEL_KEEP_RUNS_HPP
#define KASTOR_LABEL_KEEP_RUNS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/threshold.hpp>

#include "core/interval.hpp"
#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "label/number_runs.hpp"
#include "label/run_lists.hpp"

/// Runs of foreground that are kept with their pixels, so that the image is not needed any more.
namespace kastor::detail {

/// A scan over new runs: copies their pixels behind those of earlier runs.
template <class T>
struct CopyPixels {
  using value_type = std::int64_t;
  const std::int32_t *begin, *end;
  std::int32_t* row;  ///< within the band; becomes that of the image
  std::int64_t* value_at;
  Rows<T> band;
  std::int64_t first_row;
  std::int64_t before;  ///< pixels of earlier runs
  T* values;            ///< null if pixels are not kept

  KOKKOS_FUNCTION void operator()(std::int64_t i, value_type& pixels, bool is_final) const {
    const std::int64_t n = end[i] - begin[i];
    if (is_final) {
      value_at[i] = before + pixels;
      if (values != nullptr) {
        const T* const from = band.data + row[i] * band.pitch + begin[i];
        for (std::int64_t k = 0; k < n; ++k) values[before + pixels + k] = from[k];
      }
      row[i] += static_cast<std::int32_t>(first_row);
    }
    pixels += n;
  }
};

/// A scan over runs: lists the parts of them whose pixels are in an interval.
template <class T>
struct PartsWithin {
  struct Counts {
    std::int64_t runs = 0, pixels = 0;
    KOKKOS_FUNCTION Counts& operator+=(const Counts& other) {
      runs += other.runs;
      pixels += other.pixels;
      return *this;
    }
  };
  using value_type = Counts;
  const std::int32_t *begin, *end, *row;
  const std::int64_t* value_at;
  const T* values;
  core::Interval<T> interval;
  std::int64_t runs;
  std::int32_t *part_begin, *part_end, *part_row;  ///< null: only count
  std::int64_t* part_value_at;
  Counts* all;  ///< in memory that the host reads

  KOKKOS_FUNCTION void operator()(std::int64_t i, value_type& before, bool is_final) const {
    const T* const pixel = values + value_at[i] - begin[i];
    bool is_in = false;
    for (std::int32_t x = begin[i]; x < end[i]; ++x) {
      const bool was_in = is_in;
      is_in = interval.contains(pixel[x]);
      if (is_in && !was_in && is_final && part_begin != nullptr) {
        part_begin[before.runs] = x;
        part_row[before.runs] = row[i];
        part_value_at[before.runs] = value_at[i] + (x - begin[i]);
      }
      if (is_in && is_final && part_begin != nullptr) {
        part_end[is_in && !was_in ? before.runs : before.runs - 1] = x + 1;
      }
      before.runs += is_in && !was_in ? 1 : 0;
      before.pixels += is_in ? 1 : 0;
    }
    if (is_final && i == runs - 1) *all = before;
  }
};

/// Lists of runs that grow band by band, and their pixels.
template <class Exec, class T>
class KeptRuns {
 public:
  explicit KeptRuns(const Exec& space)
      : m_space(space),
        m_counts(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::label::kept")),
        m_parts(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::label::parts")) {}

  /// Begins anew. \param memory  for pixels [bytes]: beyond it they are not kept
  void begin(std::int64_t memory) {
    m_lists.runs = m_lists.pixels = 0;
    m_most_values = memory / std::int64_t{sizeof(T)};
    m_has_values = true;
  }
  /// Whether all pixels were kept; if not, only the runs are of use.
  [[nodiscard]] bool has_values() const { return m_has_values; }
  [[nodiscard]] RunLists<Exec>& lists() { return m_lists; }
  [[nodiscard]] const T* values() const { return m_values.data(); }

  /// Adds the runs of a band's mask. Fences.
  void add(const ConstImage<T, Exec>& band, std::int64_t first_row, const BitMask<Exec>& mask) {
    const std::int64_t words = mask.ny * mask.words_per_row();
    core::grow(m_first_in_word, m_space, "kastor::label::kept_first_in_word", words + 1);
    do {
      number(mask, words);
    } while (!has_room());
    const auto found = static_cast<std::int64_t>(m_counts().runs);
    if (found == 0) return;
    const std::int64_t runs = m_lists.runs;
    const CopyPixels<T> copy{m_lists.begin.data() + runs,
                             m_lists.end.data() + runs,
                             m_lists.row.data() + runs,
                             m_lists.value_at.data() + runs,
                             rows_of<T, Exec>(band),
                             first_row,
                             m_lists.pixels,
                             m_has_values ? m_values.data() : nullptr};
    core::scan("kastor::label::copy_pixels", m_space, found, copy);
    m_lists.runs += found;
    m_lists.pixels += static_cast<std::int64_t>(m_counts().pixels);
    m_space.fence("kastor::label: the runs are kept");
  }

  /// The parts of the runs whose pixels are within an interval; needs their pixels. Fences.
  void parts_within(const core::Interval<T>& interval, RunLists<Exec>& parts) {
    m_parts() = {};
    list_parts(interval, nullptr);
    parts.runs = 0;
    parts.reserve(m_space, m_parts().runs);
    parts.runs = m_parts().runs;
    parts.pixels = m_parts().pixels;
    if (parts.runs > 0) list_parts(interval, &parts);
  }

 private:
  void number(const BitMask<Exec>& mask, std::int64_t words) {
    const std::int64_t runs = m_lists.runs;
    const RunTable table{{mask.words.data(), words, mask.words_per_row()},
                         mask.ny,
                         mask.nx,
                         m_lists.capacity() - runs,
                         m_first_in_word.data(),
                         m_lists.begin.data() + runs,
                         m_lists.end.data() + runs,
                         m_lists.row.data() + runs,
                         nullptr,
                         nullptr,
                         m_lists.parent.data() + runs,
                         m_counts.data()};
    const NumberRuns kernel{table, nullptr};
    core::scan("kastor::label::number_kept", m_space, kernel.blocks(), kernel);
    m_space.fence("kastor::label: the runs are counted");
  }
  /// False if the lists of runs were too short; they have grown.
  [[nodiscard]] bool has_room() {
    const auto found = static_cast<std::int64_t>(m_counts().runs);
    const std::int64_t pixels = m_lists.pixels + static_cast<std::int64_t>(m_counts().pixels);
    if (pixels > m_most_values) m_has_values = false;
    if (m_has_values) grow_kept(m_values, m_space, "kastor::label::values", m_lists.pixels, pixels);
    if (m_lists.runs + found <= m_lists.capacity()) return true;
    m_lists.reserve(m_space, m_lists.runs + found);
    return false;
  }
  void list_parts(const core::Interval<T>& interval, RunLists<Exec>* parts) {
    PartsWithin<T> list{m_lists.begin.data(),
                        m_lists.end.data(),
                        m_lists.row.data(),
                        m_lists.value_at.data(),
                        m_values.data(),
                        interval,
                        m_lists.runs,
                        nullptr,
                        nullptr,
                        nullptr,
                        nullptr,
                        m_parts.data()};
    if (parts != nullptr) {
      list.part_begin = parts->begin.data();
      list.part_end = parts->end.data();
      list.part_row = parts->row.data();
      list.part_value_at = parts->value_at.data();
    }
    core::scan("kastor::label::parts_within", m_space, m_lists.runs, list);
    m_space.fence("kastor::label: the parts are listed");
  }

  Exec m_space;
  RunLists<Exec> m_lists;
  std::int64_t m_most_values = 0;
  bool m_has_values = true;
  Kokkos::View<T*, typename Exec::memory_space> m_values;
  Kokkos::View<std::uint32_t*, typename Exec::memory_space> m_first_in_word;
  Kokkos::View<LabelCounts, core::HostReadableSpace<Exec>> m_counts;
  Kokkos::View<typename PartsWithin<T>::Counts, core::HostReadableSpace<Exec>> m_parts;
};

}  // namespace kastor::detail

#endif
