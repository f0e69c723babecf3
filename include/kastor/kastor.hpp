// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_KASTOR_HPP
#define KASTOR_KASTOR_HPP

#include <kastor/background.hpp>
#include <kastor/catalogue.hpp>
#include <kastor/constant_fill.hpp>
#include <kastor/convolution_kernel.hpp>
#include <kastor/convolve.hpp>
#include <kastor/error.hpp>
#include <kastor/image.hpp>
#include <kastor/island.hpp>
#include <kastor/island_finder.hpp>
#include <kastor/island_maps.hpp>
#include <kastor/label.hpp>
#include <kastor/measure.hpp>
#include <kastor/noise_correlation.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/primes.hpp>
#include <kastor/sigma_clip.hpp>
#include <kastor/simulate.hpp>
#include <kastor/source_finder.hpp>
#include <kastor/statistics.hpp>
#include <kastor/threshold.hpp>
#include <kastor/version.hpp>

#endif
