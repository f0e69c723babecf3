// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_OUTPUT_SET_HPP
#define KASTOR_IO_OUTPUT_SET_HPP

#include <sys/types.h>

#include <string>
#include <vector>

namespace kastor::io {

/// What to do about a target that exists.
enum class OverwritePolicy { refuse, replace };

/// Several outputs of which either all or none appear.
///
/// Each is written beside its target under a temporary name (`.NAME.kastor-XXXXXX.tmp`); `commit()`
/// renames them all. Without `commit()` the destructor removes them, and so does a signal once
/// `install_signal_cleanup()` was called. One object is not to be used from several threads at
/// once; each of several threads may have its own.
class OutputSet {
 public:
  OutputSet() = default;
  ~OutputSet();
  OutputSet(const OutputSet&) = delete;
  OutputSet& operator=(const OutputSet&) = delete;

  /// Creates the temporary file of one more output and returns its name, to be written and closed
  /// by the caller. A target that is a link to a regular file stays a link: the file behind it is
  /// replaced. \throws kastor::Error if `target` exists and may not be replaced, is not a regular
  /// file, is one of `inputs` (links followed), is an output already added, or lies in a directory
  /// that is missing or cannot be written.
  [[nodiscard]] std::string add(const std::string& target, OverwritePolicy policy,
                                const std::vector<std::string>& inputs = {});

  /// Renames every temporary file to its target. New files get the permissions of the umask,
  /// replaced ones keep theirs. \throws kastor::Error naming what failed; outputs that are new are
  /// taken back, replaced ones cannot be.
  void commit();

 private:
  struct Output {
    std::string target;    // as the caller gave it
    std::string resolved;  // links followed
    std::string temporary;
    int slot;  // in the signal handler's list
    bool replaces;
    mode_t mode;  // of the file that is replaced
  };
  void discard() noexcept;

  std::vector<Output> m_outputs;
};

/// From now on SIGINT, SIGTERM and SIGHUP remove the temporary files of every OutputSet, then do
/// what they do by default. Signals that are ignored (as under nohup) stay ignored.
void install_signal_cleanup();

}  // namespace kastor::io

#endif
