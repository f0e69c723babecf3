// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_ARTEFACT_PASS_HPP
#define KASTOR_APPS_FIND_ARTEFACT_PASS_HPP

#include <kastor/artefact_noise.hpp>
#include <kastor/island_finder.hpp>
#include <span>
#include <string>

namespace kastor::cli {

/// One sentence on what --adaptive-rms did. \param before,after  islands above the background
[[nodiscard]] std::string artefact_note_of(const ArtefactNoiseSummary& summary, double min_snr,
                                           std::int64_t before, std::int64_t after);

/// The second pass of --adaptive-rms: finds again, with the noise raised near bright sources.
template <class Exec, class T>
class ArtefactPass {
 public:
  ArtefactPass(const Exec& space, double min_snr, double beam_width)
      : m_min_snr(min_snr), m_noise(space, params_of(min_snr, beam_width)) {}

  /// \param background  of the first pass; becomes that of the second
  /// \param result      likewise
  /// \param find        `find()` gives the islands above `background`
  template <class Find>
  void operator()(const ConstImage<T, Exec>& pixels, const BitMask<Exec>& usable,
                  Background<Exec, T>& background, IslandResult& result, const Find& find) {
    const std::int64_t before = result.positive.islands;
    const std::span<const Island> above(result.islands.data(), static_cast<std::size_t>(before));
    background = m_noise(pixels, background, above, usable);
    if (m_noise.summary().bright > 0) result = find();
    m_note = artefact_note_of(m_noise.summary(), m_min_snr, before, result.positive.islands);
  }

  /// On the last image.
  [[nodiscard]] const std::string& note() const { return m_note; }

 private:
  [[nodiscard]] static ArtefactNoiseParams params_of(double min_snr, double beam_width) {
    ArtefactNoiseParams params;
    params.min_snr = min_snr;
    params.beam_width = beam_width;
    return params;
  }

  double m_min_snr;
  ArtefactNoise<Exec, T> m_noise;
  std::string m_note;
};

}  // namespace kastor::cli

#endif
