// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_GENERATORS_HPP
#define KASTOR_TESTS_GENERATORS_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
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

[[nodiscard]] inline const char* name_of(Pixels kind) {
  switch (kind) {
    case Pixels::gaussian:
      return "gaussian";
    case Pixels::contaminated:
      return "contaminated";
    case Pixels::uniform:
      return "uniform";
    case Pixels::constant:
      return "constant";
    case Pixels::two_values:
      return "two values";
    case Pixels::narrow_integers:
      return "narrow integers";
    case Pixels::wide_integers:
      return "wide integers";
    case Pixels::tenths:
      return "tenths";
    case Pixels::sixteen_bit:
      return "sixteen bit";
    case Pixels::half_blank:
      return "half blank";
    case Pixels::one_finite:
      return "one finite pixel";
    case Pixels::exponential:
      return "exponential";
    case Pixels::cauchy:
      return "cauchy";
    case Pixels::outliers:
      return "outliers";
    case Pixels::wild:
      return "wild";
    case Pixels::huge:
      return "huge";
    case Pixels::denormal:
      return "denormal";
    case Pixels::offset:
      return "offset";
    case Pixels::signed_zeros:
      return "signed zeros";
    case Pixels::ramp:
      return "ramp";
    case Pixels::heavier_below:
      return "heavier below";
    case Pixels::striped:
      return "striped";
  }
  return "?";
}

inline constexpr Pixels all_pixel_kinds[] = {
    Pixels::gaussian,      Pixels::contaminated,    Pixels::uniform,       Pixels::constant,
    Pixels::two_values,    Pixels::narrow_integers, Pixels::wide_integers, Pixels::tenths,
    Pixels::sixteen_bit,   Pixels::half_blank,      Pixels::one_finite,    Pixels::exponential,
    Pixels::cauchy,        Pixels::outliers,        Pixels::wild,          Pixels::huge,
    Pixels::denormal,      Pixels::offset,          Pixels::signed_zeros,  Pixels::ramp,
    Pixels::heavier_below, Pixels::striped};

template <class T>
[[nodiscard]] HostImage<T> make_image(Pixels kind, std::int64_t ny, std::int64_t nx,
                                      std::uint64_t seed) {
  constexpr bool is_float = std::is_same_v<T, float>;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const std::int64_t pixels = ny * nx;
  Random random(seed);
  HostImage<T> image(ny, nx);
  const std::int64_t finite_one = random.below(pixels);
  for (std::int64_t i = 0; i < pixels; ++i) {
    double value = 0;
    switch (kind) {
      case Pixels::gaussian:
        value = random.gaussian();
        break;
      case Pixels::contaminated: {
        value = 0.0133 * random.gaussian() - 1e-5;
        const std::int64_t fate = random.below(1000);
        if (fate < 20) value += 0.05 / random.uniform();
        if (fate == 20) value = nan;
        if (fate == 21) value = random.below(2) == 0 ? infinity : -infinity;
        break;
      }
      case Pixels::uniform:
        value = random.uniform();
        break;
      case Pixels::constant:
        value = 0.1;
        break;
      case Pixels::two_values:
        value = static_cast<double>(random.below(2));
        break;
      case Pixels::narrow_integers:
        value = std::round(1.5 * random.gaussian());
        break;
      case Pixels::wide_integers:
        value = std::round(20 * random.gaussian());
        break;
      case Pixels::tenths:
        value = 0.1 * std::round(1.5 * random.gaussian());
        break;
      case Pixels::sixteen_bit:
        value = std::round(30000 + 20 * random.gaussian());
        if (random.below(200) == 0) value = 65535;
        break;
      case Pixels::half_blank:
        value = random.below(2) == 0 ? double(nan) : random.gaussian();
        break;
      case Pixels::one_finite:
        value = i == finite_one ? 2.5 : double(nan);
        break;
      case Pixels::exponential:
        value = -std::log(random.uniform());
        break;
      case Pixels::cauchy:
        value = std::tan(std::numbers::pi * (random.uniform() - 0.5));
        break;
      case Pixels::outliers:
        value = random.gaussian();
        if (random.below(5000) == 0) value = (is_float ? 1e30 : 1e150) * (random.uniform() - 0.3);
        break;
      case Pixels::wild:
        value = random.gaussian();
        if (random.below(100) == 0) value = std::pow(10, 30 * random.uniform());
        if (random.below(100) == 0) value = -std::pow(10, 30 * random.uniform());
        break;
      case Pixels::huge:
        value = (is_float ? 1e37 : 1e150) * random.gaussian();
        break;
      case Pixels::denormal:
        value = (is_float ? 1e-40 : 1e-310) * random.gaussian();
        break;
      case Pixels::offset:
        value = 1e6 + random.gaussian();
        break;
      case Pixels::signed_zeros:
        value = i % 2 == 0 ? 0.0 : -0.0;
        if (random.below(100) == 0) value = random.gaussian();
        break;
      case Pixels::ramp:
        value = static_cast<double>(i) - 0.3 * static_cast<double>(pixels);
        break;
      case Pixels::heavier_below:
        value = (i < pixels / 2 ? 1 : 1000) * random.gaussian();
        break;
      case Pixels::striped: {
        value = random.gaussian();
        const std::int64_t period = 2 + (i / 40000) % 63;
        if (i % period == 0) value = 10 * value + 100;
        break;
      }
    }
    image.values[static_cast<std::size_t>(i)] = static_cast<T>(value);
  }
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
