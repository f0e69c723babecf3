// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ERROR_HPP
#define KASTOR_ERROR_HPP

#include <stdexcept>
#include <string>

namespace kastor {

/// The exception for every failure that Kastor reports. `what()` is one sentence: what was found
/// and what was expected.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A limit of files, devices or memory was reached, although the call itself was correct.
class ResourceError : public Error {
 public:
  using Error::Error;
};

namespace detail {
/// Throws `Error("<function>: <message>")`.
[[noreturn]] void throw_expectation(const char* function, const std::string& message);
}  // namespace detail
}  // namespace kastor

/// Checks an argument on the host: throws `kastor::Error` unless `condition` is true. `message` is
/// evaluated only on failure.
#define KASTOR_EXPECTS(function, condition, message)          \
  do {                                                        \
    if (!(condition)) {                                       \
      ::kastor::detail::throw_expectation(function, message); \
    }                                                         \
  } while (false)

#endif
