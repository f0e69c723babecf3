// SPDX-License-Identifier: Apache-2.0
#include <bzlib.h>
#include <expat.h>
#include <fitsio.h>
#include <fmt/format.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include <png.h>
#include <wcslib/wcs.h>
#include <zlib.h>

#include <kastor/io/library_versions.hpp>

namespace kastor::io {

std::vector<LibraryVersion> library_versions() {
  FT_Int freetype[3] = {};
  FT_Library library = nullptr;
  if (FT_Init_FreeType(&library) == 0) {
    FT_Library_Version(library, &freetype[0], &freetype[1], &freetype[2]);
    FT_Done_FreeType(library);
  }
  const std::string bzip2 = BZ2_bzlibVersion();  // as in "1.0.8, 13-Jul-2019"
  const XML_Expat_Version expat = XML_ExpatVersionInfo();
  return {{"cfitsio", fmt::format("{}.{}.{}", CFITSIO_MAJOR, CFITSIO_MINOR, CFITSIO_MICRO)},
          {"expat", fmt::format("{}.{}.{}", expat.major, expat.minor, expat.micro)},
          {"wcslib", wcslib_version(nullptr)},
          {"libpng", png_get_libpng_ver(nullptr)},
          {"freetype", fmt::format("{}.{}.{}", freetype[0], freetype[1], freetype[2])},
          {"zlib", zlibVersion()},
          {"bzip2", bzip2.substr(0, bzip2.find(','))}};
}

}  // namespace kastor::io
