// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SIGMA_CLIP_IMPL_HPP
#define KASTOR_DETAIL_SIGMA_CLIP_IMPL_HPP

#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <kastor/detail/clip_plan.hpp>
#include <kastor/sigma_clip.hpp>

namespace kastor {

template <class Exec, Real T>
struct SigmaClipper<Exec, T>::Plan {
  Plan(const Exec& s, const SigmaClipParams& params) : space(s), clip(s, params) {}

  [[nodiscard]] SigmaClipResult run(Bands<T, Exec> bands) {
    const Kokkos::Profiling::ScopedRegion region("kastor::sigma_clip");
    clip.start(bands, {}, {});
    space.fence("kastor::sigma_clip");
    return clip.finish(bands);
  }

  Exec space;
  detail::ClipPlan<Exec, T> clip;
};

template <class Exec, Real T>
SigmaClipper<Exec, T>::SigmaClipper(const Exec& space, const SigmaClipParams& params) {
  m_plan = std::make_unique<Plan>(space, params);
}

template <class Exec, Real T>
SigmaClipper<Exec, T>::~SigmaClipper() = default;
template <class Exec, Real T>
SigmaClipper<Exec, T>::SigmaClipper(SigmaClipper&&) noexcept = default;
template <class Exec, Real T>
SigmaClipper<Exec, T>& SigmaClipper<Exec, T>::operator=(SigmaClipper&&) noexcept = default;

template <class Exec, Real T>
SigmaClipResult SigmaClipper<Exec, T>::operator()(const ConstImage<T, Exec>& image) {
  return m_plan->run(Bands<T, Exec>(&image, 1));
}
template <class Exec, Real T>
SigmaClipResult SigmaClipper<Exec, T>::operator()(Bands<T, Exec> bands) {
  return m_plan->run(bands);
}

}  // namespace kastor

#endif
