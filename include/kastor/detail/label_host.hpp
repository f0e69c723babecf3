// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LABEL_HOST_HPP
#define KASTOR_DETAIL_LABEL_HOST_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/run_table.hpp>

/// The steps of labelling where a worker goes through a stretch of its own, a part, in order.
namespace kastor::detail {

struct PartsOfWords {
  RunTable table;
  std::int64_t parts;

  [[nodiscard]] std::int64_t first(std::int64_t part) const {
    const std::int64_t share = (table.words.count + parts - 1) / parts;
    return part * share < table.words.count ? part * share : table.words.count;
  }

  /// Calls `zeros(i, n)` for stretches of words that are 0, `other(i, y, w)` for the other words,
  /// the w-th of row y.
  template <class Zeros, class Other>
  void for_each_word(std::int64_t part, const Zeros& zeros, const Other& other) const {
    const std::int64_t per_row = table.words.per_row;
    const std::int64_t past = first(part + 1);
    for (std::int64_t i = first(part); i < past;) {
      const std::int64_t y = i / per_row;
      const std::int64_t end = std::min((y + 1) * per_row, past);
      stretch(i, end, zeros, [&](std::int64_t word) { other(word, y, word - y * per_row); });
      i = end;
    }
  }

 private:
  template <class Zeros, class Other>
  void stretch(std::int64_t i, std::int64_t past, const Zeros& zeros, const Other& other) const {
    constexpr std::int64_t block = 8;
    const std::uint64_t* words = table.words.data;
    const auto one = [&](std::int64_t k) {
      if (words[k] == 0) {
        zeros(k, 1);
      } else {
        other(k);
      }
    };
    for (; i + block <= past; i += block) {
      std::uint64_t any = 0;
      for (std::int64_t k = 0; k < block; ++k) any |= words[i + k];
      if (any == 0) {
        zeros(i, block);
      } else {
        for (std::int64_t k = 0; k < block; ++k) one(i + k);
      }
    }
    for (; i < past; ++i) one(i);
  }
};

struct CountRunsInParts {
  PartsOfWords work;

  void operator()(std::int64_t part) const {
    const MaskWords& words = work.table.words;
    std::uint64_t runs = 0;
    work.for_each_word(
        part, [](std::int64_t, std::int64_t) {},
        [&](std::int64_t i, std::int64_t, std::int64_t w) {
          runs += ones_in(words.starts(i, w, words.data[i]));
        });
    work.table.totals.runs[part] = runs;
  }
};

/// A single part needs no count before.
struct NumberRunsInParts {
  PartsOfWords work;

  void operator()(std::int64_t part) const {
    const RunTable table = work.table;
    std::uint64_t before = 0;
    for (std::int64_t p = 0; p < part; ++p) before += table.totals.runs[p];
    std::uint64_t pixels = 0;
    work.for_each_word(
        part,
        [&](std::int64_t i, std::int64_t n) {
          const auto runs = static_cast<std::uint32_t>(before);
          for (std::int64_t k = 0; k < n; ++k) table.first_in_word[i + k] = runs;
        },
        [&](std::int64_t i, std::int64_t y, std::int64_t w) {
          const std::uint64_t word = table.words.data[i];
          const std::uint64_t starts = table.words.starts(i, w, word);
          table.first_in_word[i] = static_cast<std::uint32_t>(before);
          table.fill_word(y, w, word, starts, before);
          before += ones_in(starts);
          pixels += ones_in(word);
        });
    table.totals.pixels[part] = pixels;
    if (part == work.parts - 1) {
      table.first_in_word[table.words.count] = static_cast<std::uint32_t>(before);
      table.counts->runs = before;
    }
  }
};

/// Goes along two rows at once: the runs of the row above that touch a run are consecutive.
template <class Exec>
struct UniteAlongRows {
  RunTable table;
  std::int64_t workers;
  std::int32_t reach;  ///< 0: edges only, 1: corners too

  void operator()(std::int64_t worker) const {
    const UnionFind forest = table.forest();
    const RunLoop<Exec> loop(worker, workers, 0, table.runs());
    std::int64_t y = -1;
    std::uint32_t above = 0;
    std::uint32_t past_above = 0;
    for (std::int64_t i = loop.first; i < loop.past; ++i) {
      if (table.row[i] != y) {
        y = table.row[i];
        above = past_above = table.first_in_word[y * table.words.per_row];
        if (y > 0) above = table.first_in_word[(y - 1) * table.words.per_row];
      }
      while (above < past_above && table.end[above] + reach <= table.begin[i]) ++above;
      for (std::uint32_t a = above; a < past_above && table.begin[a] < table.end[i] + reach; ++a) {
        const auto mine = static_cast<std::uint32_t>(i);
        workers == 1 ? forest.unite_alone(mine, a) : forest.unite(mine, a);
      }
    }
  }
};

template <class Exec>
struct RankRootsInParts {
  RunTable table;
  std::int64_t workers;

  void operator()(std::int64_t worker) const {
    const RunLoop<Exec> loop(worker, workers, 0, table.runs());
    std::uint32_t roots = 0;
    std::uint32_t dropped = 0;
    for (std::int64_t run = loop.first; run < loop.past; ++run) {
      const bool kept = table.is_kept_root(run);
      table.rank[run] = kept ? roots++ : RunTable::dropped;
      if (!kept && table.forest().is_root(static_cast<std::uint32_t>(run))) ++dropped;
    }
    table.totals.roots[worker] = roots;
    table.totals.dropped[worker] = dropped;
  }
};

/// One worker alone: totals become the number of roots before.
struct AddUpParts {
  RunTable table;
  std::int64_t word_parts;
  std::int64_t run_parts;

  void operator()(std::int64_t) const {
    std::uint64_t pixels = 0;
    for (std::int64_t p = 0; p < word_parts; ++p) pixels += table.totals.pixels[p];
    std::uint32_t roots = 0;
    std::uint32_t dropped = 0;
    for (std::int64_t p = 0; p < run_parts; ++p) {
      dropped += table.totals.dropped[p];
      const std::uint32_t more = table.totals.roots[p];
      table.totals.roots[p] = roots;
      roots += more;
    }
    table.publish(pixels, roots, dropped);
  }
};

template <class Exec>
struct LabelRunsInParts {
  RunTable table;
  std::int64_t workers;

  void operator()(std::int64_t worker) const {
    const RunLoop<Exec> loop(worker, workers, 0, table.runs());
    if (loop.first >= loop.past) return;
    const auto first = static_cast<std::uint32_t>(loop.first);
    const auto share = static_cast<std::uint32_t>((table.runs() + workers - 1) / workers);
    for (std::int64_t run = loop.first; run < loop.past; ++run) {
      const std::uint32_t root = table.forest().find(static_cast<std::uint32_t>(run));
      table.label_run(run, root, table.totals.roots[root >= first ? worker : root / share]);
    }
  }
};

}  // namespace kastor::detail

#endif
