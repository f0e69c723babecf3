// SPDX-License-Identifier: Apache-2.0
#include <kastor/io/fits_row_writer.hpp>
#include <kastor/io/fits_writer.hpp>

namespace kastor::io {
namespace {

template <class T>
void write_fits(const std::string& path, const PixelRows<T>& pixels,
                const std::vector<std::string>& cards, const Provenance& provenance,
                const std::vector<HeaderCard>& extra) {
  FitsRowWriter<T> writer(path, pixels.ny, pixels.nx, cards, provenance, extra);
  writer.write(0, pixels);
  writer.close();
}

}  // namespace

void write_image(const std::string& path, const PixelRows<float>& pixels,
                 const std::vector<std::string>& cards, const Provenance& provenance,
                 const std::vector<HeaderCard>& extra) {
  write_fits(path, pixels, cards, provenance, extra);
}

void write_image(const std::string& path, const PixelRows<double>& pixels,
                 const std::vector<std::string>& cards, const Provenance& provenance,
                 const std::vector<HeaderCard>& extra) {
  write_fits(path, pixels, cards, provenance, extra);
}

void write_image(const std::string& path, const PixelRows<std::int32_t>& pixels,
                 const std::vector<std::string>& cards, const Provenance& provenance,
                 const std::vector<HeaderCard>& extra) {
  write_fits(path, pixels, cards, provenance, extra);
}

void write_image(const std::string& path, const PixelRows<std::int64_t>& pixels,
                 const std::vector<std::string>& cards, const Provenance& provenance,
                 const std::vector<HeaderCard>& extra) {
  write_fits(path, pixels, cards, provenance, extra);
}

}  // namespace kastor::io
