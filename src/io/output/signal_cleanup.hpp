// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_OUTPUT_SIGNAL_CLEANUP_HPP
#define KASTOR_SRC_IO_OUTPUT_SIGNAL_CLEANUP_HPP

#include <signal.h>

#include <string>

namespace kastor::io::detail {

/// A section of code that no signal of `install_signal_cleanup()` interrupts, on any thread. This
/// thread blocks the signals; a signal that another thread receives waits for the end of the
/// section. Keep it short; do not nest it.
class UninterruptedSection {
 public:
  UninterruptedSection();
  ~UninterruptedSection();
  UninterruptedSection(const UninterruptedSection&) = delete;
  UninterruptedSection& operator=(const UninterruptedSection&) = delete;

 private:
  sigset_t m_before;
};

/// The signals remove this file from now on, until `forget_temporary()`. Returns a number for that
/// call; -1 if the handler's list is full. Must be called within an `UninterruptedSection`, from
/// any thread.
[[nodiscard]] int remember_temporary(const std::string& path);
void forget_temporary(int slot);

}  // namespace kastor::io::detail

#endif
