// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <kastor/detail/instantiations.hpp>
#include <kastor/sigma_clip.hpp>

#include "sigma_clip/clip_plan.hpp"

namespace kastor {

template <class Exec, Real T>
struct SigmaClipper<Exec, T>::Plan {
  Plan(const Exec& s, const SigmaClipParams& params) : space(s), clip(s, params) {}

  [[nodiscard]] SigmaClipResult run(Bands<T, Exec> bands) {
    const Kokkos::Profiling::ScopedRegion region("kastor::sigma_clip");
    clip.start(bands, {}, nullptr);
    space.fence("kastor::sigma_clip");
    return clip.finish(bands);
  }

  Exec space;
  detail::ClipPlan<Exec, T> clip;
};

template <class Exec, Real T>
SigmaClipper<Exec, T>::SigmaClipper(const Exec& space, const SigmaClipParams& params)
    : m_plan(std::make_unique<Plan>(space, params)) {}

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

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::SigmaClipper<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
