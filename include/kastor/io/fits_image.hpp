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

/// Which image of a file to read, and how.
struct ReadOptions {
  /// "N" (from 0; 0 is the primary HDU) or "NAME[,EXTVER]", case-insensitive. If not given: the
  /// first image with data.
  std::optional<std::string> hdu;
  /// Index from 0 along the third axis, for a cube.
  std::optional<std::int64_t> plane;
  /// Number of threads that read at once, from the host execution space; 0: all of them.
  int threads = 0;
  /// What a compressed file may unpack to [byte]; also the memory for a tile-compressed image and
  /// for the tiles at work. 0: 16 GiB, and never more than this machine's memory.
  std::int64_t max_unpacked = 0;
};

/// The header of one HDU in short; none of its data is read.
struct HduInfo {
  int index = 0;     ///< from 0
  std::string kind;  ///< "image", "compressed image", "binary table", "ascii table" or "unknown"
  std::string name;  ///< EXTNAME; empty if there is none
  int version = 1;   ///< EXTVER
  int bitpix = 0;    ///< BITPIX of the image; ZBITPIX if it is tile-compressed
  std::vector<std::int64_t> axes;  ///< FITS order: NAXIS1 first
  std::string unit;                ///< BUNIT; empty if there is none
  double bscale = 1.0;             ///< BSCALE
  double bzero = 0.0;              ///< BZERO
  /// BLANK as it is in the header; it applies only to integer images.
  std::optional<long long> blank;
  std::string compression;   ///< ZCMPTYPE, "gzip" or "bzip2" (whole file); empty if not compressed
  std::optional<Beam> beam;  ///< BMAJ, BMIN and BPA unchanged; `read_beam()` looks further
  std::vector<std::string> ctype;  ///< CTYPEn, one for each axis; empty if there is none
  /// How Kastor reads the pixels: "float32", "float64"; empty if not an image.
  std::string pixel_type;
};

/// Pixels in host memory, row by row: `(y, x)`, x fastest.
template <class T>
using HostPixels = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// One 2-D image and its origin.
struct FitsImage {
  HduInfo hdu;          ///< the header in short
  std::int64_t ny = 0;  ///< rows [pixel]
  std::int64_t nx = 0;  ///< columns [pixel]
  /// 8- and 16-bit integers and float32 become float; 32- and 64-bit integers and float64 become
  /// double. BSCALE and BZERO are applied; blank pixels are NaN. An image cut from a cube owns its
  /// pixels.
  std::variant<HostPixels<float>, HostPixels<double>> pixels;
  /// The 80-character cards of the header, for `kept_cards()`; for a tile-compressed image without
  /// those of the table around it.
  std::vector<std::string> header_cards;
  /// The FITS axes (from 1) that became x and y: {1, 2} unless an axis of length 1 preceded them.
  std::array<int, 2> fits_axes{1, 2};
  /// The DATASUM of this HDU's data unit, computed from the bytes that were read.
  std::uint32_t datasum = 0;
  std::optional<std::int64_t> plane;  ///< the plane that was read, if the image is one of several
  /// Where the header says that each plane has its own beam (CASAMBM = T, as CASA writes): that of
  /// this plane in the table BEAMS of the file; without a beam, if that has none, with a note.
  std::optional<BeamReading> plane_beam;
  std::string path;  ///< as the caller passed it
};

/// The beam of an image: `plane_beam` where each plane has its own, else that of its header cards.
[[nodiscard]] BeamReading read_beam(const FitsImage& image);

/// Lists the HDUs of a FITS file (plain, gzip, bzip2). `path` is the literal name of a file: no
/// URL, no filter syntax. The list ends where something that is not an HDU follows the primary HDU.
/// \param max_unpacked  as in `ReadOptions`
/// \param unread  becomes why what follows the list cannot be read; empty at the file's end
/// \throws kastor::Error
[[nodiscard]] std::vector<HduInfo> list_hdus(const std::string& path, std::int64_t max_unpacked = 0,
                                             std::string* unread = nullptr);

/// The header of one image without its data: no pixels, `datasum` 0. `path` and errors as for
/// `read_image()`.
[[nodiscard]] FitsImage read_header(const std::string& path, const ReadOptions& options = {});

/// The value of the DATASUM card in the image's header; none if there is no such card, or it is not
/// a number. Only reading the data shows whether it is right.
[[nodiscard]] std::optional<std::uint32_t> stated_datasum(const FitsImage& image);

/// Whether several threads may read at once, each its own file: whether CFITSIO was built for that.
[[nodiscard]] bool reads_in_parallel();

/// Reads one image into host memory. `path` is the literal name of a file, as for `list_hdus()`.
///
/// Axes of length 1 are dropped, beginning with the last one, until two axes are left. Several
/// threads read a plain file once, in pieces that are summed and converted on the way; the peak
/// memory is the pixels and one piece per thread. gzip and bzip2 files are unpacked in memory
/// first, and the tiles of a tile-compressed image by several threads; neither may unpack to more
/// than `ReadOptions::max_unpacked`.
///
/// \throws kastor::Error one line, `FILE[HDU]: what was found; what was expected`
[[nodiscard]] FitsImage read_image(const std::string& path, const ReadOptions& options = {});

/// The same into `image`. Its pixels are overwritten if they have the right type and shape and
/// nothing else holds them, so images of one size need new memory only once. After a failure its
/// pixels are undefined.
void read_image(const std::string& path, const ReadOptions& options, FitsImage& image);

}  // namespace kastor::io

#endif
