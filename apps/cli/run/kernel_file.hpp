// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_KERNEL_FILE_HPP
#define KASTOR_APPS_CLI_RUN_KERNEL_FILE_HPP

#include <cstdint>
#include <kastor/convolution_kernel.hpp>
#include <kastor/io/fits_image.hpp>
#include <string>

namespace kastor::cli {

/// The kernel that a FITS image holds, as it is. \param max_unpacked  as in `io::ReadOptions`
/// \throws kastor::Error if it cannot be read, or is no kernel
[[nodiscard]] ConvolutionKernel read_kernel(const std::string& path, std::int64_t max_unpacked);
/// The same. \param image  becomes what was read, for messages
[[nodiscard]] ConvolutionKernel read_kernel(const std::string& path, std::int64_t max_unpacked,
                                            io::FitsImage& image);

}  // namespace kastor::cli

#endif
