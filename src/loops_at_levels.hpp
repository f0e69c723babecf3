// SPDX-License-Identifier: Apache-2.0
// Included once by a source that defines KASTOR_LOOPS, the name of a header in quotes: compiles its
// loops for every level, each in a namespace of its own. There KASTOR_TARGET is the level's
// attribute (attributes of a template cannot depend on its arguments), Vectors<T> the level's
// vectors, as in x86_vectors.hpp, and KASTOR_VECTOR_BYTES their size.

namespace baseline {
#if KASTOR_HAS_X86_LEVELS
template <class T>
using Vectors = Sse2<T>;
#else
template <class T>
using Vectors = Plain<T>;
#endif
#define KASTOR_TARGET
#define KASTOR_VECTOR_BYTES 16
#include KASTOR_LOOPS
#undef KASTOR_TARGET
#undef KASTOR_VECTOR_BYTES
}  // namespace baseline

#if KASTOR_HAS_X86_LEVELS
namespace avx2 {
template <class T>
using Vectors = Avx2<T>;
#define KASTOR_TARGET KASTOR_AVX2
#define KASTOR_VECTOR_BYTES 32
#include KASTOR_LOOPS
#undef KASTOR_TARGET
#undef KASTOR_VECTOR_BYTES
}  // namespace avx2

namespace avx512 {
template <class T>
using Vectors = Avx512<T>;
#define KASTOR_TARGET KASTOR_AVX512
#define KASTOR_VECTOR_BYTES 64
#include KASTOR_LOOPS
#undef KASTOR_TARGET
#undef KASTOR_VECTOR_BYTES
}  // namespace avx512

/// Returns what the call of one of these functions returns at a level.
#define KASTOR_RETURN_AT_LEVEL(LEVEL, CALL)              \
  if ((LEVEL) == HostLevel::avx512) return avx512::CALL; \
  if ((LEVEL) == HostLevel::avx2) return avx2::CALL;     \
  return baseline::CALL
#else
#define KASTOR_RETURN_AT_LEVEL(LEVEL, CALL) \
  static_cast<void>(LEVEL);                 \
  return baseline::CALL
#endif
