/* The vector instructions of WebAssembly that the kernel uses, written with the vectors of GCC and Clang. bitmask and
 * swizzle use intrinsics on processors with SSSE3 and on AArch64. */
#ifndef BPE_SIMD128_H
#define BPE_SIMD128_H

#include <stdint.h>
#include <string.h>
#if defined(__SSSE3__)
#include <tmmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

typedef int64_t simde_v128_t __attribute__((vector_size(16)));
typedef int8_t simde_i8x16 __attribute__((vector_size(16)));
typedef uint8_t simde_u8x16 __attribute__((vector_size(16)));
#define SIMDE_INLINE static inline __attribute__((always_inline))

SIMDE_INLINE simde_v128_t simde_wasm_v128_load(const void *from) {
  simde_v128_t vector;
  memcpy(&vector, from, 16);
  return vector;
}
SIMDE_INLINE void simde_wasm_v128_store(void *to, simde_v128_t vector) { memcpy(to, &vector, 16); }
#define simde_wasm_i64x2_make(low, high) ((simde_v128_t){low, high})
#define simde_wasm_i8x16_const(...) ((simde_v128_t)(simde_i8x16){__VA_ARGS__})
SIMDE_INLINE simde_v128_t simde_wasm_i8x16_splat(int8_t byte) { return (simde_v128_t)((simde_i8x16){0} + byte); }

#define SIMDE_BINARY(name, type, operator) \
  SIMDE_INLINE simde_v128_t name(simde_v128_t a, simde_v128_t b) { return (simde_v128_t)((type)a operator(type) b); }
SIMDE_BINARY(simde_wasm_i8x16_add, simde_u8x16, +)
SIMDE_BINARY(simde_wasm_v128_and, simde_v128_t, &)
SIMDE_BINARY(simde_wasm_v128_or, simde_v128_t, |)
SIMDE_BINARY(simde_wasm_i8x16_eq, simde_i8x16, ==)
SIMDE_BINARY(simde_wasm_i8x16_ne, simde_i8x16, !=)
SIMDE_BINARY(simde_wasm_i8x16_lt, simde_i8x16, <)
SIMDE_BINARY(simde_wasm_i8x16_gt, simde_i8x16, >)
SIMDE_BINARY(simde_wasm_i8x16_ge, simde_i8x16, >=)
SIMDE_INLINE simde_v128_t simde_wasm_u8x16_shr(simde_v128_t a, uint32_t bits) {
  return (simde_v128_t)((simde_u8x16)a >> (uint8_t)(bits & 7));
}

/* bitmask: the top bit of each byte. swizzle: for each index, the byte at that index; 0 for an index from 16 on. */
#if defined(__SSSE3__)
SIMDE_INLINE uint32_t simde_wasm_i8x16_bitmask(simde_v128_t a) { return (uint32_t)_mm_movemask_epi8((__m128i)a); }
/* WebAssembly wants 0 for an index of 16 or more, but pshufb gives 0 only for an index whose top bit is set. Adding
 * 0x70 with saturation sets that bit in exactly the indices of 16 or more. */
SIMDE_INLINE simde_v128_t simde_wasm_i8x16_swizzle(simde_v128_t a, simde_v128_t indices) {
  return (simde_v128_t)_mm_shuffle_epi8((__m128i)a, _mm_adds_epu8((__m128i)indices, _mm_set1_epi8(0x70)));
}
#elif defined(__aarch64__)
SIMDE_INLINE uint32_t simde_wasm_i8x16_bitmask(simde_v128_t a) {
  const uint8x16_t places = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  uint8x16_t bits = vandq_u8(vreinterpretq_u8_s8(vshrq_n_s8((int8x16_t)a, 7)), places);
  return vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
}
SIMDE_INLINE simde_v128_t simde_wasm_i8x16_swizzle(simde_v128_t a, simde_v128_t indices) {
  return (simde_v128_t)vqtbl1q_u8((uint8x16_t)a, (uint8x16_t)indices);
}
#else
SIMDE_INLINE uint32_t simde_wasm_i8x16_bitmask(simde_v128_t a) {
  uint32_t bits = 0;
  for (int i = 0; i < 16; i++) bits |= (uint32_t)(((simde_u8x16)a)[i] >> 7) << i;
  return bits;
}
SIMDE_INLINE simde_v128_t simde_wasm_i8x16_swizzle(simde_v128_t a, simde_v128_t indices) {
  simde_u8x16 bytes = {0};
  for (int i = 0; i < 16; i++)
    if (((simde_u8x16)indices)[i] < 16) bytes[i] = ((simde_u8x16)a)[((simde_u8x16)indices)[i]];
  return (simde_v128_t)bytes;
}
#endif
#endif
