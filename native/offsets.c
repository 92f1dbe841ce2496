/* Where tokens are in their text: the rules of src/tokenizer/offsets.ts. */
#include "core.h"
#include "utf8.h"

/* HF spells a space of a token so, in GPT-2's characters. */
enum { SPELLED_SPACE = 0x120 };

typedef struct {
  size_t before, behind; /* spaces of a token as it is spelled */
} Spaces;

/* Of text: characters of white space, and those that spell a space. */
static bool is_space(const Image *image, int32_t code_point) {
  return code_point == SPELLED_SPACE || (code_point >= 0 && contains(&image->spaces, (uint32_t)code_point));
}

static Spaces spaces_of_text(const Image *image, const uint8_t *text, size_t size) {
  Spaces spaces = {0, 0};
  size_t at = 0, length;
  for (; at < size && is_space(image, code_point_at(text + at, size - at, &length)); at += length) spaces.before++;
  if (at == size) return (Spaces){spaces.before, spaces.before};
  for (; is_space(image, code_point_before(text, size, &length)); size -= length) spaces.behind++;
  return spaces;
}

/* Of a token in GPT-2's characters: only the space has one that is a space. */
static Spaces spaces_of_bytes(const uint8_t *bytes, size_t size) {
  Spaces spaces = {0, 0};
  while (spaces.before < size && bytes[spaces.before] == ' ') spaces.before++;
  if (spaces.before == size) return (Spaces){size, size};
  while (bytes[size - 1 - spaces.behind] == ' ') spaces.behind++;
  return spaces;
}

/* HF's rule: as many characters as the token has spaces before and behind, but not beyond its other end. */
static void trim(size_t *start, size_t *end, Spaces spaces, bool keeps_one) {
  size_t from = *start;
  if (!(from == 0 && keeps_one && spaces.before == 1)) from = from + spaces.before < *end ? from + spaces.before : *end;
  if (spaces.behind > 0 && *end >= spaces.behind) *end = *end - spaces.behind > from ? *end - spaces.behind : from;
  *start = from;
}

static const char unspelled[] = "the tokens of this text do not spell it, so it has no offsets";

static const char *find_bytes(const Encoding *encoding, const Ids *ids, size_t *starts, size_t *ends) {
  const Image *image = encoding->image;
  size_t count = ids->size / image->id_bytes, at = 0, next_found = 0;
  bool is_first = true;
  for (size_t i = 0; i < count; i++) {
    uint32_t id = id_at(ids->bytes, image->id_bytes, i);
    if (id >= image->id_limit) return unspelled;
    size_t size = image->starts[id + 1] - image->starts[id];
    starts[i] = at;
    if (next_found < encoding->found_count && encoding->found[next_found].index == i) {
      at += encoding->found[next_found++].size;
      is_first = true;
    } else {
      bool has_prefix = is_first && image->adds_prefix_space && !(at < encoding->size && encoding->text[at] == ' ');
      at += size - (has_prefix && size > 0);
      is_first = false;
    }
    ends[i] = at;
  }
  return at == encoding->size ? NULL : unspelled;
}

const char *find_offsets(const Encoding *encoding, const Ids *ids, bool in_characters, size_t *starts, size_t *ends) {
  const char *error = find_bytes(encoding, ids, starts, ends);
  if (error != NULL || !in_characters) return error;
  const Image *image = encoding->image;
  const uint8_t *text = encoding->text;
  size_t count = ids->size / image->id_bytes, at = 0, characters = 0, next_found = 0;
  for (size_t i = 0; i < count; i++) {
    size_t start_byte = starts[i], end_byte = ends[i];
    bool is_found = next_found < encoding->found_count && encoding->found[next_found].index == i;
    next_found += is_found;
    /* `characters` begin before `at`. The first one has the byte at `start_byte`, though it may begin before. */
    for (; at < encoding->size && at <= start_byte; at++) characters += (text[at] & 0xc0) != 0x80;
    size_t start = characters > 0 ? characters - 1 : 0;
    for (; at < end_byte; at++) characters += (text[at] & 0xc0) != 0x80;
    size_t end = characters;
    if (image->trim_count > 0) {
      uint32_t id = id_at(ids->bytes, image->id_bytes, i);
      const uint8_t *bytes = image->tokens + image->starts[id];
      size_t size = image->starts[id + 1] - image->starts[id];
      bool is_added = image->is_added[id >> 3] >> (id & 7) & 1;
      Spaces spaces = is_found   ? spaces_of_text(image, text + start_byte, end_byte - start_byte)
                      : is_added ? spaces_of_text(image, bytes, size)
                                 : spaces_of_bytes(bytes, size);
      for (uint32_t step = 0; step < image->trim_count; step++) trim(&start, &end, spaces, image->trim_keeps_one);
    }
    starts[i] = start;
    ends[i] = end;
  }
  return NULL;
}
