// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_PYTHON_SCRIPT_HPP
#define KASTOR_APPS_CLI_RUN_PYTHON_SCRIPT_HPP

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/report/json.hpp"

namespace kastor::cli {

/// What a script needs, for messages.
struct ScriptNeeds {
  std::string user;      ///< what runs it, as in "--peers"
  std::string file;      ///< its name
  std::string packages;  ///< as in "NumPy and SciPy"
};

/// A script that the installation has, and the Python that runs it. It prints a JSON object a line.
class PythonScript {
 public:
  /// Asks the script by the word "check" whether this Python has what it needs; it answers an
  /// object, with "missing" if not.
  /// \param python  none: the environment variable KASTOR_PYTHON, else python3
  /// \throws Error if the script is not there, cannot run or misses something
  PythonScript(ScriptNeeds needs, const std::optional<std::string>& python);

  [[nodiscard]] const Json& answer() const { return m_answer; }
  /// Passes each line to `take`, and returns the exit code. \throws Error for a line that is no
  /// JSON object
  int run(const std::vector<std::string>& words,
          const std::function<void(const Json&)>& take) const;

 private:
  [[noreturn]] void unusable(const std::string& found) const;

  ScriptNeeds m_needs;
  std::string m_python, m_script;
  Json m_answer;
};

/// A file in the folder for temporary files: TMPDIR, else /tmp. \param of  what it is of
[[nodiscard]] std::string temporary_target(const std::string& of, const std::string& name);

}  // namespace kastor::cli

#endif
