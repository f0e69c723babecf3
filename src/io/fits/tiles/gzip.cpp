// SPDX-License-Identifier: Apache-2.0
#include "io/fits/tiles/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <kastor/error.hpp>
#include <limits>
#include <string>

namespace kastor::io::detail {
namespace {

/// What zlib needs while it unpacks one member of a gzip file.
class GzipMember {
 public:
  GzipMember() {
    constexpr int gzip_only = 16;
    if (inflateInit2(&m_stream, MAX_WBITS + gzip_only) != Z_OK)
      throw ResourceError("zlib: out of memory; expected enough of it to unpack a tile");
  }
  ~GzipMember() { inflateEnd(&m_stream); }
  GzipMember(const GzipMember&) = delete;
  GzipMember& operator=(const GzipMember&) = delete;

  /// Unpacks, and shortens both spans by what was read and written. Returns zlib's answer.
  int unpack(std::span<const std::uint8_t>& data, std::span<std::uint8_t>& out) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    std::uint8_t nowhere = 0;  // zlib takes no null pointer, even to no bytes
    const auto given = static_cast<uInt>(std::min(most, data.size()));
    const auto room = static_cast<uInt>(std::min(most, out.size()));
    m_stream.next_in = const_cast<Bytef*>(data.data());
    m_stream.avail_in = given;
    m_stream.next_out = out.empty() ? &nowhere : out.data();
    m_stream.avail_out = room;
    const int answer = inflate(&m_stream, Z_NO_FLUSH);
    data = data.subspan(given - m_stream.avail_in);
    out = out.subspan(room - m_stream.avail_out);
    return answer;
  }

  [[nodiscard]] const char* message() const {
    return m_stream.msg == nullptr ? "no more is known" : m_stream.msg;
  }

 private:
  z_stream m_stream{};
};

template <std::size_t Bytes>
void unshuffle_values(std::span<const std::uint8_t> shuffled, std::span<std::uint8_t> out) {
  const std::size_t count = out.size() / Bytes;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < Bytes; ++k) out[i * Bytes + k] = shuffled[k * count + i];
}

}  // namespace

std::size_t decode_gzip(std::span<const std::uint8_t> data, std::span<std::uint8_t> out) {
  const std::size_t size = out.size();
  GzipMember member;
  while (true) {
    const int answer = member.unpack(data, out);
    const std::size_t done = size - out.size();
    if (answer == Z_STREAM_END) return done;
    if (answer == Z_OK && (!data.empty() || !out.empty())) continue;
    if (answer == Z_MEM_ERROR)
      throw ResourceError("zlib: out of memory; expected enough of it to unpack a tile");
    if (answer != Z_OK && answer != Z_BUF_ERROR) {
      throw Error(fmt::format("the gzip data are damaged after {} of {} bytes ({})", done, size,
                              member.message()));
    }
    if (data.empty()) {
      throw Error(done < size ? fmt::format("the gzip data end after {} of {} bytes", done, size)
                              : std::string("the gzip data end before their checksum"));
    }
    throw Error(fmt::format("the gzip data are of more than {} bytes", size));
  }
}

void unshuffle(std::span<const std::uint8_t> shuffled, int bytes_per_value,
               std::span<std::uint8_t> out) {
  const auto bytes = static_cast<std::size_t>(bytes_per_value);
  const bool known = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  if (!known || shuffled.size() != out.size() || out.size() % bytes != 0) {
    throw Error(
        fmt::format("{} shuffled bytes for {} bytes of values of {} bytes; expected as many, of "
                    "whole values of 1, 2, 4 or 8 bytes",
                    shuffled.size(), out.size(), bytes_per_value));
  }
  switch (bytes) {
    case 1:
      return unshuffle_values<1>(shuffled, out);
    case 2:
      return unshuffle_values<2>(shuffled, out);
    case 4:
      return unshuffle_values<4>(shuffled, out);
    default:
      return unshuffle_values<8>(shuffled, out);
  }
}

}  // namespace kastor::io::detail
