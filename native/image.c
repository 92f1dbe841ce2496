/* Opens the image of a tokenizer (src/tokenizer/image.ts). Everything in an image is checked before it is used,
 * except the state of the kernel: its memory and its global variables. The kernel's accesses are bounds-checked
 * instead, and instance.c turns a trap into an error. */
#include "core.h"
#include <stdlib.h>
#include <string.h>
#include "kernel-digest.h"
#ifdef __x86_64__
#include <cpuid.h>
#endif

enum { IMAGE_VERSION = 8, HEAD_BYTES = 56, PART_COUNT = 9, ID_LIMIT_MAX = 1 << 27, TRIMS_MAX = 16, FILLED_MAX = 1 << 24 };
enum { FACTS, STARTS, TOKENS, TEXTS, SECTIONS, AREAS, MODEL, VARIABLES };
enum {
  IS_NARROW = 1,
  ADDS_PREFIX_SPACE = 2,
  MAY_BE_CUT = 4,
  MAY_BE_CUT_AS_TEXT = 8,
  IS_DIRECT = 16,
  IS_DIRECT_AS_TEXT = 32,
  TRIM_KEEPS_ONE = 64,
  HAS_MARKS = 256,
  LEAVES_OUT_SPACE = 512,
  LEAVES_OUT_SPACES = 1024
};

static const char damaged[] = "the image is damaged";
const char no_memory[] = "not enough memory for the tokenizer or for a text of this length";

const char *processor_obstacle(void) {
#ifdef __x86_64__
  unsigned int a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3)) return "this processor has no SSSE3";
#endif
  return NULL;
}

/* Returns the CRC-32 of bytes, computed for sixteen bytes at a time ("slicing-by-16"). */
uint32_t image_crc32(const uint8_t *bytes, size_t size) {
  uint32_t tables[16][256];
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    tables[0][i] = crc;
  }
  for (int table = 1; table < 16; table++)
    for (int i = 0; i < 256; i++)
      tables[table][i] = tables[table - 1][i] >> 8 ^ tables[0][tables[table - 1][i] & 255];
  uint32_t crc = UINT32_MAX;
  for (; size >= 16; size -= 16, bytes += 16) {
    uint32_t words[4];
    memcpy(words, bytes, 16);
    words[0] ^= crc;
    crc = 0;
    for (int i = 0; i < 4; i++)
      for (int byte = 0; byte < 4; byte++) crc ^= tables[15 - 4 * i - byte][words[i] >> 8 * byte & 255];
  }
  for (; size > 0; size--) crc = crc >> 8 ^ tables[0][(crc ^ *bytes++) & 255];
  return ~crc;
}

static bool is_ascending(const uint32_t *numbers, uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    if (numbers[i - 1] > numbers[i]) return false;
  return true;
}

/* Whether the areas are in ascending order, disjoint and inside the memory. The areas whose bytes are in the model
 * (AREA_LISTED) must together have the model's size. The other areas, each filled with one byte value, must together
 * have at most FILLED_MAX bytes. */
static bool are_areas(const Image *image, uint32_t model_size) {
  uint64_t end = 0, size = 0, filled = 0;
  for (uint32_t i = 0; i < image->area_count; i++) {
    const Area *area = &image->areas[i];
    if (area->start < end || area->fill > AREA_LISTED) return false;
    end = area->start + (uint64_t)area->size;
    *(area->fill == AREA_LISTED ? &size : &filled) += area->size;
  }
  return end <= (uint64_t)image->page_count << 16 && size == model_size && filled <= FILLED_MAX;
}

const char *image_open(Image *image, const uint8_t *bytes, size_t size) {
  const uint32_t *head = (const uint32_t *)bytes;
  *image = (Image){.bytes = bytes, .size = size};
  if (size < HEAD_BYTES + 8 * PART_COUNT || size > UINT32_MAX || memcmp(bytes, "bpeimage", 8) != 0)
    return "this is not a tokenizer image";
  if (head[2] != IMAGE_VERSION) return "the image has a format version that this build cannot read";
  if (head[3] != image_crc32(bytes + 16, size - 16)) return damaged;
  if (memcmp(bytes + 16, kernel_digest, 16) != 0) return "the image was made by another version of bpe";
  const uint8_t *parts[PART_COUNT];
  uint32_t sizes[PART_COUNT];
  for (int i = 0; i < PART_COUNT; i++) {
    uint32_t start = head[HEAD_BYTES / 4 + 2 * i];
    sizes[i] = head[HEAD_BYTES / 4 + 2 * i + 1];
    if (start % 4 != 0 || start > size || sizes[i] > size - start) return damaged;
    parts[i] = bytes + start;
  }
  uint32_t flags = head[8];
  image->id_bytes = flags & IS_NARROW ? 2 : 4;
  image->adds_prefix_space = flags & ADDS_PREFIX_SPACE;
  image->may_be_cut[0] = flags & MAY_BE_CUT;
  image->may_be_cut[1] = flags & MAY_BE_CUT_AS_TEXT;
  image->is_direct[0] = flags & IS_DIRECT;
  image->is_direct[1] = flags & IS_DIRECT_AS_TEXT;
  image->trim_keeps_one = flags & TRIM_KEEPS_ONE;
  image->has_marks = flags & HAS_MARKS;
  image->leaves_out_space = flags & LEAVES_OUT_SPACE;
  image->leaves_out_spaces = flags & LEAVES_OUT_SPACES;
  image->id_limit = head[9];
  image->longest_token = head[10];
  image->added_id_count = head[11];
  image->trim_count = head[12];
  image->facts = (const char *)parts[FACTS];
  image->facts_size = sizes[FACTS];
  image->starts = (const uint32_t *)parts[STARTS];
  image->tokens = parts[TOKENS];
  image->text_ids = (const uint32_t *)parts[TEXTS];
  image->text_id_count = sizes[TEXTS] / 4;
  image->sections = parts[SECTIONS];
  image->sections_size = sizes[SECTIONS];
  image->areas = (const Area *)parts[AREAS];
  image->area_count = sizes[AREAS] / sizeof(Area);
  image->model = parts[MODEL];
  image->page_count = head[13];
  image->variables = (const Variable *)parts[VARIABLES];
  image->variable_count = sizes[VARIABLES] / sizeof(Variable);
  if (sizes[AREAS] % sizeof(Area) != 0 || sizes[VARIABLES] % sizeof(Variable) != 0 || !are_areas(image, sizes[MODEL])) return damaged;
  uint32_t starts_count = sizes[STARTS] / 4;
  if (image->id_limit >= ID_LIMIT_MAX || starts_count != image->id_limit + 1) return damaged;
  if (image->longest_token > INT32_MAX / 8) return damaged;
  if (image->added_id_count > image->text_id_count || image->trim_count > TRIMS_MAX) return damaged;
  if (image->starts[0] != 0 || image->starts[image->id_limit] != sizes[TOKENS] || !is_ascending(image->starts, starts_count))
    return damaged;
  return NULL;
}

uint32_t leading_bytes(const Image *image, uint32_t first_id) {
  if (!image->leaves_out_space && !image->leaves_out_spaces) return 0;
  uint32_t size = image->starts[first_id + 1] - image->starts[first_id], count = 0;
  const uint8_t *token = image->tokens + image->starts[first_id];
  if (image->leaves_out_space) return size > 0 && *token == ' ';
  for (uint32_t i = 0; i < image->added_id_count; i++)
    if (image->text_ids[i] == first_id) return 0;
  while (count < size && token[count] == ' ') count++;
  return count;
}
