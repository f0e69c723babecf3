// SPDX-License-Identifier: Apache-2.0

// What must not compile, and the sentence that the compiler has to say of it: that of the comment
// before each call. check_wrong_views.cmake reads both. Every case has a View type of its own,
// since a compiler says a sentence once for each type.

#include <Kokkos_Core.hpp>
#include <kastor/kastor.hpp>
#include <vector>

namespace wrong_views {

using Exec = Kokkos::DefaultHostExecutionSpace;
using Right = Kokkos::LayoutRight;

/// Memory that no execution space reaches.
struct FarSpace {
  using memory_space = FarSpace;
  using execution_space = Exec;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using size_type = std::size_t;
};

/// An execution space that the library knows nothing of.
struct OtherExec : Exec {
  using execution_space = OtherExec;
};

template <class V>
const V& any();  // never called: only types matter here

void wrong(const Exec& space) {
  const kastor::RunLabels<Exec> labels;
  const kastor::BitMask<Exec> mask;
  const kastor::PixelMap<Exec, float> map(1.0);
  kastor::SigmaClipper<Exec, float> clip(space);
  kastor::SourceFinder<Exec, double> find(space);
  kastor::Deblender<Exec, double> deblend(space);
  kastor::AperturePhotometer<Exec, float> aperture(space, {1.0});

  // says: the image must be a Kokkos::LayoutRight View
  (void)kastor::statistics(space, any<Kokkos::View<float**, Kokkos::LayoutLeft>>());
  // says: the image must be a rank-2 View, indexed (y, x)
  (void)kastor::sigma_clip(space, any<Kokkos::View<float*, Right>>());
  // says: the pixels must be float or double
  (void)kastor::find_sources(space, any<Kokkos::View<int**, Right>>());
  // says: the image must be a Kokkos::View
  (void)kastor::threshold(space, any<std::vector<float>>(), 1.0);
  // says: the execution space cannot reach the memory of the image
  (void)kastor::estimate_background(space, any<Kokkos::View<float**, Right, FarSpace>>());
  // says: the first argument must be an execution space instance
  (void)kastor::statistics(any<Kokkos::View<double**, Right>>(),
                           any<Kokkos::View<float**, Right>>());
  // says: the library was not compiled for this execution space
  (void)kastor::statistics(any<OtherExec>(), any<Kokkos::View<float**, Right>>());
  // says: the image must be a Kokkos::LayoutRight View
  (void)clip(any<Kokkos::View<float**, Kokkos::LayoutStride>>());
  // says: the image must be a Kokkos::LayoutRight View
  (void)kastor::find_constant_fill(space, any<Kokkos::View<double**, Kokkos::LayoutLeft>>());
  // says: the pixels must be float or double
  kastor::exclude_fill(space, any<Kokkos::View<const int**, Right>>(), {}, mask, mask);
  // says: all images of one call or plan must have the same pixel type
  (void)find(any<Kokkos::View<float**, Right>>());
  // says: the image must be a Kokkos::LayoutRight View
  (void)deblend.peaks(any<Kokkos::View<double[5][6], Kokkos::LayoutLeft>>(), {0.0, 1.0}, {},
                      labels);
  // says: the pixels must be float or double
  (void)deblend.children(any<Kokkos::View<short**, Right>>(), {0.0, 1.0});
  // says: all images of one call or plan must have the same pixel type
  (void)aperture(any<Kokkos::View<double**, Right>>(), {}, {});
  // says: the image must be a rank-2 View, indexed (y, x)
  (void)kastor::aperture_fluxes(space, any<Kokkos::View<float*, Right>>(), {}, {}, {1.0});
  // says: the image must be a rank-2 View, indexed (y, x)
  (void)kastor::convolve(space, any<Kokkos::View<double***, Right>>(), kastor::lesson_kernel());
  // says: the image to be filled must not have const pixels
  kastor::fill_map(space, map, any<Kokkos::View<const float**, Right>>());
  // says: the labels must be std::int32_t or std::int64_t
  kastor::write_labels(space, labels, any<Kokkos::View<float[3][4], Right>>());
  // says: the signal and the taps must be contiguous
  (void)kastor::convolve(space, any<Kokkos::View<float*, Kokkos::LayoutStride>>(),
                         any<Kokkos::View<float*>>());
}

}  // namespace wrong_views
