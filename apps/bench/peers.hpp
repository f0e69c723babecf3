// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_BENCH_PEERS_HPP
#define KASTOR_APPS_BENCH_PEERS_HPP

#include <functional>
#include <kastor/io/output_set.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/steps.hpp"
#include "bench/table.hpp"

namespace kastor::bench {

/// What a user would take instead: the same steps by NumPy, SciPy and CuPy, timed by peers.py on
/// the same images, which it gets as raw files.
class Peers {
 public:
  /// Asks the interpreter what it has.
  /// \param python  none: KASTOR_PYTHON of the environment, else python3
  /// \throws Error if it cannot run, or NumPy or SciPy is missing
  explicit Peers(const std::optional<std::string>& python);

  /// Names and versions.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& versions() const {
    return m_versions;
  }

  /// Keeps the images for `run()`. \throws Error if the temporary folder cannot hold them.
  void hand_over(const Images& images);
  /// Keeps Kastor's result of a step, if the peers' are to be compared with it number by number.
  void hand_over(const std::string& step, const Answer& answer);

  /// Adds their rows to the steps of the same names. Functions that failed are added to
  /// `table.notes`. \throws Error if the script does
  void run(const TimingRules& rules, Table& table) const;

 private:
  void store(const std::string& name, const void* data, std::size_t bytes);

  std::string m_python, m_script;
  std::vector<std::pair<std::string, std::string>> m_versions;
  io::OutputSet m_outputs;  // never committed: removed whatever happens
  std::vector<std::pair<std::string, std::string>> m_files;
};

/// In the folder for temporary files: TMPDIR, else /tmp.
[[nodiscard]] std::string temporary_target(const std::string& name);

}  // namespace kastor::bench

#endif
