// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <kastor/communicator.hpp>
#include <kastor/error.hpp>
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

}  // namespace

Communicator::~Communicator() = default;

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

void Communicator::agree(const std::exception_ptr& failure) {
  std::array<std::uint64_t, 1> failures{failure ? std::uint64_t{1} : std::uint64_t{0}};
  sum(failures);
  if (failures[0] == 0) return;
  const std::string mine = failure ? text_of(failure) : std::string();
  const Pieces texts = gather(std::as_bytes(std::span(mine)));
  if (failure) std::rethrow_exception(failure);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].empty()) continue;
    throw Error("rank " + std::to_string(i) + ": " +
                std::string(reinterpret_cast<const char*>(texts[i].data()), texts[i].size()));
  }
  throw Error("kastor: a rank has failed without a text");
}

}  // namespace kastor
