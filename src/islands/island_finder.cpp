// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/instantiations.hpp>
#include <kastor/island_finder.hpp>

#include "islands/island_search.hpp"

namespace kastor {

namespace {

[[nodiscard]] IslandResult copied(const FoundIslands& found) {
  IslandResult result{{}, found.positive, found.negative};
  result.islands.reserve(found.above.size() + found.below.size());
  result.islands.assign(found.above.begin(), found.above.end());
  result.islands.insert(result.islands.end(), found.below.begin(), found.below.end());
  return result;
}

}  // namespace

template <class Exec, Real T>
struct IslandFinder<Exec, T>::Plan : detail::IslandSearch<Exec, T> {
  using detail::IslandSearch<Exec, T>::IslandSearch;
};

template <class Exec, Real T>
IslandFinder<Exec, T>::IslandFinder(const Exec& space, const IslandParams& params) {
  detail::expect_islands("kastor::IslandFinder", params);
  m_plan = std::make_unique<Plan>(space, params);
}

template <class Exec, Real T>
IslandFinder<Exec, T>::~IslandFinder() = default;
template <class Exec, Real T>
IslandFinder<Exec, T>::IslandFinder(IslandFinder&&) noexcept = default;
template <class Exec, Real T>
IslandFinder<Exec, T>& IslandFinder<Exec, T>::operator=(IslandFinder&&) noexcept = default;

template <class Exec, Real T>
FoundIslands IslandFinder<Exec, T>::find(const ConstImage<T, Exec>& image,
                                         const Background<Exec, T>& background,
                                         const BitMask<Exec>& region) {
  return find(Bands<T, Exec>(&image, 1), background, region);
}
template <class Exec, Real T>
FoundIslands IslandFinder<Exec, T>::find(Bands<T, Exec> bands,
                                         const Background<Exec, T>& background,
                                         const BitMask<Exec>& region) {
  return m_plan->run(bands, background, nullptr, region);
}
template <class Exec, Real T>
FoundIslands IslandFinder<Exec, T>::find(const Detection<Exec, T>& detection, Bands<T, Exec> bands,
                                         const Background<Exec, T>& background,
                                         const BitMask<Exec>& region) {
  return m_plan->run(bands, background, &detection, region);
}
template <class Exec, Real T>
IslandResult IslandFinder<Exec, T>::operator()(const ConstImage<T, Exec>& image,
                                               const Background<Exec, T>& background,
                                               const BitMask<Exec>& region) {
  return (*this)(Bands<T, Exec>(&image, 1), background, region);
}
template <class Exec, Real T>
IslandResult IslandFinder<Exec, T>::operator()(Bands<T, Exec> bands,
                                               const Background<Exec, T>& background,
                                               const BitMask<Exec>& region) {
  return copied(find(bands, background, region));
}
template <class Exec, Real T>
IslandResult IslandFinder<Exec, T>::operator()(const Detection<Exec, T>& detection,
                                               Bands<T, Exec> bands,
                                               const Background<Exec, T>& background,
                                               const BitMask<Exec>& region) {
  return copied(find(detection, bands, background, region));
}
template <class Exec, Real T>
const RunLabels<Exec>& IslandFinder<Exec, T>::labels() const {
  return m_plan->positive.label.labels();
}
template <class Exec, Real T>
const RunLabels<Exec>& IslandFinder<Exec, T>::negative_labels() const {
  return m_plan->negative.label.labels();
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::IslandFinder<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
