// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <kastor/communicator.hpp>
#include <kastor/error.hpp>
#include <new>
#include <string>

namespace kastor {

namespace {

[[nodiscard]] std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    return "not enough memory";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown failure";
  }
}

[[nodiscard]] std::string name_of(const Communicator& ranks) {
  const std::string machine = ranks.machine();
  return "rank " + std::to_string(ranks.rank()) + (machine.empty() ? "" : " (" + machine + ")");
}

/// FNV-1a, 32 bits: no square of it is above 64 bits.
[[nodiscard]] std::uint64_t hash_of(std::string_view text) {
  std::uint32_t hash = 0x811c9dc5U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193U;
  return hash;
}

}  // namespace

Communicator::~Communicator() = default;

std::string Communicator::machine() const { return {}; }

std::int64_t Communicator::sum_before(std::int64_t mine) {
  const Pieces all = gather(std::as_bytes(std::span(&mine, 1)));
  std::int64_t before = 0;
  for (int i = 0; i < rank(); ++i) {
    std::int64_t of_rank = 0;
    std::memcpy(&of_rank, all[static_cast<std::size_t>(i)].data(), sizeof of_rank);
    before += of_rank;
  }
  return before;
}

void Communicator::agree(const std::exception_ptr& failure, std::string_view part) {
  const std::uint64_t key = hash_of(part);
  std::array<std::uint64_t, 3> sums{failure ? std::uint64_t{1} : std::uint64_t{0}, key, key * key};
  sum(sums);
  const auto [failures, total, squares] = sums;
  // Equal keys have the variance 0, and every rank finds it from the same sums.
  const bool is_one_way = static_cast<std::uint64_t>(size()) * squares == total * total;
  m_has_failed = m_has_failed || !is_one_way || failures > 0;
  if (!is_one_way) {
    if (failure) std::rethrow_exception(failure);
    throw Error("the ranks have gone different ways: " + name_of(*this) + " has ended the part \"" +
                std::string(part) + "\", another rank another part");
  }
  if (failures == 0) return;
  const std::string mine = failure ? name_of(*this) + ": " + text_of(failure) : std::string();
  const Pieces texts = gather(std::as_bytes(std::span(mine)));
  if (failure) std::rethrow_exception(failure);
  for (const std::vector<std::byte>& text : texts) {
    if (text.empty()) continue;
    throw Error(std::string(reinterpret_cast<const char*>(text.data()), text.size()));
  }
}

}  // namespace kastor
