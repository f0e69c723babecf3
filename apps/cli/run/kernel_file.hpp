// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_KERNEL_FILE_HPP
#define KASTOR_APPS_CLI_RUN_KERNEL_FILE_HPP

#include <cstdint>
#include <kastor/convolution_kernel.hpp>
#include <string>

namespace kastor::cli {

/// The kernel that a FITS image holds, as it is. \param max_unpacked  as in `io::ReadOptions`
/// \throws kastor::Error if it cannot be read, or is no kernel
[[nodiscard]] ConvolutionKernel read_kernel(const std::string& path, std::int64_t max_unpacked);

}  // namespace kastor::cli

#endif
