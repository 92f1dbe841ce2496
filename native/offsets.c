/* Where tokens are in their text: the rules of test/unit/tokenizer/naive-offsets.ts. */
#include "core.h"
#include "utf8.h"

/* HF spells a space of a token so, in GPT-2's characters. */
enum { SPELLED_SPACE = 0x120 };

typedef struct {
  size_t before, behind; /* spaces of a token as it is spelled */
} Spaces;

/* Of text: characters of white space, and those that spell a space. */
static bool is_space(int32_t code_point) { return code_point == SPELLED_SPACE || is_white_space(code_point); }

static Spaces spaces_of_text(const uint8_t *text, size_t size) {
  Spaces spaces = {0, 0};
  size_t at = 0, length;
  for (; at < size && is_space(code_point_at(text + at, size - at, &length)); at += length) spaces.before++;
  if (at == size) return (Spaces){spaces.before, spaces.before};
  for (; is_space(code_point_before(text, size, &length)); size -= length) spaces.behind++;
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

/* What an id costs, as steps of a poll. */
enum { STEPS_OF_ID = 8 };

static const char unspelled[] = "the tokens of this text do not spell it, so it has no offsets";

/* Positions in the text with its sections in their form, as positions in the text as it was given. */
static void in_text(const Notes *notes, size_t *positions, size_t count) {
  Change before = {0, 0, 0, 0};
  size_t next = 0;
  for (size_t i = 0; i < count && notes->change_count > 0; i++) {
    size_t position = positions[i];
    while (next < notes->change_count && notes->changes[next].to_start < position) before = notes->changes[next++];
    if (position >= before.to_end) {
      positions[i] = before.end + position - before.to_end;
      continue;
    }
    /* Inside, in proportion. */
    size_t share = (position - before.to_start) * (before.end - before.start) / (before.to_end - before.to_start);
    positions[i] = before.start + (share > 1 ? share : 1);
  }
}

const char *find_starts(Encoding *encoding, const Ids *ids, size_t *starts) {
  const Image *image = encoding->image;
  const Notes *notes = encoding->notes;
  size_t count = ids->size / image->id_bytes, at = 0, next_found = 0, next_space = 0;
  for (size_t i = 0; i < count; i++) {
    if (!goes_on(&encoding->poll, STEPS_OF_ID)) return gave_up;
    uint32_t id = id_at(ids->bytes, image->id_bytes, i);
    if (id >= image->id_limit) return unspelled;
    size_t size = image->starts[id + 1] - image->starts[id];
    starts[i] = at;
    if (next_found < notes->found_count && notes->found[next_found].index == i) {
      at += notes->found[next_found++].size;
    } else {
      bool has_space = next_space < notes->space_count && notes->spaces[next_space] == i;
      next_space += has_space;
      at += size - (has_space && size > 0);
    }
  }
  starts[count] = at;
  in_text(notes, starts, count + 1);
  bool is_whole = count <= encoding->id_limit;
  return !is_whole || starts[count] == encoding->size ? NULL : unspelled;
}

const char *find_offsets(Encoding *encoding, const Ids *ids, bool in_characters, size_t *starts, size_t *ends) {
  const Image *image = encoding->image;
  size_t count = ids->size / image->id_bytes;
  const char *error = find_starts(encoding, ids, starts);
  if (error != NULL) return error;
  for (size_t i = 0; i < count; i++) ends[i] = starts[i + 1];
  if (!in_characters) return NULL;
  const Notes *notes = encoding->notes;
  const uint8_t *text = encoding->text;
  size_t at = 0, characters = 0, next_found = 0;
  for (size_t i = 0; i < count; i++) {
    if (!goes_on(&encoding->poll, STEPS_OF_ID + ends[i] - starts[i])) return gave_up;
    size_t start_byte = starts[i], end_byte = ends[i];
    bool is_found = next_found < notes->found_count && notes->found[next_found].index == i;
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
      Spaces spaces = is_found   ? spaces_of_text(text + start_byte, end_byte - start_byte)
                      : is_added ? spaces_of_text(bytes, size)
                                 : spaces_of_bytes(bytes, size);
      for (uint32_t step = 0; step < image->trim_count; step++) trim(&start, &end, spaces, image->trim_keeps_one);
    }
    starts[i] = start;
    ends[i] = end;
  }
  return NULL;
}
