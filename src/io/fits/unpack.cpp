// SPDX-License-Identifier: Apache-2.0
#include "io/fits/unpack.hpp"

#include <bzlib.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <kastor/error.hpp>
#include <new>
#include <string_view>
#include <vector>

namespace kastor::io::detail {
namespace {

constexpr std::int64_t k_input = std::int64_t{1} << 18;
constexpr std::int64_t k_first_room = std::int64_t{1} << 20;
// Deflate cannot gain more: 258 bytes for two bits.
constexpr std::int64_t k_most_gzip_gain = 1032;

/// Reads a file piece by piece.
class PackedInput {
 public:
  explicit PackedInput(const PackedFile& file)
      : m_file(file), m_bytes(static_cast<std::size_t>(k_input)) {}

  /// The next piece; of size 0 at the end.
  [[nodiscard]] std::string_view next() {
    ssize_t got = -1;
    do {
      got = ::pread(m_file.descriptor, m_bytes.data(), m_bytes.size(), m_at);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
      throw Error(fmt::format("{}; expected a file that can be read", std::strerror(errno)));
    m_at += got;
    return {m_bytes.data(), static_cast<std::size_t>(got)};
  }
  [[nodiscard]] std::int64_t position() const { return m_at; }

 private:
  const PackedFile& m_file;
  std::vector<char> m_bytes;
  std::int64_t m_at = 0;
};

[[noreturn]] void fail_empty() {
  throw Error("unpacks to 0 bytes; expected a FITS file, plain or compressed");
}

/// Checks the beginning and the length of what is there already.
void check_unpacked(const PackedFile& file, const GrowingBytes& unpacked) {
  constexpr std::string_view magic = "SIMPLE";
  const auto known = std::min(magic.size(), static_cast<std::size_t>(unpacked.size()));
  if (std::string_view(unpacked.data(), known) != magic.substr(0, known)) {
    throw Error(
        "unpacks to something that does not begin with SIMPLE, so it is not a FITS file; expected "
        "one");
  }
  if (unpacked.size() > file.limit) {
    throw Error(fmt::format("unpacks to more than {} bytes; expected at most so many{}", file.limit,
                            file.has_option ? ", or a higher limit (--max-unpacked)" : ""));
  }
}

/// Makes room for more, and checks what is there already.
void make_room(const PackedFile& file, GrowingBytes& unpacked) {
  check_unpacked(file, unpacked);
  if (unpacked.room() > 0) return;
  // One byte more than the limit, which shows that there are too many.
  const std::int64_t wanted = std::max(k_first_room, unpacked.size() / 2 * 3);
  unpacked.reserve(wanted <= file.limit ? wanted : file.limit + 1);
}

/// Bytes that a call of a library can be asked for.
unsigned call_size(std::int64_t room) {
  return static_cast<unsigned>(std::min<std::int64_t>(room, std::int64_t{1} << 30));
}

/// The unpacked length that the file's last four bytes state, modulo 2^32 (RFC 1952, 2.3.1); 0 if
/// the file cannot have it.
std::int64_t stated_length(const PackedFile& file) {
  std::array<unsigned char, 4> tail{};
  if (file.size < 18 || ::pread(file.descriptor, tail.data(), tail.size(), file.size - 4) != 4)
    return 0;
  const std::uint32_t length = tail[0] | std::uint32_t{tail[1]} << 8 |
                               std::uint32_t{tail[2]} << 16 | std::uint32_t{tail[3]} << 24;
  return length / k_most_gzip_gain <= file.size ? length : 0;
}

struct GzipStream {
  GzipStream() {
    constexpr int gzip_only = 16;
    if (::inflateInit2(&stream, MAX_WBITS + gzip_only) != Z_OK)
      throw ResourceError("zlib: out of memory; expected enough of it to unpack a file");
  }
  ~GzipStream() { (void)::inflateEnd(&stream); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  z_stream stream{};
};

struct Bzip2Stream {
  Bzip2Stream() { start(); }
  ~Bzip2Stream() { (void)::BZ2_bzDecompressEnd(&stream); }
  Bzip2Stream(const Bzip2Stream&) = delete;
  Bzip2Stream& operator=(const Bzip2Stream&) = delete;
  /// Goes on with the next stream of the file.
  void restart() {
    char* const next = stream.next_in;
    const unsigned left = stream.avail_in;
    (void)::BZ2_bzDecompressEnd(&stream);
    stream = {};
    start();
    stream.next_in = next;
    stream.avail_in = left;
  }
  void start() {
    if (::BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK)
      throw ResourceError("bzip2: out of memory; expected enough of it to unpack a file");
  }
  bz_stream stream{};
};

[[noreturn]] void fail_short(const char* packing, const GrowingBytes& unpacked) {
  throw Error(
      fmt::format("ends within its compressed data, after {} unpacked bytes; expected a complete "
                  "{} file",
                  unpacked.size(), packing));
}

}  // namespace

GrowingBytes::~GrowingBytes() { std::free(m_data); }

void GrowingBytes::reserve(std::int64_t capacity) {
  if (capacity <= m_capacity) return;
  void* const data = std::realloc(m_data, static_cast<std::size_t>(capacity));
  if (data == nullptr) throw std::bad_alloc();
  m_data = static_cast<char*>(data);
  m_capacity = capacity;
}

void unpack_gzip(const PackedFile& file, GrowingBytes& unpacked) {
  PackedInput input(file);
  GzipStream gzip;
  z_stream& stream = gzip.stream;
  // One byte more, so that the end is found without more room.
  if (const std::int64_t stated = stated_length(file); stated < file.limit)
    unpacked.reserve(stated + 1);
  while (true) {
    make_room(file, unpacked);
    if (stream.avail_in == 0) {
      const auto piece = input.next();
      if (piece.empty()) fail_short("gzip", unpacked);
      // zlib does not write there, though its type says so.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
      stream.avail_in = static_cast<unsigned>(piece.size());
    }
    const unsigned room = call_size(unpacked.room());
    stream.next_out = reinterpret_cast<Bytef*>(unpacked.data() + unpacked.size());
    stream.avail_out = room;
    const int answer = ::inflate(&stream, Z_NO_FLUSH);
    unpacked.extend(room - stream.avail_out);
    if (answer == Z_STREAM_END) break;
    if (answer == Z_MEM_ERROR) throw std::bad_alloc();
    if (answer != Z_OK && answer != Z_BUF_ERROR) {
      throw Error(fmt::format(
          "is damaged after {} unpacked bytes ({}); expected a complete gzip file of one member",
          unpacked.size(), stream.msg == nullptr ? "no more is known" : stream.msg));
    }
  }
  check_unpacked(file, unpacked);
  if (unpacked.size() == 0) fail_empty();
  const std::int64_t more = file.size - input.position() + stream.avail_in;
  if (more > 0) {
    throw Error(
        fmt::format("has {} more bytes after its first member, which unpacks to {}; expected a "
                    "complete gzip file of one member",
                    more, unpacked.size()));
  }
}

void unpack_bzip2(const PackedFile& file, GrowingBytes& unpacked) {
  PackedInput input(file);
  Bzip2Stream bzip2;
  bz_stream& stream = bzip2.stream;
  bool is_first = true;
  bool has_begun = false;  // the stream has been given bytes
  while (true) {
    make_room(file, unpacked);
    if (stream.avail_in == 0) {
      const auto piece = input.next();
      if (piece.empty() && !is_first && !has_begun) break;
      if (piece.empty()) fail_short("bzip2", unpacked);
      stream.next_in = const_cast<char*>(piece.data());  // not written to, though its type says so
      stream.avail_in = static_cast<unsigned>(piece.size());
    }
    const unsigned room = call_size(unpacked.room());
    stream.next_out = unpacked.data() + unpacked.size();
    stream.avail_out = room;
    has_begun = true;
    const int answer = ::BZ2_bzDecompress(&stream);
    unpacked.extend(room - stream.avail_out);
    if (answer == BZ_STREAM_END) {
      bzip2.restart();
      is_first = has_begun = false;
      continue;
    }
    if (answer == BZ_MEM_ERROR) throw std::bad_alloc();
    // What follows the last stream is no other one.
    if (answer == BZ_DATA_ERROR_MAGIC && !is_first) break;
    if (answer != BZ_OK) {
      throw Error(fmt::format("is damaged after {} unpacked bytes; expected a complete bzip2 file",
                              unpacked.size()));
    }
  }
  if (unpacked.size() == 0) fail_empty();
}

std::int64_t default_unpacked_limit() {
  const std::int64_t memory =
      static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  return std::min(std::int64_t{16} << 30, memory);
}

}  // namespace kastor::io::detail
