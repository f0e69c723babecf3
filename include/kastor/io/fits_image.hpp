// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_FITS_IMAGE_HPP
#define KASTOR_IO_FITS_IMAGE_HPP

#include <Kokkos_Core.hpp>
#include <array>
#include <cstdint>
#include <kastor/io/beam.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kastor::io {

/// Which part of a file to read.
struct ReadOptions {
  /// "N" (0-based, 0 is the primary HDU) or "NAME[,EXTVER]", case-insensitive; default: the first
  /// image with data.
  std::optional<std::string> hdu;
  /// 0-based plane of the one axis beyond the image's two.
  std::optional<std::int64_t> plane;
  /// That read at once; of the host execution space, so no more than it has. 0: all of them.
  int threads = 0;
};

/// What a header says about one HDU, nothing of its data read.
struct HduInfo {
  int index = 0;     ///< 0-based
  std::string kind;  ///< "image", "compressed image", "binary table", "ascii table" or "unknown"
  std::string name;  ///< EXTNAME; empty if there is none
  int version = 1;   ///< EXTVER
  int bitpix = 0;    ///< of the image; ZBITPIX if it is tile-compressed
  std::vector<std::int64_t> axes;  ///< FITS order: NAXIS1 first
  std::string unit;                ///< BUNIT; empty if there is none
  double bscale = 1.0;             ///< BSCALE
  double bzero = 0.0;              ///< BZERO
  /// BLANK as the header has it; it applies to integer images only.
  std::optional<long long> blank;
  std::string compression;         ///< ZCMPTYPE, "gzip" or "bzip2" (whole file); empty if plain
  std::optional<Beam> beam;        ///< BMAJ, BMIN and BPA as they are; `read_beam()` looks further
  std::vector<std::string> ctype;  ///< CTYPEn, one an axis; empty where there is none
  std::string pixel_type;  ///< how Kastor reads it: "float32", "float64"; empty if not an image
};

/// Pixels in host memory, row by row: `(y, x)`, x fastest.
template <class T>
using HostPixels = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// One 2-D image and where it came from.
struct FitsImage {
  HduInfo hdu;          ///< what its header says
  std::int64_t ny = 0;  ///< rows [pixel]
  std::int64_t nx = 0;  ///< columns [pixel]
  /// 8- and 16-bit integers and float32 are float, 32- and 64-bit integers and float64 are double.
  /// BSCALE and BZERO are applied; blank pixels are NaN. An image cut from a cube owns its own
  /// pixels.
  std::variant<HostPixels<float>, HostPixels<double>> pixels;
  /// The header's 80-character cards, for `kept_cards()`; of a tile-compressed image without the
  /// table's own cards.
  std::vector<std::string> header_cards;
  /// 1-based FITS axes that became x and y: {1, 2} unless an axis of length 1 stood before them.
  std::array<int, 2> fits_axes{1, 2};
  /// What the DATASUM keyword says of this HDU's data unit when it is right.
  std::uint32_t datasum = 0;
  std::optional<std::int64_t> plane;  ///< the plane read, if the image is one of several
  std::string path;                   ///< as the caller gave it
};

/// Lists the HDUs of a FITS file (plain, gzip, bzip2). `path` is a file's literal name: no URL, no
/// filter syntax. The list ends at the first thing behind the primary HDU that is not an HDU.
/// \throws kastor::Error
[[nodiscard]] std::vector<HduInfo> list_hdus(const std::string& path);

/// What the file says of one image, without its data: no pixels, `datasum` 0. `path` and errors as
/// for `read_image()`.
[[nodiscard]] FitsImage read_header(const std::string& path, const ReadOptions& options = {});

/// What the DATASUM card of the image's header says; none if there is none, or it is no number.
/// Whether it is true only reading tells.
[[nodiscard]] std::optional<std::uint32_t> stated_datasum(const FitsImage& image);

/// Whether several threads may read at once, each a file of its own: CFITSIO was built for it.
[[nodiscard]] bool reads_in_parallel();

/// Reads one image into host memory. `path` is a file's literal name, as for `list_hdus()`.
///
/// Axes of length 1 are dropped, from the last one down, until two are left. A plain file is read
/// once by several threads, in pieces that are summed and converted on the way: peak memory is the
/// pixels and one piece a thread. gzip and bzip2 files are unpacked in memory first.
/// \throws kastor::Error `FILE[HDU]: what was found; what was expected`, one line.
[[nodiscard]] FitsImage read_image(const std::string& path, const ReadOptions& options = {});

/// The same into `image`, whose pixels are overwritten if they have the right type and shape and
/// nobody else holds them: images of one size need fresh memory once. After a failure its pixels
/// are undefined.
void read_image(const std::string& path, const ReadOptions& options, FitsImage& image);

}  // namespace kastor::io

#endif
