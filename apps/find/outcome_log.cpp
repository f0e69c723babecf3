// SPDX-License-Identifier: Apache-2.0
#include "find/outcome_log.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/report/format.hpp"
#include "cli/report/json.hpp"
#include "cli/report/words.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

std::string json_of(const std::string& image, const Outcome& outcome) {
  if (outcome.state == Outcome::State::failed)
    return json_line({{"file", image}, {"error", outcome.failure}});
  if (outcome.state == Outcome::State::up_to_date)
    return json_line({{"file", image}, {"up_to_date", true}});
  return outcome.json;
}

std::string row_of(const std::string& image, const Outcome& outcome) {
  const std::string name = one_line(image);
  if (outcome.state == Outcome::State::failed)
    return fmt::format("{:>10} {:>14} {:>11}  {}\n", "failed", "", "", name);
  if (outcome.state == Outcome::State::up_to_date)
    return fmt::format("{:>10} {:>14} {:>11}  {}\n", "up to date", "", "", name);
  const std::string level =
      std::isfinite(outcome.level) ? fmt::format("{:.7g}", outcome.level) : "";
  return fmt::format("{:>10} {:>14} {:>11.6f}  {}\n", outcome.sources, level, outcome.seconds,
                     name);
}

/// The unit that all images share; empty if they do not.
std::string unit_of(const std::vector<Outcome>& outcomes) {
  std::string unit;
  bool first = true;
  for (const auto& outcome : outcomes) {
    if (outcome.state != Outcome::State::found) continue;
    if (!first && outcome.unit != unit) return "";
    unit = outcome.unit;
    first = false;
  }
  return one_line(unit);
}

}  // namespace

void OutcomeLog::set(std::size_t image, Outcome outcome) {
  const std::scoped_lock lock(m_mutex);
  m_outcomes[image] = std::move(outcome);
  ++m_known;
}

OutcomeLog::News OutcomeLog::news(bool json) {
  const std::scoped_lock lock(m_mutex);
  News news;
  for (; m_told < m_outcomes.size(); ++m_told) {
    Outcome& outcome = m_outcomes[m_told];
    if (outcome.state == Outcome::State::pending) break;
    if (json) news.results += json_of(m_images[m_told], outcome);
    outcome.json.clear();
    outcome.json.shrink_to_fit();
    if (outcome.state == Outcome::State::failed) news.failures.push_back(outcome.failure);
  }
  return news;
}

std::size_t OutcomeLog::count(Outcome::State state) const {
  const std::scoped_lock lock(m_mutex);
  return static_cast<std::size_t>(
      std::count_if(m_outcomes.begin(), m_outcomes.end(),
                    [state](const auto& outcome) { return outcome.state == state; }));
}

std::size_t OutcomeLog::known() const {
  const std::scoped_lock lock(m_mutex);
  return m_known;
}

std::int64_t OutcomeLog::pixels() const {
  const std::scoped_lock lock(m_mutex);
  std::int64_t pixels = 0;
  for (const auto& outcome : m_outcomes) pixels += outcome.pixels;
  return pixels;
}

std::string OutcomeLog::table(const std::string& level_name, double seconds) const {
  const std::scoped_lock lock(m_mutex);
  std::int64_t sources = 0;
  std::string rows;
  for (std::size_t i = 0; i < m_outcomes.size(); ++i) {
    sources += m_outcomes[i].sources;
    rows += row_of(m_images[i], m_outcomes[i]);
  }
  const auto images = static_cast<std::int64_t>(m_outcomes.size());
  const std::string unit = unit_of(m_outcomes);
  std::string text = fmt::format("{}, {}, {:.3f} s ({:.3g} images a second)\n",
                                 count_of(images, "image"), count_of(sources, "source"), seconds,
                                 seconds > 0 ? static_cast<double>(images) / seconds : 0.0);
  if (!unit.empty()) text += fmt::format("{} in {}\n", level_name, unit);
  return text + "\n" +
         fmt::format("{:>10} {:>14} {:>11}  {}\n", "sources", level_name, "seconds", "image") +
         rows;
}

}  // namespace kastor::cli
