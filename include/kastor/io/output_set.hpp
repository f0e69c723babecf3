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
  /// replaced ones keep theirs. \throws kastor::Error that names what failed; new outputs are then
  /// removed again, replaced ones cannot be restored.
  void commit();

 private:
  struct Output {
    std::string target;    // as the caller passed it
    std::string resolved;  // with links followed
    std::string temporary;
    int slot;  // in the list of the signal handler
    bool replaces;
    mode_t mode;  // mode of the file that is replaced
  };
  void discard() noexcept;

  std::vector<Output> m_outputs;
};

/// From now on SIGINT, SIGTERM and SIGHUP first remove the temporary files of every OutputSet, and
/// then act as by default. Signals that are ignored (as under nohup) remain ignored.
void install_signal_cleanup();

}  // namespace kastor::io

#endif
