// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_SKY_IAU_NAME_HPP
#define KASTOR_SRC_IO_SKY_IAU_NAME_HPP

#include <kastor/io/wcs.hpp>
#include <string>

namespace kastor::io::detail {

/// The designation of a position by the IAU's rules: coordinates are truncated, never rounded.
/// Empty if the position is not defined.
[[nodiscard]] std::string equatorial_name(char equinox,
                                          const SkyPosition& at);  ///< JHHMMSS.s+DDMMSS
[[nodiscard]] std::string galactic_name(const SkyPosition& at);    ///< Glll.lll+bb.bbb

}  // namespace kastor::io::detail

#endif
