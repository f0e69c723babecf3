// SPDX-License-Identifier: Apache-2.0
#include "cli/run/kernel_file.hpp"

#include "cli/run/outputs.hpp"

namespace kastor::cli {

ConvolutionKernel read_kernel(const std::string& path, std::int64_t max_unpacked) {
  io::FitsImage image;
  return read_kernel(path, max_unpacked, image);
}

ConvolutionKernel read_kernel(const std::string& path, std::int64_t max_unpacked,
                              io::FitsImage& image) {
  io::ReadOptions read;
  read.max_unpacked = max_unpacked;
  image = io::read_image(path, read);
  ConvolutionKernel kernel{image.ny, image.nx, {}};
  std::visit(
      [&](const auto& pixels) {
        for (std::int64_t y = 0; y < image.ny; ++y)
          for (std::int64_t x = 0; x < image.nx; ++x)
            kernel.taps.push_back(static_cast<double>(pixels(y, x)));
      },
      image.pixels);
  about_image(image, [&] { detail::check_kernel("kastor::app", kernel); });
  return kernel;
}

}  // namespace kastor::cli
