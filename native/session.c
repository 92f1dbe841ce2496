/* Texts that grow and are edited. The kernel decides what is encoded again (src/kernel/text/sessions.ts). Text, ids
 * and checkpoints are kept here and not in the kernel's memory, so that thousands of sessions share a tokenizer's
 * instances. */
#include <stdlib.h>
#include <string.h>
#include "instance.h"

enum { EDIT_DONE, FINDS_FIRST, FINDS_LAST, ENCODES };

void session_free(Session *session) {
  free(session->text);
  free(session->segments);
  free(session->ids.bytes);
  free(session->checkpoints);
  *session = (Session){0};
}

/* Returns a copy to be freed, or NULL if there is no memory. */
static void *copy_of(const void *bytes, size_t size) {
  void *copy = malloc(size + 8);
  if (copy != NULL && size > 0) memcpy(copy, bytes, size);
  return copy;
}

bool session_copy(Session *to, const Session *from) {
  *to = *from;
  to->text = copy_of(from->text, from->size);
  to->text_capacity = from->size;
  to->segments = copy_of(from->segments, from->segment_count * sizeof *from->segments);
  to->ids.bytes = copy_of(from->ids.bytes, from->ids.size);
  to->ids.capacity = from->ids.size;
  to->checkpoints = copy_of(from->checkpoints, from->checkpoint_count * sizeof *from->checkpoints);
  to->encoded_size = 0;
  if (to->text != NULL && to->segments != NULL && to->ids.bytes != NULL && to->checkpoints != NULL) return true;
  session_free(to);
  return false;
}

/* Replaces bytes [start, end) of a text. Returns false if there is no memory, or if the text would reach 2 GiB. */
static bool replace_text(Session *session, size_t start, size_t end, const uint8_t *bytes, size_t size) {
  size_t after = session->size - end, new_size = start + size + after;
  if (new_size > INT32_MAX) return false;
  if (new_size > session->text_capacity) {
    size_t capacity = new_size + new_size / 4 + 64;
    uint8_t *text = realloc(session->text, capacity);
    if (text == NULL) return false;
    session->text = text;
    session->text_capacity = capacity;
  }
  if (after > 0) memmove(session->text + start + size, session->text + end, after);
  if (size > 0) memcpy(session->text + start, bytes, size);
  session->size = new_size;
  return true;
}

/* Returns the segments of the text after `size` bytes have replaced bytes [start, end), or NULL if there is no
 * memory. Adjacent segments that are both trusted, or both not, become one. */
static Segment *edited_segments(const Session *session, size_t start, size_t end, size_t size, bool is_trusted, size_t *count) {
  Segment *made = malloc((session->segment_count + 3) * sizeof *made);
  size_t n = 0, begin = 0;
  for (int part = 0; made != NULL && part < 3; part++) {
    /* Part 0: segments before the edit; 1: the new text; 2: segments after the edit. */
    begin = 0;
    for (size_t i = 0; i < (part == 1 ? 1 : session->segment_count); i++) {
      Segment segment = part == 1 ? (Segment){size, is_trusted} : session->segments[i];
      size_t from = part == 2 && begin < end ? end : begin, to = part == 0 && segment.end > start ? start : segment.end;
      begin = segment.end;
      if (to <= from) continue;
      size_t last_end = n > 0 ? made[n - 1].end : 0;
      if (n > 0 && made[n - 1].is_trusted == segment.is_trusted) made[n - 1].end += to - from;
      else made[n++] = (Segment){last_end + (to - from), segment.is_trusted};
    }
  }
  *count = n;
  return made;
}

typedef struct {
  Session *session;
  const Image *image;
  Instance *instance;
  Poll *poll;
  size_t start, end, new_size, old_count;
  Ids ids; /* the ids of the parts that were encoded, end to end */
  size_t first_id, end_id;
  Checkpoint *checkpoints;
  size_t checkpoint_count, encoded_size;
} Edit;

static const char *encode_part(Edit *edit, size_t from, size_t to, uint32_t *count) {
  const Session *session = edit->session;
  size_t first = 0, after = session->size - to, before = edit->ids.size, reach = cut_reach(edit->instance, edit->image);
  while (first < session->segment_count && session->segments[first].end <= from) first++;
  size_t last = first;
  while (last < session->segment_count && session->segments[last].end < to) last++;
  Segment *segments = last > first ? calloc(last - first + 1, sizeof *segments) : NULL;
  if (last > first && segments == NULL) return no_memory;
  for (size_t i = first; i <= last && segments != NULL; i++) {
    size_t end = session->segments[i].end < to ? session->segments[i].end : to;
    segments[i - first] = (Segment){end - from, session->segments[i].is_trusted};
  }
  Encoding part = {.image = edit->image,
                   .instance = edit->instance,
                   .segments = segments,
                   .specials_as_text = first < session->segment_count && !session->segments[first].is_trusted,
                   .text = session->text + from,
                   .size = to - from,
                   .following = after > 0 ? session->text + to : NULL,
                   .following_size = after < reach ? after : reach,
                   .continues = from > 0,
                   .out = &edit->ids,
                   .id_limit = SIZE_MAX,
                   .poll = *edit->poll};
  const char *error = encode_text(&part);
  *edit->poll = part.poll;
  free(segments);
  edit->encoded_size += to - from;
  *count = (uint32_t)((edit->ids.size - before) / edit->image->id_bytes);
  return error;
}

static const char *run_edit(void *context) {
  Edit *edit = context;
  const Session *session = edit->session;
  const char *error = set_up_tokens(edit->instance, edit->image);
  if (error != NULL) return error;
  w2c_text *kernel = &edit->instance->tokens;
  wasm_rt_memory_t *memory = edit->instance->tokens_memory;
  uint32_t size = (uint32_t)session->size, answer = 0, step;
  uint32_t address = w2c_text_beginEdit(kernel, (uint32_t)session->checkpoint_count, size);
  if (address == 0) return no_memory;
  memory_put(memory, address, session->checkpoints, session->checkpoint_count * sizeof *session->checkpoints);
  w2c_text_startEdit(kernel, (uint32_t)edit->start, (uint32_t)edit->end, (uint32_t)edit->new_size, size, (uint32_t)edit->old_count, cut_reach(edit->instance, edit->image));
  while (error == NULL && (step = w2c_text_nextStep(kernel, answer)) != EDIT_DONE) {
    uint32_t from = w2c_text_stepFrom(kernel), to = w2c_text_stepTo(kernel);
    error = step == ENCODES ? encode_part(edit, from, to, &answer)
                            : find_cut_between(edit->instance, edit->image, session->text, session->size, from, to, step == FINDS_LAST, &answer);
  }
  if (error != NULL) return error;
  edit->first_id = w2c_text_firstId(kernel);
  edit->end_id = w2c_text_endId(kernel);
  edit->checkpoint_count = w2c_text_madeCheckpointCount(kernel);
  edit->checkpoints = copy_of(memory_at(memory, w2c_text_madeCheckpointsAddress(kernel), edit->checkpoint_count * sizeof(Checkpoint)), edit->checkpoint_count * sizeof(Checkpoint));
  return edit->checkpoints == NULL ? no_memory : NULL;
}

/* Replaces the old ids by the new ones. Returns how many leading ids have not changed, or SIZE_MAX if there is no
 * memory. */
static size_t splice_ids(Edit *edit) {
  Ids *ids = &edit->session->ids;
  size_t id_bytes = edit->image->id_bytes, first = edit->first_id * id_bytes, end = edit->end_id * id_bytes;
  size_t after = ids->size - end, size = edit->ids.size, kept = first;
  if (size > end - first && !ids_reserve(ids, size - (end - first))) return SIZE_MAX;
  size_t new_size = first + size + after;
  /* Compares new and old ids at the same index. Ids after the replaced ones have moved, but may equal the old id at
   * their new index. */
  for (; kept < ids->size && kept < new_size; kept += id_bytes) {
    const uint8_t *now = kept < first + size ? edit->ids.bytes + (kept - first) : ids->bytes + end + (kept - first - size);
    if (memcmp(now, ids->bytes + kept, id_bytes) != 0) break;
  }
  if (after > 0) memmove(ids->bytes + first + size, ids->bytes + end, after);
  if (size > 0) memcpy(ids->bytes + first, edit->ids.bytes, size);
  ids->size = new_size;
  return kept / id_bytes;
}

const char *session_edit(Session *session, const Image *image, Instance *instance, Poll *poll, size_t start, size_t end, const uint8_t *bytes, size_t size, bool is_trusted, size_t *kept) {
  Segment *old_segments = session->segments;
  size_t old_segment_count = session->segment_count, segment_count;
  uint8_t *removed = copy_of(session->text == NULL ? NULL : session->text + start, end - start);
  Segment *segments = edited_segments(session, start, end, size, is_trusted, &segment_count);
  if (removed == NULL || segments == NULL || !replace_text(session, start, end, bytes, size)) {
    free(removed);
    free(segments);
    return no_memory;
  }
  session->segments = segments;
  session->segment_count = segment_count;
  Edit edit = {.session = session, .image = image, .instance = instance, .poll = poll, .start = start, .end = end, .new_size = size};
  edit.old_count = session->ids.size / image->id_bytes;
  const char *error = instance_safely(run_edit, &edit);
  *kept = error == NULL ? splice_ids(&edit) : 0;
  if (*kept == SIZE_MAX) error = no_memory;
  if (error == NULL) {
    free(session->checkpoints);
    free(old_segments);
    session->checkpoints = edit.checkpoints;
    session->checkpoint_count = edit.checkpoint_count;
    session->encoded_size += edit.encoded_size;
  } else {
    /* This cannot fail, because the buffer was large enough for the old text. */
    (void)replace_text(session, start, start + size, removed, end - start);
    free(session->segments);
    free(edit.checkpoints);
    session->segments = old_segments;
    session->segment_count = old_segment_count;
  }
  free(edit.ids.bytes);
  free(removed);
  return error;
}

size_t session_stable(const Session *session) { return session->checkpoint_count == 0 ? 0 : session->checkpoints[session->checkpoint_count - 1].ids; }
