// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PYTHON_WORDS_HPP
#define KASTOR_PYTHON_WORDS_HPP

#include <string>

namespace kastor::python {

/// A message of the command as users of the package read it: `--filter-kernel` is the argument
/// `filter_kernel`, and no help of the command is named.
[[nodiscard]] std::string in_words_of_python(std::string text);

}  // namespace kastor::python

#endif
