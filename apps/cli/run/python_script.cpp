// SPDX-License-Identifier: Apache-2.0
#include "cli/run/python_script.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <kastor/error.hpp>
#include <utility>

#include "cli/run/child_process.hpp"

namespace kastor::cli {
namespace {

namespace fs = std::filesystem;

/// The path of the script, relative to that of the program.
std::string script_path(const ScriptNeeds& needs) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const std::string path =
      (program.parent_path() / KASTOR_DATA_FROM_BIN / needs.file).lexically_normal().string();
  if (fs::is_regular_file(path, error)) return path;
  throw Error(needs.user + ": found no " + path +
              "; expected the script that the installation puts there");
}

std::string chosen_python(const std::optional<std::string>& wanted) {
  if (wanted) return *wanted;
  const char* chosen = std::getenv("KASTOR_PYTHON");
  return chosen != nullptr && *chosen != '\0' ? chosen : "python3";
}

/// The JSON object on the line; null if there is none.
Json object_on(const std::string& line) {
  Json json = Json::parse(line, nullptr, false);
  return json.is_object() ? json : Json(nullptr);
}

}  // namespace

PythonScript::PythonScript(ScriptNeeds needs, const std::optional<std::string>& python)
    : m_needs(std::move(needs)), m_python(chosen_python(python)), m_script(script_path(m_needs)) {
  int code = 0;
  try {
    code = run_program({m_python, "-B", m_script, "check"},
                       [this](const std::string& line) { m_answer = object_on(line); });
  } catch (const Error& error) {
    throw Error(m_needs.user + ": " + error.what() + " (set --python or KASTOR_PYTHON)");
  }
  if (m_answer.contains("missing")) unusable(m_answer.at("missing").get<std::string>());
  if (code != 0 || m_answer.empty())
    unusable("ended with exit code " + std::to_string(code) + " and no answer");
}

void PythonScript::unusable(const std::string& found) const {
  throw Error(m_needs.user + ": " + m_python + ": " + found + "; expected a Python 3 with " +
              m_needs.packages + " (set --python or KASTOR_PYTHON)");
}

int PythonScript::run(const std::vector<std::string>& words,
                      const std::function<void(const Json&)>& take) const {
  std::vector<std::string> all{m_python, "-B", m_script};
  all.insert(all.end(), words.begin(), words.end());
  try {
    return run_program(all, [&](const std::string& line) {
      const Json json = object_on(line);
      if (json.is_null()) {
        throw Error(m_needs.file + ": found '" + line + "'; expected one JSON object a line");
      }
      take(json);
    });
  } catch (const Json::exception& error) {
    throw Error(m_needs.file + ": found a line with missing or wrong fields: " + error.what());
  }
}

std::string temporary_target(const std::string& of, const std::string& name) {
  const char* chosen = std::getenv("TMPDIR");
  const fs::path folder = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  return (folder / ("kastor-" + of + "-" + std::to_string(getpid()) + "-" + name)).string();
}

}  // namespace kastor::cli
