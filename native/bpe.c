/* Implements bpe.h with the functions of core.h. */
#include "bpe.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core.h"

enum { IDLE_MAX = 64 };

struct bpe_tokenizer {
  Image image;
  uint8_t *bytes;
  /* Instances that no thread uses, or NULL. Threads take and return them by atomic exchange. */
  _Atomic(Instance *) idle[IDLE_MAX];
};

/* Returns an idle instance or a new one. On failure returns NULL and sets `*error`. */
static Instance *acquire(bpe_tokenizer *tokenizer, const char **error) {
  for (int i = 0; i < IDLE_MAX; i++) {
    Instance *instance = atomic_load(&tokenizer->idle[i]) == NULL ? NULL : atomic_exchange(&tokenizer->idle[i], NULL);
    if (instance != NULL) return instance;
  }
  return instance_new(&tokenizer->image, error);
}

/* Keeps an instance for later use; frees it if it is large, or enough are idle. */
static void release(bpe_tokenizer *tokenizer, Instance *instance) {
  for (int i = 0; i < IDLE_MAX && !instance_is_large(instance); i++) {
    Instance *none = NULL;
    if (atomic_compare_exchange_strong(&tokenizer->idle[i], &none, instance)) return;
  }
  instance_free(instance);
}

/* Opens an image. The tokenizer owns `bytes` and will free them; on failure, this function frees them. */
static bpe_tokenizer *open_owned(uint8_t *bytes, size_t size, const char **error) {
  bpe_tokenizer *tokenizer = calloc(1, sizeof *tokenizer);
  if (tokenizer == NULL) {
    free(bytes);
    *error = no_memory;
    return NULL;
  }
  tokenizer->bytes = bytes;
  *error = image_open(&tokenizer->image, bytes, size);
  Instance *instance = *error == NULL ? acquire(tokenizer, error) : NULL;
  if (instance != NULL) {
    release(tokenizer, instance);
    return tokenizer;
  }
  bpe_close(tokenizer);
  return NULL;
}

bpe_tokenizer *bpe_open_bytes(const void *image, size_t size, const char **error) {
  *error = processor_obstacle();
  if (*error != NULL) return NULL;
  uint8_t *bytes = malloc(size + 1);
  if (bytes == NULL) {
    *error = no_memory;
    return NULL;
  }
  memcpy(bytes, image, size);
  return open_owned(bytes, size, error);
}

bpe_tokenizer *bpe_open(const char *path, const char **error) {
  *error = processor_obstacle();
  if (*error != NULL) return NULL;
  FILE *file = fopen(path, "rb");
  uint8_t *bytes = NULL;
  size_t size = 0, capacity = 1 << 16, count = 0;
  *error = "the image cannot be opened";
  if (file == NULL) return NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    long end = ftell(file);
    if (end > 0) capacity = (size_t)end + 1;
    rewind(file);
  }
  do {
    uint8_t *more = realloc(bytes, capacity);
    if (more == NULL) break;
    bytes = more;
    count = fread(bytes + size, 1, capacity - size, file);
    size += count;
    capacity *= 2;
  } while (count > 0 && size == capacity / 2);
  bool is_read = bytes != NULL && !ferror(file) && feof(file);
  fclose(file);
  *error = "the image cannot be read";
  if (is_read) return open_owned(bytes, size, error);
  free(bytes);
  return NULL;
}

void bpe_close(bpe_tokenizer *tokenizer) {
  if (tokenizer == NULL) return;
  for (int i = 0; i < IDLE_MAX; i++)
    if (tokenizer->idle[i] != NULL) instance_free(tokenizer->idle[i]);
  free(tokenizer->bytes);
  free(tokenizer);
}

static const char *run(bpe_tokenizer *tokenizer, Encoding encoding) {
  const char *error;
  Instance *instance = acquire(tokenizer, &error);
  if (instance == NULL) return error;
  encoding.image = &tokenizer->image;
  encoding.instance = instance;
  error = encode_text(&encoding);
  if (error == NULL) release(tokenizer, instance);
  else instance_free(instance);
  return error;
}

static const char *encode(bpe_tokenizer *tokenizer, const char *text, size_t size, int flags, size_t limit, Ids *ids) {
  bool as_text = flags & BPE_SPECIALS_AS_TEXT;
  return run(tokenizer, (Encoding){.specials_as_text = as_text, .text = (const uint8_t *)text, .size = size, .out = ids, .id_limit = limit});
}

/* Copies the ids to `out` with 32 bits each, unless there is an error. Frees `ids`. */
static const char *give_ids(const bpe_tokenizer *tokenizer, const char *error, Ids ids, bpe_ids *out) {
  uint32_t id_bytes = tokenizer->image.id_bytes;
  size_t count = ids.size / id_bytes;
  uint32_t *wide = error == NULL ? malloc(4 * count + 4) : NULL;
  if (error == NULL && wide == NULL) error = no_memory;
  for (size_t i = 0; wide != NULL && i < count; i++) wide[i] = id_at(ids.bytes, id_bytes, i);
  free(ids.bytes);
  *out = (bpe_ids){wide, error == NULL ? count : 0};
  return error;
}

const char *bpe_encode(bpe_tokenizer *tokenizer, const char *text, size_t size, int flags, bpe_ids *out) {
  Ids ids = {0};
  const char *error = encode(tokenizer, text, size, flags, SIZE_MAX, &ids);
  return give_ids(tokenizer, error, ids, out);
}

/* Encodes the text that the segments form together. */
static const char *encode_joined(bpe_tokenizer *tokenizer, const bpe_segment *given, size_t count, Ids *ids) {
  size_t size = 0, used = 0, at = 0;
  for (size_t i = 0; i < count; i++) {
    if (given[i].size > SIZE_MAX - 1 - size) return no_memory;
    size += given[i].size;
  }
  char *text = malloc(size + 1);
  Segment *segments = calloc(count + 1, sizeof *segments);
  const char *error = text == NULL || segments == NULL ? no_memory : NULL;
  for (size_t i = 0; i < count && error == NULL; i++) {
    if (given[i].size == 0) continue;
    memcpy(text + at, given[i].text, given[i].size);
    at += given[i].size;
    segments[used++] = (Segment){at, given[i].is_trusted != 0};
  }
  if (error == NULL)
    error = run(tokenizer, (Encoding){.segments = segments, .text = (uint8_t *)text, .size = size, .out = ids, .id_limit = SIZE_MAX});
  free(text);
  free(segments);
  return error;
}

const char *bpe_encode_segments(bpe_tokenizer *tokenizer, const bpe_segment *segments, size_t count, int flags, bpe_ids *out) {
  Ids ids = {0};
  const char *error = flags & BPE_ISOLATE ? NULL : encode_joined(tokenizer, segments, count, &ids);
  for (size_t i = 0; i < count && (flags & BPE_ISOLATE) && error == NULL; i++) {
    int as_text = segments[i].is_trusted ? 0 : BPE_SPECIALS_AS_TEXT;
    error = encode(tokenizer, segments[i].text, segments[i].size, as_text, SIZE_MAX, &ids);
  }
  return give_ids(tokenizer, error, ids, out);
}

const char *bpe_count(bpe_tokenizer *tokenizer, const char *text, size_t size, int flags, size_t limit, size_t *count) {
  Ids ids = {0};
  const char *error = encode(tokenizer, text, size, flags, limit, &ids);
  *count = error == NULL ? ids.size / tokenizer->image.id_bytes : 0;
  if (*count > limit) *count = limit + 1;
  free(ids.bytes);
  return error;
}

const char *bpe_decode(bpe_tokenizer *tokenizer, const uint32_t *ids, size_t count, bpe_bytes *out) {
  const Image *image = &tokenizer->image;
  size_t size = 0;
  *out = (bpe_bytes){NULL, 0};
  for (size_t i = 0; i < count; i++) {
    size_t length = ids[i] < image->id_limit ? image->starts[ids[i] + 1] - image->starts[ids[i]] : 0;
    if (length == 0) return "an id is not in the vocabulary";
    size += length;
  }
  char *bytes = malloc(size + 8);
  if (bytes == NULL) return no_memory;
  /* Most tokens are short, and copying eight bytes is faster than copying a variable number. `last` is the last
   * position from which eight bytes can be read. */
  const uint8_t *last = image->bytes + image->size - 8;
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    const uint8_t *token = image->tokens + image->starts[ids[i]];
    uint32_t length = image->starts[ids[i] + 1] - image->starts[ids[i]];
    if (length <= 8 && token <= last) memcpy(bytes + at, token, 8);
    else memcpy(bytes + at, token, length);
    at += length;
  }
  size_t left_out = count > 0 ? leading_bytes(image, ids[0]) : 0;
  size -= left_out;
  if (left_out > 0) memmove(bytes, bytes + left_out, size);
  bytes[size] = 0;
  *out = (bpe_bytes){bytes, size};
  return NULL;
}

/* Finds the canonical ids, which encoding the text of the given ids gives, and the spans in which they differ from the
 * given ones. With `has_one_span`, the only span is from the first difference to the last. The caller frees
 * `canonical->ids` and `recoding->spans`, after an error, too. */
static const char *recode(bpe_tokenizer *tokenizer, const uint32_t *ids, size_t count, int flags, bool has_one_span, bpe_ids *canonical, Recoding *recoding) {
  bpe_bytes text = {NULL, 0}, new_text = {NULL, 0};
  *canonical = (bpe_ids){NULL, 0};
  *recoding = (Recoding){0};
  const char *error = bpe_decode(tokenizer, ids, count, &text);
  if (error == NULL) error = bpe_encode(tokenizer, text.bytes, text.size, flags, canonical);
  if (error == NULL && !has_one_span) error = bpe_decode(tokenizer, canonical->ids, canonical->count, &new_text);
  bool is_same_text = new_text.bytes != NULL && text.size == new_text.size && memcmp(text.bytes, new_text.bytes, text.size) == 0;
  free(text.bytes);
  free(new_text.bytes);
  Instance *instance = error == NULL ? acquire(tokenizer, &error) : NULL;
  if (instance == NULL) return error;
  *recoding = (Recoding){.given = ids, .canonical = canonical->ids, .given_count = count, .canonical_count = canonical->count, .is_same_text = is_same_text};
  error = find_recoded_spans(instance, &tokenizer->image, recoding);
  if (error == NULL) release(tokenizer, instance);
  else instance_free(instance);
  return error;
}

const char *bpe_first_noncanonical(bpe_tokenizer *tokenizer, const uint32_t *ids, size_t count, int flags, size_t *index) {
  bpe_ids canonical;
  Recoding recoding;
  const char *error = recode(tokenizer, ids, count, flags, true, &canonical, &recoding);
  *index = error != NULL ? 0 : recoding.span_count == 0 ? SIZE_MAX : recoding.spans[0].start;
  free(recoding.spans);
  free(canonical.ids);
  return error;
}

const char *bpe_recode(bpe_tokenizer *tokenizer, const uint32_t *ids, size_t count, int flags, bpe_ids *canonical, bpe_spans *spans) {
  Recoding recoding;
  const char *error = recode(tokenizer, ids, count, flags, false, canonical, &recoding);
  size_t n = recoding.span_count;
  *spans = (bpe_spans){error == NULL ? calloc(n + 1, sizeof *spans->spans) : NULL, n};
  if (error == NULL && spans->spans == NULL) error = no_memory;
  for (size_t i = 0; error == NULL && i < n; i++) {
    RecodedSpan span = recoding.spans[i];
    spans->spans[i] = (bpe_span){span.start, span.end, span.canonical_start, span.canonical_end};
  }
  free(recoding.spans);
  if (error == NULL) return NULL;
  free(canonical->ids);
  *canonical = (bpe_ids){NULL, 0};
  *spans = (bpe_spans){NULL, 0};
  return error;
}

struct bpe_session {
  bpe_tokenizer *tokenizer;
  Session session;
};

bpe_session *bpe_session_open(bpe_tokenizer *tokenizer) {
  bpe_session *session = calloc(1, sizeof *session);
  if (session != NULL) session->tokenizer = tokenizer;
  return session;
}

bpe_session *bpe_session_fork(const bpe_session *session) {
  bpe_session *copy = bpe_session_open(session->tokenizer);
  if (copy == NULL || session_copy(&copy->session, &session->session)) return copy;
  free(copy);
  return NULL;
}

void bpe_session_close(bpe_session *session) {
  if (session == NULL) return;
  session_free(&session->session);
  free(session);
}

const char *bpe_session_edit(bpe_session *session, size_t start, size_t end, const char *text, size_t size, int is_trusted, size_t *kept) {
  bpe_tokenizer *tokenizer = session->tokenizer;
  *kept = 0;
  if (start > end || end > session->session.size) return "the edit is not within the text";
  const char *error;
  Instance *instance = acquire(tokenizer, &error);
  if (instance == NULL) return error;
  Poll poll = {0};
  error = session_edit(&session->session, &tokenizer->image, instance, &poll, start, end, (const uint8_t *)text, size, is_trusted != 0, kept);
  if (error == NULL) release(tokenizer, instance);
  else instance_free(instance);
  return error;
}

size_t bpe_session_count(const bpe_session *session) { return session->session.ids.size / session->tokenizer->image.id_bytes; }
size_t bpe_session_stable(const bpe_session *session) { return session_stable(&session->session); }
size_t bpe_session_size(const bpe_session *session) { return session->session.size; }
const char *bpe_session_text(const bpe_session *session) { return (const char *)session->session.text; }

const char *bpe_session_ids(const bpe_session *session, size_t first, bpe_ids *out) {
  size_t id_bytes = session->tokenizer->image.id_bytes, count = bpe_session_count(session);
  if (first > count) first = count;
  Ids ids = {0};
  const char *error = ids_reserve(&ids, (count - first) * id_bytes) ? NULL : no_memory;
  if (error == NULL && count > first) {
    memcpy(ids.bytes, session->session.ids.bytes + first * id_bytes, (count - first) * id_bytes);
    ids.size = (count - first) * id_bytes;
  }
  return give_ids(session->tokenizer, error, ids, out);
}

uint32_t bpe_id_limit(const bpe_tokenizer *tokenizer) { return tokenizer->image.id_limit; }

void bpe_free(void *memory) { free(memory); }
