// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_SKY_UNIT_WORDS_HPP
#define KASTOR_SRC_IO_SKY_UNIT_WORDS_HPP

#include <optional>
#include <string_view>
#include <vector>

#include "io/sky/unit_text.hpp"

namespace kastor::io::detail {

/// The factors that a word means: one ("mJy", "MicroJansky", "sqarcsec", "beams"), or two that are
/// written together ("Jybeam"). Empty if it is not known.
[[nodiscard]] std::vector<UnitFactor> unit_word(std::string_view word);

}  // namespace kastor::io::detail

#endif
