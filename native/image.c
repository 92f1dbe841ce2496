/* The image of a tokenizer (src/tokenizer/image.ts): everything in it is checked before it is used. What the kernel makes of
 * its tables is not: the kernel checks each access, and instance.c turns a trap into an error. */
#include "core.h"
#include <stdlib.h>
#include <string.h>
#include "kernel-digest.h"
#ifdef __x86_64__
#include <cpuid.h>
#endif

enum { IMAGE_VERSION = 2, HEAD_BYTES = 56, PART_COUNT = 11, ID_LIMIT_MAX = 1 << 27, TRIMS_MAX = 16, FORMS_MAX = 255, FORM_KINDS = 5 };
enum { FACTS, STARTS, TOKENS, TEXTS, ADDED, CONTENTS, WORDS, SPACES, FORMS, CUTS, STEPS };
enum { IS_NARROW = 1, ADDS_PREFIX_SPACE = 2, MAY_BE_CUT = 4, TRIM_KEEPS_ONE = 8 };

static const char damaged[] = "the image is damaged";
const char no_memory[] = "there is no memory for the tokenizer, or for a text as long as this";

const char *processor_obstacle(void) {
#ifdef __x86_64__
  unsigned int a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3)) return "this processor has no SSSE3";
#endif
  return NULL;
}

/* Four bytes at a time ("slicing"). */
uint32_t image_crc32(const uint8_t *bytes, size_t size) {
  uint32_t tables[4][256];
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    tables[0][i] = crc;
  }
  for (int table = 1; table < 4; table++)
    for (int i = 0; i < 256; i++)
      tables[table][i] = tables[table - 1][i] >> 8 ^ tables[0][tables[table - 1][i] & 255];
  uint32_t crc = UINT32_MAX;
  for (; size >= 4; size -= 4, bytes += 4) {
    uint32_t word;
    memcpy(&word, bytes, 4);
    crc ^= word;
    crc = tables[3][crc & 255] ^ tables[2][crc >> 8 & 255] ^ tables[1][crc >> 16 & 255] ^ tables[0][crc >> 24];
  }
  for (; size > 0; size--) crc = crc >> 8 ^ tables[0][(crc ^ *bytes++) & 255];
  return ~crc;
}

static bool is_ascending(const uint32_t *numbers, uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    if (numbers[i - 1] > numbers[i]) return false;
  return true;
}

bool contains(const CodePointSet *set, uint32_t code_point) {
  uint32_t low = 0, high = set->count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (set->bounds[2 * middle + 1] < code_point) low = middle + 1;
    else high = middle;
  }
  return low < set->count && set->bounds[2 * low] <= code_point;
}

static int compare(const Image *image, const AddedToken *a, const AddedToken *b) {
  uint32_t common = a->size < b->size ? a->size : b->size;
  int order = memcmp(image->contents + a->start, image->contents + b->start, common);
  return order != 0 ? order : a->size < b->size ? -1 : a->size > b->size;
}

/* False: they are not in order, or one is outside of `contents_size`. */
static bool open_group(const Image *image, TokenGroup *group, const AddedToken *tokens, uint32_t count, uint32_t contents_size) {
  group->tokens = tokens;
  group->count = count;
  for (uint32_t i = 0; i < count; i++) {
    const AddedToken *token = &tokens[i];
    if (token->size == 0 || token->start > contents_size || token->size > contents_size - token->start) return false;
    if (token->id >= ID_LIMIT_MAX || (image->id_bytes == 2 && token->id > UINT16_MAX)) return false;
    if (i > 0 && compare(image, &tokens[i - 1], token) >= 0) return false;
  }
  uint32_t at = 0;
  for (int byte = 0; byte < 256; byte++) {
    group->first[byte] = at;
    while (at < count && image->contents[tokens[at].start] == byte) at++;
  }
  group->first[256] = count;
  group->lone_first = -1;
  if (count > 0 && image->contents[tokens[0].start] == image->contents[tokens[count - 1].start])
    group->lone_first = image->contents[tokens[0].start];
  return true;
}

static const char *open_tokens(Image *image, const uint32_t sizes[PART_COUNT], const uint8_t *const parts[PART_COUNT], uint32_t early_count) {
  uint32_t count = sizes[ADDED] / sizeof(AddedToken);
  const AddedToken *tokens = (const AddedToken *)parts[ADDED];
  image->contents = parts[CONTENTS];
  if (early_count > count || !open_group(image, &image->early, tokens, early_count, sizes[CONTENTS]) ||
      !open_group(image, &image->late, tokens + early_count, count - early_count, sizes[CONTENTS]))
    return damaged;
  const char *error = group_open(image, &image->early, sizes[CONTENTS]);
  if (error == NULL) error = group_open(image, &image->late, sizes[CONTENTS]);
  if (error != NULL) return error;
  image->all_special = true;
  for (uint32_t i = 0; i < count; i++) image->all_special = image->all_special && (tokens[i].flags & TOKEN_SPECIAL);
  image->words = (CodePointSet){(const uint32_t *)parts[WORDS], sizes[WORDS] / 8};
  image->spaces = (CodePointSet){(const uint32_t *)parts[SPACES], sizes[SPACES] / 8};
  if (!is_ascending(image->words.bounds, 2 * image->words.count) || !is_ascending(image->spaces.bounds, 2 * image->spaces.count))
    return damaged;
  if (image->trim_count == 0) return NULL;
  image->is_added = calloc(image->id_limit / 8 + 1, 1);
  if (image->is_added == NULL) return no_memory;
  for (uint32_t i = 0; i < image->added_id_count; i++) {
    uint32_t id = image->text_ids[i];
    if (id < image->id_limit) image->is_added[id >> 3] |= (uint8_t)(1 << (id & 7));
  }
  return NULL;
}

const char *image_open(Image *image, const uint8_t *bytes, size_t size) {
  const uint32_t *head = (const uint32_t *)bytes;
  *image = (Image){.bytes = bytes, .size = size};
  if (size < HEAD_BYTES + 8 * PART_COUNT || size > UINT32_MAX || memcmp(bytes, "bpeimage", 8) != 0)
    return "this is no image of a tokenizer";
  if (head[2] != IMAGE_VERSION) return "the image has another version of its format";
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
  image->may_be_cut = flags & MAY_BE_CUT;
  image->trim_keeps_one = flags & TRIM_KEEPS_ONE;
  image->id_limit = head[9];
  image->added_id_count = head[11];
  image->trim_count = head[12];
  image->facts = (const char *)parts[FACTS];
  image->facts_size = sizes[FACTS];
  image->starts = (const uint32_t *)parts[STARTS];
  image->tokens = parts[TOKENS];
  image->text_ids = (const uint32_t *)parts[TEXTS];
  image->text_id_count = sizes[TEXTS] / 4;
  image->forms = parts[FORMS];
  image->form_count = sizes[FORMS];
  image->cuts = parts[CUTS];
  image->steps = (const uint32_t *)parts[STEPS];
  image->step_words = sizes[STEPS] / 4;
  uint32_t starts_count = sizes[STARTS] / 4;
  if (image->id_limit >= ID_LIMIT_MAX || starts_count != image->id_limit + 1 || sizes[CUTS] != 128 * 128 / 8) return damaged;
  if (image->added_id_count > image->text_id_count || image->trim_count > TRIMS_MAX) return damaged;
  if (image->starts[0] != 0 || image->starts[image->id_limit] != sizes[TOKENS] || !is_ascending(image->starts, starts_count))
    return damaged;
  if (image->form_count > FORMS_MAX) return damaged;
  for (uint32_t i = 0; i < image->form_count; i++)
    if (image->forms[i] >= FORM_KINDS) return damaged;
  const char *error = open_tokens(image, sizes, parts, head[10]);
  if (error != NULL) image_close(image);
  return error;
}

void image_close(Image *image) {
  group_close(&image->early);
  group_close(&image->late);
  free(image->is_added);
  image->is_added = NULL;
}
