// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_KASTOR_HPP
#define KASTOR_KASTOR_HPP

#include <kastor/aperture.hpp>
#include <kastor/artefact_noise.hpp>
#include <kastor/background.hpp>
#include <kastor/catalogue.hpp>
#include <kastor/communicator.hpp>
#include <kastor/component.hpp>
#include <kastor/component_maps.hpp>
#include <kastor/constant_fill.hpp>
#include <kastor/convolution_kernel.hpp>
#include <kastor/convolve.hpp>
#include <kastor/deblend.hpp>
#include <kastor/detection_filter.hpp>
#include <kastor/error.hpp>
#include <kastor/fit.hpp>
#include <kastor/forced.hpp>
#include <kastor/gaussian.hpp>
#include <kastor/image.hpp>
#include <kastor/island.hpp>
#include <kastor/island_finder.hpp>
#include <kastor/island_maps.hpp>
#include <kastor/kron.hpp>
#include <kastor/kron_flux.hpp>
#include <kastor/label.hpp>
#include <kastor/measure.hpp>
#include <kastor/noise_correlation.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/primes.hpp>
#include <kastor/row_source.hpp>
#include <kastor/sigma_clip.hpp>
#include <kastor/simulate.hpp>
#include <kastor/source_finder.hpp>
#include <kastor/statistics.hpp>
#include <kastor/stream_params.hpp>
#include <kastor/streamed_island_finder.hpp>
#include <kastor/streamed_source_finder.hpp>
#include <kastor/threshold.hpp>
#include <kastor/version.hpp>

#endif
