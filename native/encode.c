/* The way of a text: the kernel's text module cuts it into sections (src/kernel/text/sections.ts), and the kernel cuts these into
 * pretokens and encodes them. A text that is cut as it is goes straight to the kernel, which finds added tokens while it cuts. */
#include <stdlib.h>
#include <string.h>
#include "core.h"

const char gave_up[] = "stopped";

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

static const char *push_id(Encoding *encoding, const Event *token) {
  Ids *out = encoding->out;
  uint32_t id_bytes = encoding->image->id_bytes;
  if (encoding->notes != NULL) {
    FoundToken *found = NEXT_ENTRY(encoding->notes, found, found_count, found_capacity);
    if (found == NULL) return no_memory;
    *found = (FoundToken){out->size / id_bytes, token->b};
  }
  if (!ids_reserve(out, id_bytes)) return no_memory;
  memcpy(out->bytes + out->size, &token->a, id_bytes);
  out->size += id_bytes;
  return NULL;
}

static const char *note_space(Encoding *encoding) {
  if (encoding->notes == NULL) return NULL;
  size_t *index = NEXT_ENTRY(encoding->notes, spaces, space_count, space_capacity);
  if (index == NULL) return no_memory;
  *index = encoding->out->size / encoding->image->id_bytes;
  return NULL;
}

/* Notes a stretch of the text that has changed. */
static const char *note_change(Encoding *encoding, const Event *event) {
  Notes *notes = encoding->notes;
  size_t start = event->a, to_start = start;
  if (notes->change_count > 0) {
    const Change *before = &notes->changes[notes->change_count - 1];
    to_start = start - before->end + before->to_end;
  }
  Change *change = NEXT_ENTRY(notes, changes, change_count, change_capacity);
  if (change == NULL) return no_memory;
  *change = (Change){start, event->b, to_start, to_start + event->c};
  return NULL;
}

/* How much goes in at a time; with a limit some bytes for each id that is missing. */
enum { PART_BYTES = SCALED(1 << 18, 64), SECTION_PART_BYTES = SCALED(1 << 16, 5), BYTES_OF_ID = 4, LEAST_PART_BYTES = SCALED(1 << 10, 4) };

static size_t next_part(const Encoding *encoding, size_t size) {
  size_t most = PART_BYTES, count = encoding->out->size / encoding->image->id_bytes;
  if (encoding->id_limit < PART_BYTES / BYTES_OF_ID) {
    most = encoding->id_limit > count ? BYTES_OF_ID * (encoding->id_limit - count) : 0;
    if (most < LEAST_PART_BYTES) most = LEAST_PART_BYTES;
  }
  return size < most ? size : most;
}

static bool has_enough(const Encoding *encoding) { return encoding->out->size / encoding->image->id_bytes > encoding->id_limit; }

/* Encodes what is certain, if that may be enough. */
static const char *settle(Encoding *encoding, Section *section) { return encoding->id_limit == SIZE_MAX ? NULL : section_settle(section); }

/* The text goes to the kernel as it is. */
static const char *encode_directly(Encoding *encoding, Section *section) {
  const uint8_t *text = encoding->text;
  section_open(section, true, encoding->specials_as_text);
  for (size_t size = encoding->size, part; size > 0; text += part, size -= part) {
    part = next_part(encoding, size);
    const char *error = section_push(section, text, part);
    if (error == NULL && size > part) error = settle(encoding, section);
    if (error != NULL || has_enough(encoding)) return error;
    if (!goes_on(&encoding->poll, part)) return gave_up;
  }
  return encoding->size == 0 ? NULL : section_end(section, encoding->behind, encoding->behind_size);
}

/* `*is_open`: the section has begun. */
static const char *take_event(Encoding *encoding, Section *section, bool *is_open, const Event *event) {
  const char *error = NULL;
  bool has_text = event->kind == EVENT_TEXT || event->kind == EVENT_SPACE;
  if (has_text && !*is_open) section_open(section, false, false);
  *is_open = (*is_open || has_text) && event->kind != EVENT_END;
  switch (event->kind) {
    case EVENT_TEXT: return section_push(section, sections_text(encoding->instance, event), event->b);
    case EVENT_END: return section_end(section, NULL, 0);
    case EVENT_TOKEN: return push_id(encoding, event);
    case EVENT_STRIPPED:
      if (encoding->notes != NULL && encoding->notes->found_count > 0)
        encoding->notes->found[encoding->notes->found_count - 1].size += event->a;
      return NULL;
    case EVENT_SPACE:
      error = note_space(encoding);
      return error == NULL ? section_push(section, (const uint8_t *)" ", 1) : error;
    default: return encoding->notes == NULL ? NULL : note_change(encoding, event);
  }
}

static const char *encode_sections(Encoding *encoding, Section *section) {
  const uint8_t *text = encoding->text;
  size_t left = encoding->size, part;
  bool is_open = false;
  if (encoding->notes != NULL && left > UINT32_MAX) return "a text that is changed before it is encoded has offsets only below 4 GB";
  sections_open(encoding->instance, encoding->specials_as_text, encoding->notes != NULL);
  do {
    part = next_part(encoding, left < SECTION_PART_BYTES ? left : SECTION_PART_BYTES);
    const Event *events;
    uint32_t count;
    const char *error = sections_take(encoding->instance, text, (uint32_t)part, part == left, &events, &count);
    for (uint32_t i = 0; i < count && error == NULL; i++) error = take_event(encoding, section, &is_open, &events[i]);
    if (error == NULL && is_open) error = settle(encoding, section);
    if (error != NULL || has_enough(encoding)) return error;
    if (!goes_on(&encoding->poll, part)) return gave_up;
    text += part;
    left -= part;
  } while (left > 0);
  return NULL;
}

static const char *encode_all(void *context) {
  Encoding *encoding = context;
  Section section = {encoding->instance, encoding->image, encoding->out, 0, 0};
  return encoding->image->is_direct[encoding->specials_as_text] ? encode_directly(encoding, &section) : encode_sections(encoding, &section);
}

void notes_free(Notes *notes) {
  free(notes->found);
  free(notes->changes);
  free(notes->spaces);
  *notes = (Notes){0};
}

const char *encode_text(Encoding *encoding) {
  instance_poll(encoding->instance, &encoding->poll);
  const char *error = instance_safely(encode_all, encoding);
  instance_poll(encoding->instance, NULL);
  return error;
}
