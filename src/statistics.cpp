// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/instantiations.hpp>
#include <kastor/sigma_clip.hpp>
#include <kastor/statistics.hpp>
#include <string>

namespace kastor {

template <class Exec, Real T>
Statistics statistics_of_image(const Exec& space, const ConstImage<T, Exec>& image) {
  // The first pass of a clip is the statistics of all finite pixels.
  SigmaClipParams first_pass_only;
  first_pass_only.max_passes = 1;
  SigmaClipper<Exec, T> clip(space, first_pass_only);
  try {
    return clip(image).all;
  } catch (const Error&) {
    // An image without finite pixels is the only possible error; the message must name this
    // function.
    detail::throw_expectation("kastor::statistics",
                              "all " + std::to_string(image.extent(0) * image.extent(1)) +
                                  " pixels are blank; expected at least one finite pixel");
  }
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T)                                 \
  template kastor::Statistics kastor::statistics_of_image<EXEC, T>( \
      const EXEC&, const kastor::ConstImage<T, EXEC>&);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
