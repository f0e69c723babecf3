// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_GENERATORS_HPP
#define KASTOR_TESTS_GENERATORS_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numbers>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "naive.hpp"

/// Test images and masks, made on the host, the same for one seed everywhere but for the last bits
/// of the maths library.
namespace testing_support {

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : m_state(seed) {}

  std::uint64_t next() {
    m_state += 0x9e3779b97f4a7c15u;
    std::uint64_t z = m_state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In (0, 1).
  double uniform() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }
  /// In [0, count).
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(count));
  }
  /// Mean 0, standard deviation 1 (Box and Muller).
  double gaussian() {
    if (m_has_spare) {
      m_has_spare = false;
      return m_spare;
    }
    const double radius = std::sqrt(-2 * std::log(uniform()));
    const double angle = 2 * std::numbers::pi * uniform();
    m_spare = radius * std::sin(angle);
    m_has_spare = true;
    return radius * std::cos(angle);
  }

 private:
  std::uint64_t m_state;
  double m_spare = 0;
  bool m_has_spare = false;
};

// -------------------------------------------------------------------------------------- images

/// How the pixels of a test image are distributed.
enum class Pixels {
  gaussian,
  contaminated,  ///< Gaussian, 2 % bright sources, some NaN and infinities
  uniform,
  constant,
  two_values,
  narrow_integers,  ///< Gaussian of std 1.5, rounded: nothing but ties
  wide_integers,    ///< Gaussian of std 20, rounded
  tenths,           ///< narrow_integers times 0.1: ties at values that no binary grid holds
  sixteen_bit,      ///< a CCD frame: integers of std 20 about 30000, saturated stars at 65535
  half_blank,
  one_finite,
  exponential,
  cauchy,         ///< standard deviation without a limit: many passes
  outliers,       ///< Gaussian and a few pixels of +-1e30 (float) or +-1e150 (double)
  wild,           ///< Gaussian and 1 % outliers of every magnitude from 1 to 1e30
  huge,           ///< Gaussian of std 1e37 (float) or 1e150 (double)
  denormal,       ///< Gaussian of std 1e-40 (float) or 1e-310 (double)
  offset,         ///< Gaussian of std 1 about 1e6
  signed_zeros,   ///< +0 and -0 in turn, few other pixels
  ramp,           ///< increasing along the rows
  heavier_below,  ///< the lower half of the image is 1000 times noisier
  striped         ///< every 2nd, 3rd, ... 64th pixel follows another law: traps for a fixed stride
};

inline const std::vector<std::string> pixel_names = [] {
  std::istringstream words(
      "gaussian contaminated uniform constant two_values narrow_integers wide_integers tenths "
      "sixteen_bit half_blank one_finite exponential cauchy outliers wild huge denormal offset "
      "signed_zeros ramp heavier_below striped");
  return std::vector<std::string>(std::istream_iterator<std::string>(words), {});
}();
[[nodiscard]] inline const std::string& name_of(Pixels kind) {
  return pixel_names[static_cast<std::size_t>(kind)];
}

inline const std::vector<Pixels> all_pixel_kinds = [] {
  std::vector<Pixels> kinds;
  for (std::size_t i = 0; i < pixel_names.size(); ++i) kinds.push_back(static_cast<Pixels>(i));
  return kinds;
}();

/// Pixel i of `pixels`, of which `finite_one` is the one of that kind.
template <class T>
[[nodiscard]] double pixel_of(Pixels kind, std::int64_t i, std::int64_t pixels,
                              std::int64_t finite_one, Random& random) {
  constexpr bool is_float = std::is_same_v<T, float>;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  using enum Pixels;
  if (kind == constant) return 0.1;
  if (kind == one_finite) return i == finite_one ? 2.5 : nan;
  if (kind == ramp) return static_cast<double>(i) - 0.3 * static_cast<double>(pixels);
  if (kind == uniform) return random.uniform();
  if (kind == two_values) return static_cast<double>(random.below(2));
  if (kind == exponential) return -std::log(random.uniform());
  if (kind == cauchy) return std::tan(std::numbers::pi * (random.uniform() - 0.5));
  if (kind == half_blank && random.below(2) == 0) return nan;
  const double value = random.gaussian();
  if (kind == contaminated) {
    const std::int64_t fate = random.below(1000);
    if (fate == 20) return nan;
    if (fate == 21) return random.below(2) == 0 ? infinity : -infinity;
    return 0.0133 * value - 1e-5 + (fate < 20 ? 0.05 / random.uniform() : 0);
  }
  if (kind == narrow_integers) return std::round(1.5 * value);
  if (kind == wide_integers) return std::round(20 * value);
  if (kind == tenths) return 0.1 * std::round(1.5 * value);
  if (kind == sixteen_bit) return random.below(200) == 0 ? 65535 : std::round(30000 + 20 * value);
  if (kind == outliers && random.below(5000) == 0)
    return (is_float ? 1e30 : 1e150) * (random.uniform() - 0.3);
  if (kind == wild && random.below(50) == 0)
    return (random.below(2) == 0 ? 1 : -1) * std::pow(10, 30 * random.uniform());
  if (kind == huge) return (is_float ? 1e37 : 1e150) * value;
  if (kind == denormal) return (is_float ? 1e-40 : 1e-310) * value;
  if (kind == offset) return 1e6 + value;
  if (kind == signed_zeros && random.below(100) != 0) return i % 2 == 0 ? 0.0 : -0.0;
  if (kind == heavier_below) return (i < pixels / 2 ? 1 : 1000) * value;
  if (kind == striped && i % (2 + (i / 40000) % 63) == 0) return 10 * value + 100;
  return value;
}

template <class T>
[[nodiscard]] HostImage<T> make_image(Pixels kind, std::int64_t ny, std::int64_t nx,
                                      std::uint64_t seed) {
  Random random(seed);
  HostImage<T> image(ny, nx);
  const std::int64_t finite_one = random.below(ny * nx);
  for (std::int64_t i = 0; i < ny * nx; ++i)
    image.values[static_cast<std::size_t>(i)] =
        static_cast<T>(pixel_of<T>(kind, i, ny * nx, finite_one, random));
  return image;
}

/// (ny, nx) that catch what round shapes hide.
inline constexpr std::pair<std::int64_t, std::int64_t> awkward_shapes[] = {
    {1, 1},   {1, 2},  {2, 1},   {1, 63},    {1, 257},
    {257, 1}, {3, 65}, {64, 64}, {127, 253}, {300, 1000}};

[[nodiscard]] inline std::string shape_name(std::int64_t ny, std::int64_t nx) {
  return std::to_string(ny) + " x " + std::to_string(nx);
}

// --------------------------------------------------------------------------------------- masks

[[nodiscard]] inline HostMask random_mask(std::int64_t ny, std::int64_t nx, double density,
                                          std::uint64_t seed) {
  Random random(seed);
  HostMask mask(ny, nx);
  for (std::uint8_t& pixel : mask.values) pixel = random.uniform() < density ? 1 : 0;
  return mask;
}

template <class Rule>
[[nodiscard]] HostMask mask_where(std::int64_t ny, std::int64_t nx, const Rule& rule) {
  HostMask mask(ny, nx);
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) mask(y, x) = rule(y, x) ? 1 : 0;
  }
  return mask;
}

/// One line of pixels from the corner to the middle, its windings one pixel apart.
[[nodiscard]] inline HostMask spiral_mask(std::int64_t ny, std::int64_t nx) {
  constexpr std::int64_t dy[] = {0, 1, 0, -1};
  constexpr std::int64_t dx[] = {1, 0, -1, 0};
  HostMask mask(ny, nx);
  const auto is_set = [&](std::int64_t y, std::int64_t x) {
    return y >= 0 && y < ny && x >= 0 && x < nx && mask(y, x) != 0;
  };
  std::int64_t y = 0;
  std::int64_t x = 0;
  int direction = 0;
  mask(0, 0) = 1;
  for (int stuck = 0; stuck < 2;) {
    const std::int64_t yn = y + dy[direction];
    const std::int64_t xn = x + dx[direction];
    const bool inside = yn >= 0 && yn < ny && xn >= 0 && xn < nx;
    if (!inside || is_set(yn + dy[direction], xn + dx[direction])) {
      direction = (direction + 1) % 4;
      ++stuck;
      continue;
    }
    y = yn;
    x = xn;
    mask(y, x) = 1;
    stuck = 0;
  }
  return mask;
}

struct NamedMask {
  std::string name;
  HostMask mask;
};

/// What breaks labelling algorithms, in one shape.
[[nodiscard]] inline std::vector<NamedMask> torture_masks(std::int64_t ny, std::int64_t nx) {
  using Index = std::int64_t;
  const Index bottom = ny - 1;
  const Index right = nx - 1;
  std::vector<NamedMask> masks;
  const auto add = [&](const char* name, HostMask mask) {
    masks.push_back({std::string(name) + ' ' + shape_name(ny, nx), std::move(mask)});
  };
  const auto add_rule = [&](const char* name, const auto& rule) {
    add(name, mask_where(ny, nx, rule));
  };
  add_rule("zeros", [](Index, Index) { return false; });
  add_rule("ones", [](Index, Index) { return true; });
  add_rule("checkerboard", [](Index y, Index x) { return (y + x) % 2 == 0; });
  add_rule("other checkerboard", [](Index y, Index x) { return (y + x) % 2 == 1; });
  add_rule("lone pixels", [](Index y, Index x) { return y % 2 == 0 && x % 2 == 0; });
  add_rule("first pixel", [](Index y, Index x) { return y == 0 && x == 0; });
  add_rule("last pixel", [=](Index y, Index x) { return y == bottom && x == right; });
  add_rule("corners",
           [=](Index y, Index x) { return (y == 0 || y == bottom) && (x == 0 || x == right); });
  add_rule("one row", [=](Index y, Index) { return y == ny / 2; });
  add_rule("one column", [=](Index, Index x) { return x == nx / 2; });
  add_rule("rows", [](Index y, Index) { return y % 2 == 0; });
  add_rule("columns", [](Index, Index x) { return x % 2 == 0; });
  // The teeth meet only in the last row: a label travels all the way back.
  add_rule("comb, back below", [=](Index y, Index x) { return x % 2 == 0 || y == bottom; });
  add_rule("comb, back above", [](Index y, Index x) { return x % 2 == 0 || y == 0; });
  add_rule("comb, back left", [](Index y, Index x) { return y % 2 == 0 || x == 0; });
  add_rule("comb, back right", [=](Index y, Index x) { return y % 2 == 0 || x == right; });
  add_rule("snake",
           [=](Index y, Index x) { return y % 2 == 0 || (y % 4 == 1 ? x == right : x == 0); });
  add_rule("standing snake",
           [=](Index y, Index x) { return x % 2 == 0 || (x % 4 == 1 ? y == bottom : y == 0); });
  // Pairs of teeth joined at the bottom, pairs of pairs one row below, ...
  add_rule("tournament", [=](Index y, Index x) {
    if (x % 2 == 0) return true;
    Index level = 0;
    for (Index i = x / 2; i % 2 == 1; i /= 2) ++level;
    return y == std::min(bottom, level + 1);
  });
  add_rule("nested rings", [=](Index y, Index x) {
    return std::min({y, x, bottom - y, right - x}) % 2 == 0;
  });
  add_rule("nested open rings", [=](Index y, Index x) {
    return std::min({y, x, bottom - y, right - x}) % 2 == 0 && !(x == nx / 2 && y < ny / 2);
  });
  add_rule("falling diagonals", [](Index y, Index x) { return (x - y + 4096) % 3 == 0; });
  add_rule("rising diagonals", [](Index y, Index x) { return (x + y) % 3 == 0; });
  add_rule("zigzag",
           [](Index y, Index x) { return (x + (y % 8 < 4 ? y % 4 : 4 - y % 4)) % 5 == 0; });
  add_rule("crosses", [](Index y, Index x) { return (x - y + 4096) % 7 == 0 || (x + y) % 7 == 0; });
  add("spiral", spiral_mask(ny, nx));
  return masks;
}

}  // namespace testing_support

#endif
