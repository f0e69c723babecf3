// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_OUTCOME_LOG_HPP
#define KASTOR_APPS_FIND_OUTCOME_LOG_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

namespace kastor::cli {

/// The outcome for one image.
struct Outcome {
  enum class State { pending, found, up_to_date, failed } state = State::pending;
  std::string failure;  ///< one line
  std::string json;     ///< the line of an image that was searched
  std::int64_t sources = 0;
  double level = std::numeric_limits<double>::quiet_NaN();  ///< threshold or noise
  std::string unit;                                         ///< of `level`
  std::int64_t pixels = 0;
  double seconds = 0;  ///< of finding, without reading and writing
};

/// Collects the outcomes, which arrive in any order, and reports them in the order of the images.
class OutcomeLog {
 public:
  explicit OutcomeLog(std::vector<std::string> images)
      : m_images(std::move(images)), m_outcomes(m_images.size()) {}

  /// May be called from any thread, once per image.
  void set(std::size_t image, Outcome outcome);

  /// The outcomes since the last call, up to the first image that is still pending.
  struct News {
    std::string results;                ///< lines for stdout, with `json`
    std::vector<std::string> failures;  ///< one line each
  };
  [[nodiscard]] News news(bool json);

  [[nodiscard]] std::size_t size() const { return m_images.size(); }
  [[nodiscard]] std::size_t count(Outcome::State state) const;
  /// The number of images that are not pending.
  [[nodiscard]] std::size_t known() const;
  [[nodiscard]] std::int64_t pixels() const;

  /// The table of all images. \param level_name  "threshold" or "noise"  \param seconds  in total
  [[nodiscard]] std::string table(const std::string& level_name, double seconds) const;

 private:
  std::vector<std::string> m_images;
  mutable std::mutex m_mutex;
  std::vector<Outcome> m_outcomes;
  std::size_t m_told = 0;
  std::size_t m_known = 0;
};

}  // namespace kastor::cli

#endif
