// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_OUTPUT_SET_HPP
#define KASTOR_IO_OUTPUT_SET_HPP

#include <sys/types.h>

#include <string>
#include <vector>

namespace kastor::io {

/// What to do if a target exists.
enum class OverwritePolicy { refuse, replace };

/// Several outputs, of which either all or none appear.
///
/// Each output is written beside its target under a temporary name (`.NAME.kastor-XXXXXX.tmp`);
/// `commit()` renames all of them. Without `commit()` the destructor removes them; so does a
/// signal, after `install_signal_cleanup()`. Do not use one object in several threads at once; each
/// thread may have its own.
class OutputSet {
 public:
  OutputSet() = default;
  ~OutputSet();
  OutputSet(const OutputSet&) = delete;
  OutputSet& operator=(const OutputSet&) = delete;

  /// Creates the temporary file of another output and returns its name; the caller writes and
  /// closes it. If the target is a link to a regular file, the link stays and the file behind it is
  /// replaced.
  /// \throws kastor::Error if `target` exists and may not be replaced, is not a regular file, is
  /// one of `inputs` (links followed), is already an output, or lies in a directory that is missing
  /// or cannot be written.
  [[nodiscard]] std::string add(const std::string& target, OverwritePolicy policy,
                                const std::vector<std::string>& inputs = {});

  /// Renames every temporary file to its target. New files get the permissions of the umask;
  /// replaced ones keep theirs. A target that has appeared since `add()` is replaced under
  /// `OverwritePolicy::replace` if it is a regular file, and is a failure otherwise.
  /// \throws kastor::Error that names what failed; new outputs are then removed again, replaced
  /// ones cannot be restored.
  void commit();

 private:
  struct Output {
    std::string target;    // as the caller passed it
    std::string resolved;  // with links followed
    std::string temporary;
    int slot;  // in the list of the signal handler
    OverwritePolicy policy;
    bool replaces;  // a file that existed when this output was added
    mode_t mode;    // of that file
  };
  void discard() noexcept;

  std::vector<Output> m_outputs;
};

/// From now on the signals that end a process by default and that others send (SIGINT, SIGTERM,
/// SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGIO, timers and limits such as SIGALRM, SIGXCPU
/// and SIGXFSZ) first remove the temporary files of every OutputSet, and then act as by default.
/// Signals that are ignored (as SIGHUP under nohup) or have a handler keep what they have.
void install_signal_cleanup();

}  // namespace kastor::io

#endif
