// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_COMPONENT_PLAN_HPP
#define KASTOR_APPS_FIND_COMPONENT_PLAN_HPP

#include <cstdint>
#include <kastor/fit.hpp>
#include <optional>

#include "find/island_plan.hpp"

namespace kastor::cli {

/// Appends the components of other islands; ids and groups go on.
void append(FittedComponents& all, const FittedComponents& more);

/// Whether a fitter with one set of parameters gives what one with the other does.
[[nodiscard]] bool are_same_fits(const FitParams& a, const FitParams& b);

/// Fits components to the islands of a plan, on one execution space instance.
template <class Exec, class T>
class ComponentPlan {
 public:
  explicit ComponentPlan(const Exec& space) : m_space(space) {}

  /// \param plan  that searched these pixels, with peaks
  [[nodiscard]] FittedComponents operator()(const ConstImage<T, Exec>& pixels,
                                            const IslandPlan<Exec, T>& plan,
                                            const FitParams& params) {
    if (!m_fitter || !are_same_fits(m_params, params)) {
      m_fitter.reset();  // first frees the memory
      m_fitter.emplace(m_space, params);
      m_params = params;
    }
    FittedComponents all;
    for (const auto& side : plan.peaks()->sides()) {
      if (side.islands.empty()) continue;
      append(all, (*m_fitter)(Bands<T, Exec>(&pixels, 1), plan.background(), side.islands,
                              side.labels, side.peaks, plan.usable()));
    }
    return all;
  }

 private:
  Exec m_space;
  FitParams m_params;
  std::optional<ComponentFitter<Exec, T>> m_fitter;
};

}  // namespace kastor::cli

#endif
