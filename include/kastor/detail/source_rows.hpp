// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SOURCE_ROWS_HPP
#define KASTOR_DETAIL_SOURCE_ROWS_HPP

#include <cstdint>
#include <kastor/label.hpp>
#include <kastor/measure.hpp>
#include <span>

namespace kastor::detail {

/// From a mask to rows on the host, with nothing for the host to do in between: enqueue, fence,
/// `finish`; if that says false, once more.
template <class Exec, class T>
class SourceRows {
 public:
  SourceRows(const Exec& space, const LabelParams& params)
      : m_label(space, params), m_measure(space) {}

  void enqueue(Bands<T, Exec> bands, const BitMask<Exec>& mask, const MaskLines& lines = {}) {
    m_label.enqueue_to_measure(mask, lines);
    m_measure.enqueue(bands, m_label);
  }
  /// False: a list was too short and has grown.
  [[nodiscard]] bool finish() {
    return m_label.finish() && m_measure.finish(m_label.labels().components);
  }

  [[nodiscard]] const RunLabels<Exec>& labels() const { return m_label.labels(); }
  /// Overwritten by the next `enqueue`.
  [[nodiscard]] std::span<const Source> rows() const { return m_measure.rows(); }

 private:
  Labeller<Exec> m_label;
  Measurer<Exec, T> m_measure;
};

}  // namespace kastor::detail

#endif
