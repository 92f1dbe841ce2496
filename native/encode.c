/* How a text is encoded: the kernel's text module cuts it into sections (src/kernel/text/sections.ts), and the
 * kernel cuts these into pretokens and encodes them. If a text has no segments, and nothing changes it before cutting
 * (`is_direct`), it goes straight to the kernel, which finds added tokens while it cuts. */
#include <stdlib.h>
#include <string.h>
#include "core.h"

const char gave_up[] = "stopped";

/* Records an event, if the encoding has notes. Sets the event's `c` to the index of the next id, except in an
 * EVENT_CHANGE. */
static const char *note(const Encoding *encoding, const Event *event) {
  Notes *notes = encoding->notes;
  if (notes == NULL) return NULL;
  if (notes->count == notes->capacity) {
    size_t capacity = 2 * notes->capacity + 16;
    Event *longer = realloc(notes->events, capacity * sizeof *longer);
    if (longer == NULL) return no_memory;
    notes->events = longer;
    notes->capacity = capacity;
  }
  Event *noted = &notes->events[notes->count++];
  *noted = *event;
  if (event->kind != EVENT_CHANGE) noted->c = (uint32_t)(encoding->out->size / encoding->image->id_bytes);
  return NULL;
}

/* Appends the id of an EVENT_TOKEN. */
static const char *push_id(Ids *out, const Event *token, uint32_t id_bytes) {
  if (!ids_reserve(out, id_bytes)) return no_memory;
  memcpy(out->bytes + out->size, &token->a, id_bytes); /* little-endian, as the kernel's */
  out->size += id_bytes;
  return NULL;
}

/* PART_BYTES of text are encoded at a time, or SECTION_PART_BYTES if the text module cuts it. If `id_limit` is
 * small, a part has only BYTES_OF_ID bytes for each id that is missing up to the limit, but at least
 * LEAST_PART_BYTES. */
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

/* If the number of ids is limited, encodes the text whose tokens no further text can change. Encoding can stop if the
 * ids of that text already exceed the limit. */
static const char *settle(Encoding *encoding, Section *section) { return encoding->id_limit == SIZE_MAX ? NULL : section_settle(section); }

/* Passes the text to the kernel unchanged. */
static const char *encode_directly(Encoding *encoding, Section *section) {
  const uint8_t *text = encoding->text;
  section_open(section, true, encoding->specials_as_text);
  for (size_t size = encoding->size, part; size > 0; text += part, size -= part) {
    part = next_part(encoding, size);
    encoding->read_size += part;
    const char *error = section_push(section, text, part);
    if (error == NULL && size > part) error = settle(encoding, section);
    if (error != NULL || has_enough(encoding)) return error;
    if (!should_continue(&encoding->poll, part)) return gave_up;
  }
  return encoding->size == 0 ? NULL : section_end(section, encoding->following, encoding->following_size);
}

/* Handles an event of the text module. `*is_open` tells whether a section has begun, and is updated. */
static const char *take_event(Encoding *encoding, Section *section, bool *is_open, const Event *event) {
  bool has_text = event->kind == EVENT_TEXT || event->kind == EVENT_SPACE;
  if (has_text && !*is_open) section_open(section, false, false);
  *is_open = (*is_open || has_text) && event->kind != EVENT_END;
  if (event->kind == EVENT_TEXT) return section_push(section, sections_text(encoding->instance, event), event->b);
  if (event->kind == EVENT_END) return section_end(section, NULL, 0);
  const char *error = note(encoding, event);
  if (error == NULL && event->kind == EVENT_TOKEN) error = push_id(encoding->out, event, encoding->image->id_bytes);
  if (error == NULL && event->kind == EVENT_SPACE) error = section_push(section, (const uint8_t *)" ", 1);
  return error;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Sets `*part` to the number of bytes that the text module gets next, at most up to the end of the segment. If the text
 * so far ends with a segment, first begins the next segment. */
static const char *next_section_part(Encoding *encoding, const Segment **segment, size_t *part) {
  size_t at = encoding->read_size, end = encoding->size;
  const char *error = NULL;
  if (*segment != NULL) {
    if (at > 0 && at == (*segment)->end && at < end) error = sections_end_segment(encoding->instance, !(++*segment)->is_trusted);
    end = (*segment)->end;
  }
  *part = next_part(encoding, smaller(end - at, SECTION_PART_BYTES));
  return error;
}

/* Passes the text to the text module, and the sections that it finds to the kernel. */
static const char *encode_sections(Encoding *encoding, Section *section) {
  const uint8_t *text = encoding->text;
  const Segment *segment = encoding->segments;
  size_t left = encoding->size, part;
  bool is_open = false, as_text = segment == NULL ? encoding->specials_as_text : left > 0 && !segment->is_trusted;
  if (encoding->notes != NULL && left > UINT32_MAX) return "offsets of a normalized text need a text below 4 GB";
  if (segment != NULL && left > INT32_MAX) return "the text of the segments is larger than 2 GB, the limit";
  const char *error = sections_open(encoding->instance, encoding->image, as_text, encoding->notes != NULL, segment != NULL, encoding->continues);
  if (error != NULL) return error;
  do {
    error = next_section_part(encoding, &segment, &part);
    if (error != NULL) return error;
    encoding->read_size += part;
    const Event *events;
    uint32_t count;
    error = sections_take(encoding->instance, text, (uint32_t)part, part < left ? ENDS_NOTHING : encoding->following == NULL ? ENDS_TEXT : ENDS_PART, &events, &count);
    for (uint32_t i = 0; i < count && error == NULL; i++) error = take_event(encoding, section, &is_open, &events[i]);
    if (error == NULL && is_open) error = settle(encoding, section);
    if (error != NULL || has_enough(encoding)) return error;
    if (!should_continue(&encoding->poll, part)) return gave_up;
    text += part;
    left -= part;
  } while (left > 0);
  if (!is_open) return NULL;
  const uint8_t *following = NULL;
  size_t following_size = 0;
  if (encoding->following != NULL)
    error = sections_following(encoding->instance, encoding->following, encoding->following_size, &following, &following_size);
  return error == NULL ? section_end(section, following, following_size) : error;
}

static const char *encode_all(void *context) {
  Encoding *encoding = context;
  encoding->read_size = 0;
  Section section = {encoding->instance, encoding->image, encoding->out, 0, 0};
  bool is_direct = encoding->segments == NULL && encoding->image->is_direct[encoding->specials_as_text];
  return is_direct ? encode_directly(encoding, &section) : encode_sections(encoding, &section);
}

void notes_free(Notes *notes) {
  free(notes->events);
  *notes = (Notes){0};
}

const char *encode_text(Encoding *encoding) {
  instance_poll(encoding->instance, &encoding->poll);
  const char *error = instance_safely(encode_all, encoding);
  instance_poll(encoding->instance, NULL);
  return error;
}
