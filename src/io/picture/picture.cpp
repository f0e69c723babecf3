// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/fits_writer.hpp>
#include <kastor/io/picture.hpp>
#include <kastor/io/wcs.hpp>
#include <optional>

#include "io/output/output_file.hpp"
#include "io/picture/figure.hpp"
#include "io/picture/png_writer.hpp"
#include "io/picture/text.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

constexpr int k_largest_size = 16384;

void check(const PictureParams& params) {
  const char* function = "kastor::io::write_picture";
  KASTOR_EXPECTS(function, params.size >= 1 && params.size <= k_largest_size,
                 fmt::format("size is {}; expected 1 to {}", params.size, k_largest_size));
  KASTOR_EXPECTS(function,
                 params.lower_percentile >= 0.0 && params.upper_percentile <= 100.0 &&
                     params.lower_percentile < params.upper_percentile,
                 fmt::format("the percentiles are {} and {}; expected 0 <= lower < upper <= 100",
                             params.lower_percentile, params.upper_percentile));
  for (const auto& limit : {params.minimum, params.maximum}) {
    KASTOR_EXPECTS(function, !limit || std::isfinite(*limit),
                   "a limit is not finite; expected a number");
  }
}

picture::PixelGrid grid_of(const FitsImage& image) {
  return std::visit(
      [](const auto& pixels) -> picture::PixelGrid {
        using T = typename std::decay_t<decltype(pixels)>::non_const_value_type;
        const auto rows = pixel_rows(pixels);
        return picture::GridOf<T>{rows.data, rows.ny, rows.nx, rows.row_stride};
      },
      image.pixels);
}

std::vector<picture::PngText> texts_of(const Provenance& provenance) {
  std::vector<picture::PngText> texts{{"Software", "kastor " + provenance.version}};
  if (!provenance.input.empty()) {
    texts.push_back({"Source", fmt::format("{}[{}]", provenance.input, provenance.input_hdu)});
    texts.push_back({"DATASUM", fmt::format("{}", provenance.input_datasum)});
  }
  if (!provenance.command_line.empty()) texts.push_back({"Options", provenance.command_line});
  for (auto& each : texts) each.text = detail::printable_ascii(each.text);
  return texts;
}

/// The message without the name of the function that threw it.
std::string bare(const std::string& message) {
  if (!message.starts_with("kastor::")) return message;
  const auto end = message.find(": ");
  return end == std::string::npos ? message : message.substr(end + 2);
}

}  // namespace

std::string default_font() { return KASTOR_DEFAULT_FONT; }

void require_font(const PictureParams& params) {
  if (params.axes == PictureAxes::none && !params.labels) return;
  const picture::Font font(params.font, 16);
}

namespace {

void write_figure(const std::string& path, const FitsImage& image, const Catalogue& sources,
                  std::span<const PictureEllipse> ellipses, const PictureParams& params,
                  const Provenance& provenance) {
  check(params);
  require_font(params);
  std::vector<unsigned char> png;
  try {
    std::optional<Wcs> wcs;
    if (params.axes == PictureAxes::sky) wcs.emplace(image.header_cards, image.fits_axes);
    const auto canvas = picture::draw_figure(
        {grid_of(image), sources, ellipses, wcs ? &*wcs : nullptr, image.hdu.unit}, params);
    png = picture::png_of(canvas, texts_of(provenance));
  } catch (const Error& error) {
    throw Error(fmt::format("{}[{}]: {}", detail::one_line(image.path), image.hdu.index,
                            bare(error.what())));
  }
  detail::OutputFile file(path);
  file.write(png.data(), png.size());
  file.close();
}

}  // namespace

void write_picture(const std::string& path, const FitsImage& image, const Catalogue& sources,
                   const PictureParams& params, const Provenance& provenance) {
  write_figure(path, image, sources, {}, params, provenance);
}

void write_picture_with_ellipses(const std::string& path, const FitsImage& image,
                                 std::span<const PictureEllipse> ellipses,
                                 const PictureParams& params, const Provenance& provenance) {
  write_figure(path, image, {}, ellipses, params, provenance);
}

}  // namespace kastor::io
