/* Finds the positions of tokens in their text, and cuts texts into parts of at most N tokens. */
#include <stdlib.h>
#include "instance.h"

static const char unspelled[] = "no offsets: the tokens of this text do not decode to it";

/* Writes the starts and bytes of all tokens, and which ids are of added tokens, into the memory of the text module. */
const char *set_up_tokens(Instance *instance, const Image *image) {
  if (instance->tokens_memory != NULL) return NULL;
  wasm_rt_memory_t *memory = instance->tokens_memory = memory_new();
  if (memory == NULL) return no_memory;
  w2c_text *tokens = &instance->tokens;
  wasm2c_text_instantiate(tokens, (struct w2c_env *)memory);
  uint32_t size = image->starts[image->id_limit];
  if (!w2c_text_beginDecoding(tokens, image->id_limit, size, 0)) return no_memory;
  memory_put(memory, w2c_text_startsAddress(tokens), image->starts, 4 * ((size_t)image->id_limit + 1));
  memory_put(memory, w2c_text_tokensAddress(tokens), image->tokens, size);
  uint32_t address = w2c_text_useTrims(tokens, image->trim_count, image->trim_keeps_one);
  if (address == 0) return no_memory;
  uint8_t *is_added = memory_at(memory, address, image->id_limit / 8 + 1);
  for (uint32_t i = 0; i < image->added_id_count; i++)
    if (image->text_ids[i] < image->id_limit) is_added[image->text_ids[i] >> 3] |= (uint8_t)(1 << (image->text_ids[i] & 7));
  if (image->has_marks) w2c_text_useMarks(tokens);
  instance->tokens_set_up_size = memory->size;
  return NULL;
}

/* The cost of placing an id, in steps of `should_continue`. */
enum { STEPS_OF_ID = 8 };

/* Finds the positions of the ids in the first `size` bytes of the text. Stores them in `spans` if that is not NULL. */
static const char *place(Encoding *encoding, size_t size, bool in_characters, Span *spans) {
  Instance *instance = encoding->instance;
  const Image *image = encoding->image;
  const Notes *notes = encoding->notes;
  const char *error = set_up_tokens(instance, image);
  if (error != NULL) return error;
  w2c_text *tokens = &instance->tokens;
  wasm_rt_memory_t *memory = instance->tokens_memory;
  size_t count = encoding->out->size / image->id_bytes;
  if ((size | count | notes->count) > UINT32_MAX) return no_memory;
  if (!w2c_text_beginOffsets(tokens, (uint32_t)size, (uint32_t)notes->count, (uint32_t)count)) return no_memory;
  memory_put(memory, w2c_text_placedTextAddress(tokens), encoding->text, size);
  memory_put(memory, w2c_text_notesAddress(tokens), notes->events, notes->count * sizeof *notes->events);
  size_t most = w2c_text_givenIdsMax(tokens);
  for (size_t at = 0, part; at < count; at += part) {
    part = count - at < most ? count - at : most;
    uint32_t *ids = (uint32_t *)memory_at(memory, w2c_text_givenIdsAddress(tokens), 4 * part);
    for (size_t i = 0; i < part; i++) ids[i] = id_at(encoding->out->bytes, image->id_bytes, at + i);
    if (!w2c_text_placeIds(tokens, (uint32_t)part, in_characters)) return unspelled;
    if (spans != NULL) memcpy(spans + at, memory_at(memory, w2c_text_spansAddress(tokens), part * sizeof *spans), part * sizeof *spans);
    if (!should_continue(&encoding->poll, STEPS_OF_ID * part)) return gave_up;
  }
  /* If encoding stopped early, the last ids are not final, and may end before or after the `size` bytes. */
  bool is_spelled = w2c_text_endOffsets(tokens) == size;
  return is_spelled || count > encoding->id_limit ? NULL : unspelled;
}

typedef struct {
  Encoding *encoding;
  bool in_characters;
  Span *spans;
} Finding;

static const char *find(void *context) {
  Finding *finding = context;
  return place(finding->encoding, finding->encoding->size, finding->in_characters, finding->spans);
}

const char *find_spans(Encoding *encoding, bool in_characters, Span *spans) {
  return instance_safely(find, &(Finding){encoding, in_characters, spans});
}

/* ---- Cuts ---- */

const char *count_part(void *whole, uint32_t start, uint32_t end, uint32_t limit, uint32_t *count) {
  Encoding *encoding = whole;
  Encoding part = *encoding;
  part.text += start;
  part.size = end - start;
  part.id_limit = limit;
  part.notes = NULL;
  part.out->size = 0;
  const char *error = encode_text(&part);
  encoding->poll = part.poll;
  *count = (uint32_t)(part.out->size / part.image->id_bytes);
  return error;
}

static const char *add_part(Cutting *cutting, uint32_t start, uint32_t end) {
  if (cutting->count == cutting->capacity) {
    size_t capacity = 2 * cutting->capacity + 16;
    Span *longer = realloc(cutting->parts, capacity * sizeof *longer);
    if (longer == NULL) return no_memory;
    cutting->parts = longer;
    cutting->capacity = capacity;
  }
  cutting->parts[cutting->count++] = (Span){start, end};
  return NULL;
}

typedef struct {
  Encoding *encoding;
  Cutting *cutting;
} Work;

static const char *cut(void *context) {
  Encoding *encoding = ((Work *)context)->encoding;
  Cutting *cutting = ((Work *)context)->cutting;
  size_t size = encoding->read_size;
  while (size < encoding->size && (encoding->text[size] & 0xc0) == 0x80) size++;
  const char *error = place(encoding, size, false, NULL);
  if (error != NULL) return error;
  w2c_text *tokens = &encoding->instance->tokens;
  encoding->instance->tokens_memory->cutting = encoding;
  if (cutting->which == FIRST_PART) return add_part(cutting, 0, w2c_text_endOfPart(tokens, 0, cutting->ids_max));
  if (cutting->which == LAST_PART) return add_part(cutting, w2c_text_startOfLastPart(tokens, cutting->ids_max), (uint32_t)size);
  w2c_text_beginParts(tokens);
  for (uint32_t end = 0; end < size && error == NULL && cutting->too_many == 0;) {
    bool fits = w2c_text_nextPart(tokens, cutting->ids_max, cutting->overlap);
    uint32_t start = w2c_text_startOfPart(tokens), count = 0;
    end = w2c_text_endOfNextPart(tokens);
    error = add_part(cutting, start, end);
    if (error == NULL && !fits) error = count_part(encoding, start, end, UINT32_MAX, &count);
    cutting->too_many = count;
  }
  return error;
}

const char *cut_text(Encoding *encoding, Cutting *cutting) { return instance_safely(cut, &(Work){encoding, cutting}); }
