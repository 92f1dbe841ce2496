/* The way of a text, in HF's order (src/text/text-chain.ts): find added tokens in the text as it is; bring the text between them
 * into its form; find the added tokens that are `normalized` in that; put a space before; and have the kernel cut and encode. */
#include <stdlib.h>
#include <string.h>
#include "core.h"
#include "utf8.h"

const char gave_up[] = "stopped";

/* ---- Added tokens ---- */

static bool is_word_at(const Image *image, int32_t code_point) { return code_point >= 0 && contains(&image->words, (uint32_t)code_point); }

/* A token that does not count stays text, and takes its place all the same. */
static bool counts(const Encoding *encoding, const AddedToken *token, const uint8_t *text, size_t at, size_t size) {
  if (encoding->specials_as_text && (token->flags & TOKEN_SPECIAL)) return false;
  if (!(token->flags & TOKEN_SINGLE_WORD)) return true;
  size_t ignored, end = at + token->size;
  return !is_word_at(encoding->image, code_point_before(text, at, &ignored)) &&
         !is_word_at(encoding->image, code_point_at(text + end, size - end, &ignored));
}

/* What a character costs, as steps of a poll. */
enum { SPACE_STEPS = 16 };

/* Where the white space that ends at `end` begins, not before `least`. */
static size_t space_start(Encoding *encoding, const uint8_t *text, size_t least, size_t end) {
  while (end > least && goes_on(&encoding->poll, SPACE_STEPS)) {
    size_t length;
    int32_t code_point = code_point_before(text, end, &length);
    if (code_point < 0 || !contains(&encoding->image->spaces, (uint32_t)code_point)) break;
    end -= length;
  }
  return end;
}

static size_t space_end(Encoding *encoding, const uint8_t *text, size_t at, size_t size) {
  while (at < size && goes_on(&encoding->poll, SPACE_STEPS)) {
    size_t length;
    int32_t code_point = code_point_at(text + at, size - at, &length);
    if (code_point < 0 || !contains(&encoding->image->spaces, (uint32_t)code_point)) break;
    at += length;
  }
  return at;
}

/* A place for one more entry of a list; NULL without memory. */
static void *next_entry(void **list, size_t *count, size_t *capacity, size_t entry_bytes) {
  if (*count == *capacity) {
    size_t more = 2 * *capacity + 16;
    void *longer = realloc(*list, more * entry_bytes);
    if (longer == NULL) return NULL;
    *list = longer;
    *capacity = more;
  }
  return (char *)*list + entry_bytes * (*count)++;
}
#define NEXT_ENTRY(notes, list, count, capacity) \
  next_entry((void **)&(notes)->list, &(notes)->count, &(notes)->capacity, sizeof *(notes)->list)

void notes_free(Notes *notes) {
  free(notes->found);
  free(notes->changes);
  free(notes->spaces);
  *notes = (Notes){0};
}

static const char *push_id(Encoding *encoding, uint32_t id, size_t size) {
  Ids *out = encoding->out;
  uint32_t id_bytes = encoding->image->id_bytes;
  if (encoding->notes != NULL) {
    FoundToken *found = NEXT_ENTRY(encoding->notes, found, found_count, found_capacity);
    if (found == NULL) return no_memory;
    *found = (FoundToken){out->size / id_bytes, size};
  }
  if (!ids_reserve(out, id_bytes)) return no_memory;
  memcpy(out->bytes + out->size, &id, id_bytes);
  out->size += id_bytes;
  return NULL;
}

/* ---- Sections: the text between two added tokens ---- */

/* How much goes in at a time; with a limit some bytes for each id that is missing. */
enum { PART_BYTES = SCALED(1 << 18, 64), BYTES_OF_ID = 4, LEAST_PART_BYTES = SCALED(1 << 10, 4) };

static size_t next_part(const Encoding *encoding, size_t size) {
  size_t most = PART_BYTES, count = encoding->out->size / encoding->image->id_bytes;
  if (encoding->id_limit < PART_BYTES / BYTES_OF_ID) {
    most = encoding->id_limit > count ? BYTES_OF_ID * (encoding->id_limit - count) : 0;
    if (most < LEAST_PART_BYTES) most = LEAST_PART_BYTES;
  }
  return size < most ? size : most;
}

/* A piece of text without added tokens. `behind`: the character that follows, if the text is cut there. */
static const char *encode_piece(Encoding *encoding, const uint8_t *text, size_t size, const uint8_t *behind, size_t behind_size) {
  Section section = {encoding->instance, encoding->image->id_bytes, encoding->out, 0};
  const char *error = NULL;
  if (size == 0) return NULL;
  section_open(&section);
  if (encoding->image->adds_prefix_space && text[0] != ' ') {
    if (encoding->notes != NULL) {
      size_t *index = NEXT_ENTRY(encoding->notes, spaces, space_count, space_capacity);
      if (index == NULL) return no_memory;
      *index = encoding->out->size / section.id_bytes;
    }
    error = section_push(&section, (const uint8_t *)" ", 1);
  }
  while (size > 0 && error == NULL) {
    size_t part = next_part(encoding, size);
    error = section_push(&section, text, part);
    text += part;
    size -= part;
    if (error == NULL && !goes_on(&encoding->poll, part)) return gave_up;
    if (size == 0 || error != NULL) break;
    if (encoding->id_limit != SIZE_MAX) error = section_settle(&section);
    if (encoding->out->size / section.id_bytes > encoding->id_limit) return error;
  }
  return error == NULL ? section_end(&section, behind, behind_size) : error;
}

typedef const char *(*TakeText)(Encoding *, const uint8_t *text, size_t size, const uint8_t *behind, size_t behind_size);

/* Cuts a text at the tokens of a group; `take` gets what is between them. */
static const char *cut_at_tokens(Encoding *encoding, const TokenGroup *group, const uint8_t *text, size_t size, const uint8_t *behind, size_t behind_size, TakeText take) {
  const Image *image = encoding->image;
  TokenSearch *search = &encoding->searches[group == &image->late];
  bool stays_text = encoding->specials_as_text && image->all_special;
  size_t done = 0, from = 0, at;
  const AddedToken *token = NULL;
  search_open(search, image, group, text, size, &encoding->poll);
  while (!stays_text && (at = find_token(search, from, size, &token)) < size) {
    size_t end = at + token->size;
    from = end;
    if (!counts(encoding, token, text, at, size)) continue;
    size_t start = token->flags & TOKEN_LSTRIP ? space_start(encoding, text, done, at) : at;
    const char *error = start > done ? take(encoding, text + done, start - done, NULL, 0) : NULL;
    if (error != NULL) return error;
    done = token->flags & TOKEN_RSTRIP ? space_end(encoding, text, end, size) : end;
    if (done > from) from = done;
    error = push_id(encoding, token->id, done - start);
    if (error != NULL) return error;
    if (encoding->out->size / image->id_bytes > encoding->id_limit) return NULL;
  }
  if (search->has_no_memory) return no_memory;
  if (encoding->poll.has_given_up) return gave_up;
  return size > done ? take(encoding, text + done, size - done, behind, behind_size) : NULL;
}

static const char *take_in_form(Encoding *encoding, const uint8_t *text, size_t size, const uint8_t *behind, size_t behind_size) {
  return cut_at_tokens(encoding, &encoding->image->late, text, size, behind, behind_size, encode_piece);
}

typedef struct {
  Notes *notes;
  size_t at; /* where the section begins in the text */
} SectionNotes;

/* Notes a stretch of the section that has changed. */
static const char *note_change(void *context, const uint32_t stretch[4]) {
  SectionNotes *section = context;
  Notes *notes = section->notes;
  size_t start = section->at + stretch[0], to_start = start;
  if (notes->change_count > 0) {
    const Change *before = &notes->changes[notes->change_count - 1];
    to_start = start - before->end + before->to_end;
  }
  Change *change = NEXT_ENTRY(notes, changes, change_count, change_capacity);
  if (change == NULL) return no_memory;
  *change = (Change){start, section->at + stretch[1], to_start, to_start + (stretch[3] - stretch[2])};
  return NULL;
}

static const char *take_as_it_is(Encoding *encoding, const uint8_t *text, size_t size, const uint8_t *behind, size_t behind_size) {
  if (encoding->image->form_count == 0) return take_in_form(encoding, text, size, behind, behind_size);
  SectionNotes section = {encoding->notes, (size_t)(text - encoding->text)};
  const uint8_t *changed;
  size_t changed_size;
  NoteChange note = encoding->notes == NULL ? NULL : note_change;
  const char *error = normalize(encoding->instance, text, size, &changed, &changed_size, note, &section, &encoding->poll);
  return error == NULL ? take_in_form(encoding, changed, changed_size, NULL, 0) : error;
}

static const char *encode_all(void *context) {
  Encoding *encoding = context;
  return cut_at_tokens(encoding, &encoding->image->early, encoding->text, encoding->size, encoding->behind, encoding->behind_size, take_as_it_is);
}

const char *encode_text(Encoding *encoding) {
  instance_poll(encoding->instance, &encoding->poll);
  const char *error = instance_safely(encode_all, encoding);
  instance_poll(encoding->instance, NULL);
  for (int i = 0; i < 2; i++) search_close(&encoding->searches[i]);
  return error;
}

/* ---- Cuts for threads ---- */

/* So far a place for a cut is looked for. */
enum { CUT_SEARCH_BYTES = SCALED(1 << 16, 16) };

static bool is_safe(const Image *image, uint8_t before, uint8_t behind) {
  uint32_t pair = (uint32_t)before << 7 | behind;
  return before < 128 && behind < 128 && (image->cuts[pair >> 3] >> (pair & 7) & 1);
}

void cuts_open(TokenSearch *search, const Image *image, const uint8_t *text, size_t size, Poll *poll) {
  search_open(search, image, image->early.count > 0 ? &image->early : &image->late, text, size, poll);
}

size_t next_cut(TokenSearch *search, bool specials_as_text, size_t from, bool is_all) {
  const Image *image = search->image;
  const uint8_t *text = search->text;
  size_t size = search->size, longest = search->group->longest_bytes;
  bool has_tokens = search->group->count > 0 && !(specials_as_text && image->all_special);
  if (!image->may_be_cut || (specials_as_text && !image->all_special)) return size;
  size_t stop = size - from > CUT_SEARCH_BYTES ? from + CUT_SEARCH_BYTES : size;
  for (size_t at = from > 0 ? from : 1; at < stop; at++) {
    if (!is_safe(image, text[at - 1], text[at])) continue;
    if (!is_all && size - at < longest) break;
    /* Tokens that begin before the cut, one after the other: does the last one end behind it? One that begins at the cut ends
     * the text before it, so what follows that is no character that a pattern may look at. */
    size_t end = search->searched;
    while (has_tokens && end <= at) {
      const AddedToken *token = NULL;
      size_t start = find_token(search, end, at + 1, &token);
      if (search->has_no_memory || has_stopped(search->poll)) return size;
      if (start > at) break;
      search->searched = end = start + token->size;
    }
    if (end <= at) {
      search->searched = at;
      return at;
    }
    at = end;
  }
  return size;
}
