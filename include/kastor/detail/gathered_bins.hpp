// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_GATHERED_BINS_HPP
#define KASTOR_DETAIL_GATHERED_BINS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/brackets.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/ordered_key.hpp>

/// The gathered pixels in bins, so that on a device a rank in the window or a limit in the tails
/// concerns the pixels of one bin; and the octaves of the tails, a host's too.
namespace kastor::detail {

/// The sums of the tails are kept by octave of the distance from the centre: those of an octave are
/// integers on a grid of its own, octaves are added from the centre outwards. So they depend
/// neither on an order nor on what lies farther out, and one outlier spoils no digit of the others.
struct TailOctaves {
  static constexpr int fine = 6;  ///< octaves of many bins: 1024 in the first, down to 128
  static constexpr int bins_in_fine = 2176;
  /// Octaves behind those: where bright sources are, and sometimes a limit.
  static constexpr int medium = 7;
  static constexpr int medium_bits = 5;
  static constexpr int bins_of_medium = 1 << medium_bits;
  static constexpr int parted = fine + medium;  ///< octaves of several bins
  static constexpr int bins_in_parted = bins_in_fine + bins_of_medium * medium;
  /// Octaves of one bin: more than floats have. Pixels beyond do not fit.
  static constexpr int coarse = 280;
  static constexpr int count = parted + coarse;
  static constexpr int bins = bins_in_parted + coarse;
  static constexpr int in_group = 8;  ///< bins that a device sorts together
  static constexpr int groups = bins / in_group;
  static_assert(bins % in_group == 0 && bins_in_fine % in_group == 0);

  /// A parted octave has 2^bits bins; of others this means nothing.
  [[nodiscard]] KOKKOS_FUNCTION static int bits_of(int octave) {
    return octave < 3 ? 10 - octave : (octave < fine ? 7 : medium_bits);
  }
  [[nodiscard]] KOKKOS_FUNCTION static int first_bin_of(int octave) {
    if (octave >= parted) return octave - parted + bins_in_parted;
    if (octave >= fine) return bins_in_fine + bins_of_medium * (octave - fine);
    return octave < 3 ? 2048 - (2048 >> octave) : 1792 + 128 * (octave - 3);
  }
  [[nodiscard]] KOKKOS_FUNCTION static int octave_of(int bin) {
    if (bin >= bins_in_parted) return bin - bins_in_parted + parted;
    if (bin >= bins_in_fine) return fine + (bin - bins_in_fine) / bins_of_medium;
    if (bin >= 1792) return 3 + (bin - 1792) / 128;
    return bin < 1024 ? 0 : (bin < 1536 ? 1 : 2);
  }
};

/// Bins 0 .. window - 1 lie along the window, upwards; then those of the lower tail and of the
/// upper tail, each from the centre outwards. Monotone in each part.
template <class T>
struct GatheredBins {
  static constexpr int window = 4096;
  static constexpr int count = window + 2 * TailOctaves::bins;
  static constexpr int parts_of_bin = 128;  ///< of a tail's bin in a fine octave

  T window_low, window_high;
  double low, per_unit;
  double centre;
  int exponent_field;  ///< of the distance of the nearer edge
  int grid_exponent;   ///< of the sums between the edges

  GatheredBins() = default;
  KOKKOS_FUNCTION explicit GatheredBins(const Brackets<T>& b)
      : window_low(b.window_low),
        window_high(b.window_high),
        low(static_cast<double>(b.window_low)),
        per_unit(static_cast<double>(window) /
                 (static_cast<double>(b.window_high) - static_cast<double>(b.window_low))),
        centre(static_cast<double>(b.centre)),
        exponent_field(0),
        grid_exponent(b.grid.exponent) {
    const double below = centre - static_cast<double>(b.low_edge);
    const double above = static_cast<double>(b.high_edge) - centre;
    exponent_field = field_of(below < above ? below : above);
  }

  [[nodiscard]] KOKKOS_FUNCTION static int field_of(double distance) {
    return static_cast<int>(Kokkos::bit_cast<std::uint64_t>(distance) >> 52);
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_in_window(T x) const {
    return (x >= window_low) & (x <= window_high);
  }
  [[nodiscard]] KOKKOS_FUNCTION int in_window(T x) const {
    // The product may round up to `window`, and to NaN or infinity for a window of one value or of
    // denormals: any clamp keeps it monotone.
    const double b = (static_cast<double>(x) - low) * per_unit;
    return b < window - 1 ? static_cast<int>(b) : window - 1;
  }
  /// The bin of one side, from 0.
  [[nodiscard]] KOKKOS_FUNCTION int in_tail(T x) const {
    return bin_by(high_bits_of(x) & but_sign);
  }
  [[nodiscard]] KOKKOS_FUNCTION int bin_by(std::uint32_t bits) const {
    const int octave = octave_by(bits);
    if (octave < TailOctaves::parted) {
      return TailOctaves::first_bin_of(octave) +
             static_cast<int>((bits & mantissa_mask) >>
                              (mantissa_bits - TailOctaves::bits_of(octave)));
    }
    return octave < TailOctaves::count ? TailOctaves::first_bin_of(octave) : TailOctaves::bins - 1;
  }
  /// Of equal parts of the width of its bin, in a fine octave, the one where a tail's pixel lies.
  [[nodiscard]] KOKKOS_FUNCTION int part_of_bin(T x) const {
    constexpr int parts_bits = 7;
    static_assert(1 << parts_bits == parts_of_bin);
    const std::uint32_t bits = high_bits_of(x) & but_sign;
    const int behind = mantissa_bits - TailOctaves::bits_of(octave_by(bits));
    return static_cast<int>(bits >> (behind - parts_bits)) & (parts_of_bin - 1);
  }
  /// The octave of a tail's pixel, from 0; more than there are lists for, as far as that goes.
  [[nodiscard]] KOKKOS_FUNCTION int octave_of(T x) const {
    return octave_by(high_bits_of(x) & but_sign);
  }
  [[nodiscard]] KOKKOS_FUNCTION int operator()(T x) const {
    return is_in_window(x) ? in_window(x) : window + in_tails(x);
  }
  /// Of the pixels of either tail, from 0: the lower one first.
  [[nodiscard]] KOKKOS_FUNCTION int in_tails(T x) const {
    const std::uint32_t bits = high_bits_of(x);
    return (bits > but_sign ? 0 : TailOctaves::bins) + bin_by(bits & but_sign);
  }
  /// Of the difference from the centre, which is a double: all that matters here, and a device
  /// works with 32 bits in fewer instructions than with 64.
  static constexpr std::uint32_t but_sign = 0x7fffffff;
  static constexpr int mantissa_bits = 20;
  static constexpr std::uint32_t mantissa_mask = (1U << mantissa_bits) - 1;
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t high_bits_of(T x) const {
    return static_cast<std::uint32_t>(
        Kokkos::bit_cast<std::uint64_t>(static_cast<double>(x) - centre) >> 32);
  }
  [[nodiscard]] KOKKOS_FUNCTION int octave_by(std::uint32_t size_bits) const {
    const int octave = static_cast<int>(size_bits >> mantissa_bits) - exponent_field;
    return octave < 0 ? 0 : octave;
  }
  /// Distances of an octave lie between 2^exponent and 2^(exponent + 1).
  [[nodiscard]] KOKKOS_FUNCTION int exponent_of(int octave) const {
    return exponent_field - 1023 + octave;
  }
  /// An octave's integers in units of the grid of the sums between the edges.
  [[nodiscard]] KOKKOS_FUNCTION double in_grid_units(const Int128& sum, int octave,
                                                     bool squared) const {
    const int e = exponent_of(octave) - grid_exponent;
    return scale_by_power_of_two(sum.to_double(), (squared ? 2 * e : e) - grid_bits);
  }
};

/// Whether a pixel of the lower (0) or upper tail is within a limit.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_within(int side, T x, T limit) {
  return side == 0 ? x > limit : x < limit;
}

/// Pixels of the tails, their distances from the centre and the squares of these: integers of 2^-44
/// of the octave's lower bound and its square.
struct TailSums {
  std::int64_t count = 0;
  Int128 sum, squares;

  KOKKOS_FUNCTION TailSums& operator+=(const TailSums& other) {
    count += other.count;
    sum += other.sum;
    squares += other.squares;
    return *this;
  }
};

/// What a tail has within a limit: sums of the distances from the centre, and of their squares, in
/// units of the grid of the sums between the edges.
struct TailPart {
  std::int64_t count;
  double sum, squares;
};

/// The sums of a tail in words that are added one by one, in any order; `joined` makes them whole.
struct WideTailSums {
  enum Word { pixels, sum_low, sum_high, squares_low, squares_high, words };
  std::uint64_t word[words];

  [[nodiscard]] KOKKOS_FUNCTION static WideTailSums of(const TailSums& sums) {
    const auto high = [](const Int128& part) {
      return (part.low >> 32) | (static_cast<std::uint64_t>(part.high) << 32);
    };
    return {{static_cast<std::uint64_t>(sums.count), sums.sum.low & 0xffffffffU, high(sums.sum),
             sums.squares.low & 0xffffffffU, high(sums.squares)}};
  }
  KOKKOS_FUNCTION void add_to(std::uint64_t (&sums)[words]) const {
    KASTOR_UNROLL
    for (int k = 0; k < words; ++k) sums[k] += word[k];
  }
  KOKKOS_FUNCTION void atomic_add(const WideTailSums& more) {
    for (int k = 0; k < words; ++k) Kokkos::atomic_add(&word[k], more.word[k]);
  }
  [[nodiscard]] KOKKOS_FUNCTION static TailSums joined_from(const std::uint64_t (&word)[words]) {
    return {static_cast<std::int64_t>(word[pixels]), joined(word[sum_low], word[sum_high]),
            joined(word[squares_low], word[squares_high])};
  }
  [[nodiscard]] KOKKOS_FUNCTION TailSums sums() const { return joined_from(word); }
};

/// The same of at most 2^16 terms, with the magic numbers still in it.
struct FewTailSums {
  std::uint32_t count = 0;  ///< of pixels
  std::uint32_t terms = 0;  ///< of pixels, and of those not wanted, which add 0
  std::uint64_t sum = 0, squares = 0;

  KOKKOS_FUNCTION void move_to(TailSums& sums) {
    sums.count += count;
    sums.sum.add(unbias(sum, terms));
    sums.squares.add(unbias(squares, terms));
    *this = {};
  }
};

/// What pixels of an octave add to its sums.
template <class T>
struct TailTerm {
  /// Floats have so small exponents that the power is a double.
  static constexpr bool is_one_product = sizeof(T) == sizeof(float);
  T middle;
  double centre;
  double scale, scale_more;  ///< 2^-exponent of the octave in two exact steps, or one

  /// `m`: the centre, which a T holds exactly.
  KOKKOS_FUNCTION TailTerm(double m, int exponent)
      : middle(static_cast<T>(m)),
        centre(m),
        scale(power_of_two(is_one_product ? -exponent : -exponent / 2)),
        scale_more(power_of_two(-exponent - -exponent / 2)) {}

  /// Of a pixel that is not wanted the centre, whose distance is 0: to choose between numbers is
  /// one instruction for floats, and for the 64 bits of each sum it would be two.
  KOKKOS_FUNCTION void add(T x, bool wanted, FewTailSums& few) const {
    const double distance = Kokkos::fabs(static_cast<double>(wanted ? x : middle) - centre);
    const double u = is_one_product ? distance * scale : distance * scale * scale_more;
    few.count += wanted ? 1 : 0;
    few.terms += 1;
    few.sum += to_grid_biased(u);
    few.squares += to_grid_biased(u * u);
  }
};

/// Adds the share of a thread of a list: those pixels that `wanted` says. `InPacks`: more code, for
/// long lists.
template <bool InPacks = false, class T, class Crew, class Wanted>
KOKKOS_FUNCTION void add_tail(const Crew& crew, const T* pixels, std::int64_t n,
                              const TailTerm<T>& term, TailSums& sums, const Wanted& wanted) {
  // A thread's share of packs may be some pixels larger than others'.
  const std::int64_t at_once = std::int64_t{crew.size()} * ((1 << 16) - 16);
  for (std::int64_t first = 0; first < n; first += at_once) {
    const std::int64_t rest = n - first;
    const std::int64_t some = rest < at_once ? rest : at_once;
    FewTailSums few;
    const auto visit = [&](T x) { term.add(x, wanted(x), few); };
    if constexpr (InPacks) {
      for_my_share_in_packs(crew, pixels + first, some, visit);
    } else {
      for_my_share(crew, pixels + first, some, visit);
    }
    few.move_to(sums);
  }
}

/// Of a bin of a tail. All words but `begin` are zero if it is empty, and before teams add to it.
template <class T>
struct BinSummary {
  std::uint64_t begin;            ///< where its pixels lie
  std::uint64_t lowest, highest;  ///< the largest of the pixels' `low_word` and `high_word`
  WideTailSums sums;

  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t low_word(Key<T> key) {
    return static_cast<Key<T>>(~key);
  }
  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t high_word(Key<T> key) { return key; }
  [[nodiscard]] KOKKOS_FUNCTION T min() const {
    return value_of<T>(static_cast<Key<T>>(~static_cast<Key<T>>(lowest)));
  }
  [[nodiscard]] KOKKOS_FUNCTION T max() const { return value_of<T>(static_cast<Key<T>>(highest)); }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t pixels() const {
    return static_cast<std::int64_t>(sums.word[WideTailSums::pixels]);
  }
};

/// What is known of the tails.
template <class T>
struct TailSummaries {
  BinSummary<T>* bins;    ///< (2, TailOctaves::bins)
  WideTailSums* groups;   ///< (2, TailOctaves::groups); of parted octaves
  WideTailSums* octaves;  ///< (2, TailOctaves::count)

  /// A parted octave has several groups, a coarse one has one bin.
  [[nodiscard]] KOKKOS_FUNCTION static bool is_of_parted(int group) {
    return group % TailOctaves::groups * TailOctaves::in_group < TailOctaves::bins_in_parted;
  }
  /// That of a group's bin.
  [[nodiscard]] KOKKOS_FUNCTION WideTailSums& octave_of(int group, int bin_in_group) const {
    const int bin = group % TailOctaves::groups * TailOctaves::in_group + bin_in_group;
    return octaves[group / TailOctaves::groups * TailOctaves::count + TailOctaves::octave_of(bin)];
  }
};

}  // namespace kastor::detail

#endif
