// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_OUTPUT_SIGNAL_CLEANUP_HPP
#define KASTOR_SRC_IO_OUTPUT_SIGNAL_CLEANUP_HPP

#include <signal.h>

#include <string>

namespace kastor::io::detail {

/// A stretch that no signal of `install_signal_cleanup()` may fall into, on whatever thread: the
/// signals of this thread are held back, and one that another thread takes waits for the end of
/// the stretch. Keep it short; not to be nested.
class UninterruptedSection {
 public:
  UninterruptedSection();
  ~UninterruptedSection();
  UninterruptedSection(const UninterruptedSection&) = delete;
  UninterruptedSection& operator=(const UninterruptedSection&) = delete;

 private:
  sigset_t m_before;
};

/// Has the signals remove this file until `forget_temporary()`. Returns a number for that; -1 if
/// there is no room left in the handler's list. Within an `UninterruptedSection`; from any thread.
[[nodiscard]] int remember_temporary(const std::string& path);
void forget_temporary(int slot);

}  // namespace kastor::io::detail

#endif
