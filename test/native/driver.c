/*
 * Answers questions about texts with the core, for test/native/core.test.ts: `driver IMAGE < questions > answers`.
 *
 * A question is u32 kind, u32 flags, u32 number, u32 size, and `size` bytes. An answer is u32 (0: error), u32 count,
 * and `count` bytes: an error message, a text, or 32-bit numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bpe.h"
#include "core.h"

enum { ENCODE, COUNT, DECODE, OFFSETS, SLICES, CUTS, FORM, RECODE };
enum { AS_TEXT = 1, IN_CHARACTERS = 2 };

typedef struct {
  uint32_t kind, flags, number, size;
} Question;

static bpe_tokenizer *tokenizer;
static Image image;
static Instance *instance;

static void answer(bool is_right, const void *bytes, size_t size) {
  uint32_t head[2] = {is_right, (uint32_t)size};
  fwrite(head, sizeof head, 1, stdout);
  fwrite(bytes, 1, size, stdout);
}

static void answer_numbers(const size_t *numbers, size_t count) {
  uint32_t *narrow = malloc(4 * count + 1);
  for (size_t i = 0; i < count; i++) narrow[i] = (uint32_t)numbers[i];
  answer(true, narrow, 4 * count);
  free(narrow);
}

/* Answers with the ids, as 32-bit numbers. */
static void answer_ids(const Ids *ids) {
  size_t count = ids->size / image.id_bytes, *numbers = malloc((count + 1) * sizeof *numbers);
  for (size_t i = 0; i < count; i++) numbers[i] = id_at(ids->bytes, image.id_bytes, i);
  answer_numbers(numbers, count);
  free(numbers);
}

static const char *encode(Encoding *encoding, const Question *question) {
  const char *error = NULL;
  encoding->image = &image;
  encoding->specials_as_text = question->flags & AS_TEXT;
  encoding->id_limit = SIZE_MAX;
  if (instance == NULL) instance = instance_new(&image, &error);
  if (error == NULL) {
    encoding->instance = instance;
    error = encode_text(encoding);
  }
  if (error != NULL && instance != NULL) {
    instance_free(instance);
    instance = NULL;
  }
  return error;
}

static const char *offsets(const Question *question, const uint8_t *text) {
  Ids ids = {0};
  Notes notes = {0};
  Encoding encoding = {.text = text, .size = question->size, .out = &ids, .notes = &notes};
  const char *error = encode(&encoding, question);
  size_t count = ids.size / image.id_bytes, *numbers = malloc((2 * count + 1) * sizeof *numbers);
  Span *spans = malloc((count + 1) * sizeof *spans);
  if (error == NULL) error = find_spans(&encoding, question->flags & IN_CHARACTERS, spans);
  for (size_t i = 0; i < count && error == NULL; i++) numbers[i] = spans[i].start, numbers[count + i] = spans[i].end;
  if (error == NULL) answer_numbers(numbers, 2 * count);
  free(spans);
  free(numbers);
  notes_free(&notes);
  free(ids.bytes);
  return error;
}

/*
 * Cuts a text of more than `ids` ids into parts of at most `ids` ids, which overlap by at most ids / 4 tokens. Answers
 * with the start and the end of the first part, of the last part, or of every part. A text of at most `ids` ids gets an
 * empty answer. `number` is 4 * ids + FIRST_PART, LAST_PART or ALL_PARTS.
 */
static const char *cuts(const Question *question, const uint8_t *text) {
  Ids ids = {0};
  Notes notes = {0};
  Cutting cutting = {.which = question->number & 3, .ids_max = question->number >> 2, .overlap = question->number >> 4};
  Encoding encoding = {.text = text, .size = question->size, .out = &ids, .notes = &notes};
  const char *error = encode(&encoding, question);
  if (error == NULL && ids.size / image.id_bytes > cutting.ids_max) error = cut_text(&encoding, &cutting);
  size_t *numbers = malloc((2 * cutting.count + 1) * sizeof *numbers);
  for (size_t i = 0; i < cutting.count; i++) numbers[2 * i] = cutting.parts[i].start, numbers[2 * i + 1] = cutting.parts[i].end;
  if (error == NULL) answer_numbers(numbers, cutting.too_many > 0 ? 0 : 2 * cutting.count);
  free(numbers);
  free(cutting.parts);
  notes_free(&notes);
  free(ids.bytes);
  return error;
}

/* Cuts the text into slices that end at safe cuts, each but the last of at least `number` bytes, and answers with their
 * ids. */
static const char *slices(const Question *question, const uint8_t *text) {
  Ids ids = {0};
  size_t from = 0, size = question->size;
  const char *error = NULL;
  if (instance == NULL) instance = instance_new(&image, &error);
  while (from < size && error == NULL) {
    size_t least = from + question->number, to = size;
    if (least < size) error = find_cut(instance, &image, question->flags & AS_TEXT, text, size, least, true, &to);
    if (error != NULL) break;
    Encoding encoding = {.text = text + from,
                         .size = to - from,
                         .following = to < size ? text + to : NULL,
                         .following_size = size - to < 4 ? size - to : 4,
                         .out = &ids};
    error = encode(&encoding, question);
    from = to;
  }
  if (error == NULL) answer_ids(&ids);
  free(ids.bytes);
  return error;
}

typedef struct {
  const Question *question;
  const uint8_t *text;
} Form;

/* Answers with the normalized text, which the kernel's text module returns piece by piece. */
static const char *normalize_question(void *context) {
  const Form *form = context;
  uint32_t left = form->question->size, part, count;
  const uint8_t *text = form->text;
  const char *error = sections_open(instance, &image, false, false, false, false);
  if (error != NULL) return error;
  uint8_t *made = malloc(1);
  size_t size = 0;
  do {
    const Event *events;
    part = left < 1 << 16 ? left : 1 << 16;
    error = sections_take(instance, text, part, part == left ? ENDS_TEXT : ENDS_NOTHING, &events, &count);
    for (uint32_t i = 0; i < count && error == NULL; i++) {
      if (events[i].kind != EVENT_TEXT) continue;
      made = realloc(made, size + events[i].b);
      memcpy(made + size, sections_text(instance, &events[i]), events[i].b);
      size += events[i].b;
    }
    text += part;
    left -= part;
  } while (left > 0 && error == NULL);
  if (error == NULL) answer(true, made, size);
  free(made);
  return error;
}

static const char *form(const Question *question, const uint8_t *text) {
  const char *error = NULL;
  if (instance == NULL) instance = instance_new(&image, &error);
  return error == NULL ? instance_safely(normalize_question, &(Form){question, text}) : error;
}

/* Answers with the index of the first id that is not canonical, the number of canonical ids, these ids, and the spans
 * (four numbers each). */
static const char *recode(const Question *question, const uint8_t *given, int flags) {
  size_t count = question->size / 4, index;
  uint32_t *numbers = malloc(4 * count + 4);
  memcpy(numbers, given, 4 * count);
  bpe_ids canonical = {0};
  bpe_spans spans = {0};
  const char *error = bpe_first_noncanonical(tokenizer, numbers, count, flags, &index);
  if (error == NULL) error = bpe_recode(tokenizer, numbers, count, flags, &canonical, &spans);
  size_t *all = malloc((2 + canonical.count + 4 * spans.count) * sizeof *all), size = 0;
  all[size++] = index;
  all[size++] = canonical.count;
  for (size_t i = 0; i < canonical.count; i++) all[size++] = canonical.ids[i];
  for (size_t i = 0; i < spans.count; i++) {
    memcpy(all + size, &spans.spans[i], sizeof spans.spans[i]);
    size += 4;
  }
  if (error == NULL) answer_numbers(all, size);
  free(all);
  free(numbers);
  bpe_free(canonical.ids);
  bpe_free(spans.spans);
  return error;
}

static const char *reply(const Question *question, const uint8_t *text) {
  const char *error = NULL, *chars = (const char *)text;
  int flags = question->flags & AS_TEXT ? BPE_SPECIALS_AS_TEXT : 0;
  bpe_ids ids;
  bpe_bytes bytes;
  size_t count;
  switch (question->kind) {
    case ENCODE:
      error = bpe_encode(tokenizer, chars, question->size, flags, &ids);
      if (error == NULL) answer(true, ids.ids, 4 * ids.count);
      bpe_free(ids.ids);
      return error;
    case COUNT:
      error = bpe_count(tokenizer, chars, question->size, flags, question->number, &count);
      if (error == NULL) answer_numbers(&count, 1);
      return error;
    case DECODE: {
      uint32_t *numbers = malloc(question->size + 1);
      memcpy(numbers, text, question->size);
      error = bpe_decode(tokenizer, numbers, question->size / 4, &bytes);
      if (error == NULL) answer(true, bytes.bytes, bytes.size);
      bpe_free(bytes.bytes);
      free(numbers);
      return error;
    }
    case OFFSETS: return offsets(question, text);
    case SLICES: return slices(question, text);
    case CUTS: return cuts(question, text);
    case RECODE: return recode(question, text, flags);
    default: return form(question, text);
  }
}

int main(int count, char **arguments) {
  const char *error = "an image is missing";
  tokenizer = count == 2 ? bpe_open(arguments[1], &error) : NULL;
  FILE *file = tokenizer == NULL ? NULL : fopen(arguments[1], "rb");
  uint8_t *bytes = NULL;
  if (file != NULL) {
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(size);
    error = fread(bytes, 1, size, file) == size ? image_open(&image, bytes, size) : "the image cannot be read";
    fclose(file);
  }
  if (error != NULL) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  Question question;
  while (fread(&question, sizeof question, 1, stdin) == 1) {
    /* Allocates exactly the size of the text, or one byte if it is 0, so that a sanitizer notices reads beyond it. */
    uint8_t *text = malloc(question.size > 0 ? question.size : 1);
    if (fread(text, 1, question.size, stdin) != question.size) return 2;
    const char *failed = reply(&question, text);
    if (failed != NULL) answer(false, failed, strlen(failed));
    free(text);
  }
  if (instance != NULL) instance_free(instance);
  free(bytes);
  bpe_close(tokenizer);
  return 0;
}
