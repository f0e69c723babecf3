// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_BENCH_PEERS_HPP
#define KASTOR_APPS_BENCH_PEERS_HPP

#include <kastor/io/output_set.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/steps.hpp"
#include "bench/table.hpp"
#include "cli/run/python_script.hpp"

namespace kastor::bench {

/// The alternatives that a user has: the same steps by NumPy, SciPy and CuPy. peers.py times them
/// on the same images, which it reads from raw files.
class Peers {
 public:
  /// Asks the interpreter for its versions of the libraries.
  /// \param python  none: the environment variable KASTOR_PYTHON, else python3
  /// \throws Error if it cannot run, or if NumPy or SciPy is missing
  explicit Peers(const std::optional<std::string>& python);

  /// The names and versions of the libraries.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& versions() const {
    return m_versions;
  }

  /// Stores the images for `run()`. \throws Error if the temporary folder cannot hold them
  void hand_over(const Images& images);
  /// Stores Kastor's result of a step, if those of the peers are compared with it number by number.
  void hand_over(const std::string& step, const Answer& answer);

  /// Adds the rows of the peers to the steps of the same names, and functions that fail to
  /// `table.notes`. \throws Error if the script fails
  void run(const TimingRules& rules, Table& table) const;

 private:
  void store(const std::string& name, const void* data, std::size_t bytes);

  cli::PythonScript m_script;
  std::vector<std::pair<std::string, std::string>> m_versions;
  io::OutputSet m_outputs;  // never committed, so the files are removed in any case
  std::vector<std::pair<std::string, std::string>> m_files;
};

}  // namespace kastor::bench

#endif
