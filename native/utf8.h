/* UTF-8, a character at a time; the same rules as src/bytes/text.ts. */
#ifndef BPE_UTF8_H
#define BPE_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { NO_CODE_POINT = -1 };

/* The bytes of the valid character at `at`, of `left` bytes that are there; 0: none is valid and whole. */
static inline size_t character_size(const uint8_t *at, size_t left) {
  uint8_t lead = at[0];
  if (lead < 0x80) return 1;
  size_t size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (size == 0 || size > left) return 0;
  for (size_t i = 1; i < size; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  if ((lead == 0xe0 && at[1] < 0xa0) || (lead == 0xf0 && at[1] < 0x90)) return 0;   /* overlong */
  if ((lead == 0xed && at[1] >= 0xa0) || (lead == 0xf4 && at[1] >= 0x90)) return 0; /* surrogate; beyond U+10FFFF */
  return size;
}

static inline int32_t code_point_of(const uint8_t *at, size_t size) {
  if (size == 1) return at[0];
  if (size == 2) return (at[0] & 31) << 6 | (at[1] & 63);
  if (size == 3) return (at[0] & 15) << 12 | (at[1] & 63) << 6 | (at[2] & 63);
  return (at[0] & 7) << 18 | (at[1] & 63) << 12 | (at[2] & 63) << 6 | (at[3] & 63);
}

/* The character at `at`, and its size; NO_CODE_POINT. */
static inline int32_t code_point_at(const uint8_t *at, size_t left, size_t *size) {
  *size = left == 0 ? 0 : character_size(at, left);
  return *size == 0 ? NO_CODE_POINT : code_point_of(at, *size);
}

/* The character that ends at `end`, of a text that begins at `text`. */
static inline int32_t code_point_before(const uint8_t *text, size_t end, size_t *size) {
  size_t start = end;
  while (start > 0 && end - start < 4) {
    start--;
    if ((text[start] & 0xc0) != 0x80) break;
  }
  int32_t code_point = code_point_at(text + start, end - start, size);
  if (*size != end - start) *size = 0;
  return *size == 0 ? NO_CODE_POINT : code_point;
}

/* Unicode's White_Space. */
static inline int is_white_space(int32_t c) {
  return (c >= 9 && c <= 13) || c == 32 || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
         c == 0x205f || c == 0x3000;
}

#endif
