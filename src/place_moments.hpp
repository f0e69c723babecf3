// SPDX-License-Identifier: Apache-2.0
// Included for each level by the loops that need it.

/// Sums of vectors of pixels that lie one behind the other, and of each pixel times its place. Sums
/// before are added up instead of products: the j-th of N vectors is in N - j of them.
template <class T>
struct PlaceMoments {
  using V = Vectors<T>;
  using Wide = typename V::Wide;
  static constexpr int half = V::lanes / 2;
  Wide sum[2] = {}, sums[2] = {};
  alignas(64) static constexpr double counting[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                      8, 9, 10, 11, 12, 13, 14, 15};

  [[KASTOR_TARGET, gnu::always_inline]] void add(const typename V::Vector& pixels) {
    Wide halves[2];
    V::widen(pixels, halves);
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      sum[h] += halves[h];
      sums[h] += sum[h];
    }
  }
  /// Those of one vector more whose first pixel has place x, to the totals.
  [[KASTOR_TARGET, gnu::always_inline]] static void add_one(const typename V::Vector& pixels,
                                                            std::int64_t x, double& flux,
                                                            double& x_moment) {
    PlaceMoments one;
    one.add(pixels);
    one.total(x, 1, flux, x_moment);
  }
  /// x is the place of the first of the pixels of all vectors.
  [[KASTOR_TARGET, gnu::always_inline]] void total(std::int64_t x, std::int64_t vectors,
                                                   double& flux, double& x_moment) const {
    Wide places[2];
    std::memcpy(places, counting, sizeof(places));
    const Wide all = sum[0] + sum[1];
    const Wide moments =
        places[0] * sum[0] + places[1] * sum[1] +
        static_cast<double>(V::lanes) * (static_cast<double>(vectors) * all - (sums[0] + sums[1]));
    const Pair both = add_up(all, moments);
    flux += both[0];
    x_moment += both[1] + static_cast<double>(x) * both[0];
  }

 private:
  using Pair [[gnu::vector_size(16)]] = double;
  using Four [[gnu::vector_size(32)]] = double;

  /// Of the lanes of each.
  [[KASTOR_TARGET, gnu::always_inline]] static Pair add_up(const Wide& a, const Wide& b) {
    if constexpr (half == 8) {
      const Wide eight = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
                         __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
      Four four[2];
      std::memcpy(four, &eight, sizeof(four));
      return of_four(four[0] + four[1]);
    } else if constexpr (half == 4) {
      return of_four(__builtin_shufflevector(a, b, 0, 4, 2, 6) +
                     __builtin_shufflevector(a, b, 1, 5, 3, 7));
    } else {
      static_assert(half == 2);
      return __builtin_shufflevector(a, b, 0, 2) + __builtin_shufflevector(a, b, 1, 3);
    }
  }
  [[KASTOR_TARGET, gnu::always_inline]] static Pair of_four(const Four& four) {
    Pair pair[2];
    std::memcpy(pair, &four, sizeof(pair));
    return pair[0] + pair[1];
  }
};
template <>
struct PlaceMoments<double> {
  [[KASTOR_TARGET, gnu::always_inline]] void add(const Vectors<double>::Vector&) {}
  [[KASTOR_TARGET, gnu::always_inline]] static void add_one(const Vectors<double>::Vector&,
                                                            std::int64_t, double&, double&) {}
  [[KASTOR_TARGET, gnu::always_inline]] void total(std::int64_t, std::int64_t, double&,
                                                   double&) const {}
};
