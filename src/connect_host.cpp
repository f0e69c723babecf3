// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <kastor/detail/connect_host.hpp>
#include <numeric>

#include "plain_vectors.hpp"
#include "x86_vectors.hpp"

namespace kastor::detail {
namespace {

/// The root; halves the path.
std::uint32_t find(std::uint32_t* parent, std::uint32_t i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

/// The result is the root of both.
[[gnu::noinline]] std::uint32_t unite(std::uint32_t* parent, std::uint32_t a, std::uint32_t b) {
  a = find(parent, a);
  b = find(parent, b);
  return parent[std::max(a, b)] = std::min(a, b);
}

/// Unites runs with runs of the row above, in order. A run that has touched none before joins the
/// set of the one above; if it has, it is as a rule in that set. Links go to smaller numbers.
class RunJoiner {
 public:
  /// After `begun` runs. If the last one goes on, it is looked up whom it touched so far; otherwise
  /// it may be another thread's.
  RunJoiner(std::uint32_t* parent, std::uint32_t begun, bool last_goes_on)
      : m_parent(parent), m_run(begun - 1), m_parent_of_run(last_goes_on ? parent[begun - 1] : 0) {}

  [[gnu::always_inline]] void join(std::uint32_t above, std::uint32_t run) {
    // One step more than needed: most often that is the root, and there is nothing to unite.
    const std::uint32_t of_above = m_parent[m_parent[above]];
    // Known without a look at what was written just now, which would take longest; and without a
    // branch, since half of the runs may be new. No run comes after a later one.
    const auto if_new = static_cast<std::uint32_t>(static_cast<std::int32_t>(m_run - run) >> 31);
    const std::uint32_t mine = m_parent_of_run ^ ((m_parent_of_run ^ of_above) & if_new);
    m_run = run;
    m_parent_of_run = mine == of_above ? mine : unite(m_parent, mine, of_above);
    m_parent[run] = m_parent_of_run;
  }

 private:
  std::uint32_t* m_parent;
  std::uint32_t m_run;
  std::uint32_t m_parent_of_run;
};

#define KASTOR_LOOPS "connect_host_loop.hpp"
#include "loops_at_levels.hpp"
#undef KASTOR_LOOPS

}  // namespace

std::uint64_t count_runs_on_host(HostLevel level, const RunLists& lists, std::int64_t first_row,
                                 std::int64_t past_row) {
  KASTOR_RETURN_AT_LEVEL(level, count_runs(lists, first_row, past_row));
}

RunCounts connect_rows_on_host(HostLevel level, const RunLists& lists, std::int64_t first_row,
                               std::int64_t past_row, std::uint64_t before, std::uint64_t limit) {
  KASTOR_RETURN_AT_LEVEL(level, connect_rows(lists, first_row, past_row, before, limit));
}

}  // namespace kastor::detail
