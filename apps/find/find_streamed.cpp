// SPDX-License-Identifier: Apache-2.0
#include "find/find_streamed.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <kastor/communicator.hpp>
#include <kastor/io/fits_rows.hpp>
#include <kastor/io/image_reader.hpp>
#include <kastor/streamed_source_finder.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/report/format.hpp"
#include "cli/report/report.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/outputs.hpp"
#include "cli/run/ranks.hpp"
#include "cli/run/session.hpp"
#include "core/ranks.hpp"
#include "find/find_one.hpp"
#include "find/find_outputs.hpp"
#include "find/found_image.hpp"

namespace kastor::cli {
namespace {

/// What a search in memory takes for each byte of the pixels, and besides.
constexpr std::int64_t per_mille_of_pixels = 1350;
constexpr std::int64_t besides = std::int64_t{64} << 20;

/// About what a search in memory takes [byte].
std::int64_t bytes_in_memory(const io::FitsImage& image, std::int64_t bytes_of_pixel) {
  return image.ny * image.nx * bytes_of_pixel / 1000 * per_mille_of_pixels + besides;
}

/// Why these options need the whole image at once; null if they do not.
const char* reason_against(const FindOptions& options) {
  if (options.islands.preset != Preset::lesson) return "a preset other than lesson";
  if (options.labels) return "--labels";
  if (options.picture) return "--picture";
  if (options.input.blank) return "--blank-value";
  return nullptr;
}

/// The sources of all processes, at the first one; they arrive in the order of the ids.
void collect(Communicator& all, Catalogue& sources) {
  if (all.rank() > 0) {
    all.send(0, std::as_bytes(std::span(sources)));
    sources.clear();
    return;
  }
  for (int rank = 1; rank < all.size(); ++rank) {
    const auto bytes = all.receive(rank);
    const std::size_t before = sources.size();
    sources.resize(before + bytes.size() / sizeof(Source));
    if (!bytes.empty()) std::memcpy(sources.data() + before, bytes.data(), bytes.size());
  }
}

/// Of all rows, from the parts that the processes have read.
template <class T>
std::uint32_t datasum_of(io::FitsRows<T>& rows) {
  if (ranks() == nullptr) return rows.datasum();
  std::uint32_t part = 0;
  core::agree_on(ranks(), "sum of the data", [&] {
    const RowRange own = rows_of_rank(rows.ny(), ranks()->rank(), ranks()->size());
    if (own.past > own.first) part = rows.datasum(own.first, own.past - own.first);
  });
  std::uint32_t sum = 0;
  for (const auto& of_rank : core::gather_lists<std::uint32_t>(*ranks(), {&part, 1}))
    sum = io::sum_of_datasums(sum, of_rank.front());
  return sum;
}

/// Searches the rows, and completes `found` but for its notes.
template <class Exec, class T>
void search(const Exec& space, io::FitsRows<T>& rows, const StreamParams& stream,
            FoundImage& found) {
  StreamedSourceFinder<Exec, T> finder(space, found.options.find, stream, ranks());
  about_image(rows.about(), [&] {
    FindResult result = finder(rows);
    if (ranks() != nullptr) collect(*ranks(), result.sources);
    found.found = std::move(result);
  });
  found.image = rows.about();
  found.image.datasum = datasum_of(rows);
  if (found.options.unit) found.image.hdu.unit = *found.options.unit;
}

StreamParams stream_params_of(const FindOptions& options) {
  StreamParams stream;
  stream.band_rows = options.memory.band_rows.value_or(0);
  // A part is left for what grows with the number of sources.
  const std::int64_t left = memory_limit(options.memory) - resident_memory();
  stream.memory = std::max<std::int64_t>(1, left / 10 * 8);
  return stream;
}

}  // namespace

bool is_streamed(const FindOptions& options) {
  const char* reason = reason_against(options);
  if (ranks() != nullptr) {
    if (reason != nullptr)
      ranks()->agree(std::make_exception_ptr(
          UsageError(std::string(reason) + " is the work of one process so far; found " +
                     std::to_string(ranks()->size()))));
    return true;
  }
  if (options.memory.band_rows) {
    if (reason != nullptr)
      throw UsageError("--band-rows: found with " + std::string(reason) +
                       ", which needs the whole image at once; expected one of the two");
    return true;
  }
  if (reason != nullptr) return false;
  const std::int64_t limit = memory_limit(options.memory);
  // Most images are small beside the memory, so that their files need not be opened for this.
  std::error_code none;
  const auto size = std::filesystem::file_size(options.images.front(), none);
  if (none || size < static_cast<std::uintmax_t>(limit) / 64) return false;
  const io::FitsImage image = io::read_header(options.images.front(), options.input.read);
  if (bytes_in_memory(image, sizeof(double)) <= limit) return false;
  return std::visit(
      [&](const auto& rows) {
        using Rows = typename std::decay_t<decltype(rows)>::element_type;
        constexpr bool is_float = std::is_same_v<Rows, io::FitsRows<float>>;
        return bytes_in_memory(image, is_float ? sizeof(float) : sizeof(double)) > limit;
      },
      io::open_rows(options.images.front(), options.input.read));
}

void find_streamed(FindOptions options) {
  options.input.path = options.images.front();
  if (!speaks()) options.run.quiet = true;
  std::optional<FindOutputs> outputs;
  core::agree_on(ranks(), "outputs", [&] { outputs.emplace(options); });
  std::optional<Session> session;
  core::agree_on(ranks(), "start", [&] { session.emplace(options.run); });
  FoundImage found;
  found.options = std::move(options);

  io::AnyFitsRows rows;
  core::agree_on(ranks(), "open",
                 [&] { rows = io::open_rows(found.options.input.path, found.options.input.read); });
  const auto start = std::chrono::steady_clock::now();
  session->on_backend([&](const auto& space) {
    const ScopedStep step(session->steps(), "find");
    const StreamParams stream = stream_params_of(found.options);
    std::visit([&](const auto& each) { search(space, *each, stream, found); }, rows);
  });
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (auto note = sky_note(found.options.find, std::get<FindResult>(found.found)); !note.empty())
    found.notes.push_back(std::move(note));

  core::agree_on(ranks(), "write", [&] {
    if (speaks()) write_results(*session, found, *outputs, find_picture_params());
  });
  const bool writes_note = speaks() && !found.options.json;
  session->close(writes_note ? wrote_note(outputs->targets()) : "", pixels_of(found.image));
}

}  // namespace kastor::cli
