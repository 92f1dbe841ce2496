/* bpe as a library: encodes and decodes with a tokenizer, inside your program.
 *
 *     bpe image TOKENIZER -o tokenizer.image        once, by the command line
 *
 *     const char *error;
 *     bpe_tokenizer *tokenizer = bpe_open("tokenizer.image", &error);
 *     bpe_ids ids;
 *     error = bpe_encode(tokenizer, "Hello world", 11, 0, &ids);
 *     ... ids.ids[0 .. ids.count) ...
 *     bpe_free(ids.ids);
 *     bpe_close(tokenizer);
 *
 * Several threads may use a tokenizer at once. Functions that return `const char *`, except bpe_session_text, return
 * NULL for success, or an error message that must not be freed. Ids are those of `bpe encode`. */
#ifndef BPE_H
#define BPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(BPE_SHARED)
#define BPE_API __declspec(dllexport)
#elif defined(__GNUC__)
#define BPE_API __attribute__((visibility("default")))
#else
#define BPE_API
#endif

typedef struct bpe_tokenizer bpe_tokenizer;

typedef struct {
  uint32_t *ids; /* to be freed with bpe_free; never NULL after success */
  size_t count;
} bpe_ids;

typedef struct {
  char *bytes; /* to be freed with bpe_free; never NULL after success; followed by a zero byte */
  size_t size;
} bpe_bytes;

/* Flag: special tokens in the text are encoded as text. Without it, they become their ids. */
enum { BPE_SPECIALS_AS_TEXT = 1 };

/* A part of a text that comes from several sources. */
typedef struct {
  const char *text;
  size_t size;
  int is_trusted; /* special tokens within it become their ids; in other segments they are text */
} bpe_segment;

/* Flag: each segment is encoded separately. Without it, tokens may span segments. */
enum { BPE_ISOLATE = 2 };

/* `bpe_open` opens an image in a file. `bpe_open_bytes` opens an image in memory, which it copies. On failure, both
 * return NULL and set `*error`. */
BPE_API bpe_tokenizer *bpe_open(const char *path, const char **error);
BPE_API bpe_tokenizer *bpe_open_bytes(const void *image, size_t size, const char **error);
BPE_API void bpe_close(bpe_tokenizer *);

/* Encodes a text in UTF-8. */
BPE_API const char *bpe_encode(bpe_tokenizer *, const char *text, size_t size, int flags, bpe_ids *ids);

/* Encodes the text that the segments form together. An added token is found only within one segment. `flags` is 0 or
 * BPE_ISOLATE. */
BPE_API const char *bpe_encode_segments(bpe_tokenizer *, const bpe_segment *, size_t count, int flags, bpe_ids *ids);

/* A text that grows and is edited, with its ids. An edit encodes again only the part of the text whose ids it can
 * change. One thread at a time may use a session, and its tokenizer must stay open. An edit that fails changes
 * nothing. */
typedef struct bpe_session bpe_session;

/* `bpe_session_open` opens a session with the empty text. `bpe_session_fork` copies a session. Both return NULL if
 * there is no memory. */
BPE_API bpe_session *bpe_session_open(bpe_tokenizer *);
BPE_API bpe_session *bpe_session_fork(const bpe_session *);
BPE_API void bpe_session_close(bpe_session *);

/* Replaces bytes [start, end) of the text. To append, pass the size of the text as both `start` and `end`. If the new
 * text and an adjacent segment are both trusted, or both untrusted, the new text joins that segment. `*kept` is set to
 * the number of leading ids that have not changed. */
BPE_API const char *bpe_session_edit(bpe_session *, size_t start, size_t end, const char *text, size_t size, int is_trusted, size_t *kept);

/* The number of ids. */
BPE_API size_t bpe_session_count(const bpe_session *);
/* The number of leading ids that no appended text can change. */
BPE_API size_t bpe_session_stable(const bpe_session *);
/* The size of the text in bytes. */
BPE_API size_t bpe_session_size(const bpe_session *);
/* Returns the text, without a zero byte at its end. It is valid until the session is edited or closed. May be NULL for
 * an empty text. */
BPE_API const char *bpe_session_text(const bpe_session *);
/* Copies the ids from index `first` on. */
BPE_API const char *bpe_session_ids(const bpe_session *, size_t first, bpe_ids *ids);
/* To count the ids of many intervals of a text, open one session with the text. For each interval, fork the session. In
 * the fork, delete first the text after the interval, then the text before it. For a single interval, bpe_count on the
 * bytes of the interval is cheaper. */

/* Counts the ids of a text. If there are more than `limit`, stops early and sets `*count` to limit + 1. */
BPE_API const char *bpe_count(bpe_tokenizer *, const char *text, size_t size, int flags, size_t limit, size_t *count);

/* Decodes ids to bytes. The bytes may be invalid UTF-8, for example if the ids contain only some of the bytes of a
 * character. An id without a token is an error. */
BPE_API const char *bpe_decode(bpe_tokenizer *, const uint32_t *ids, size_t count, bpe_bytes *bytes);

/* Compares ids with the canonical ids: those that encoding the decoded text gives. `*index` is set to the index of the
 * first difference, or to SIZE_MAX if there is none. */
BPE_API const char *bpe_first_noncanonical(bpe_tokenizer *, const uint32_t *ids, size_t count, int flags, size_t *index);

/* A difference that bpe_recode found: the given ids [start, end), and the canonical ids [canonical_start,
 * canonical_end) that encoding gives in their place. */
typedef struct {
  size_t start, end, canonical_start, canonical_end;
} bpe_span;

typedef struct {
  bpe_span *spans; /* to be freed with bpe_free; never NULL after success */
  size_t count;
} bpe_spans;

/* Finds the canonical ids and, in order, the shortest spans in which they differ from the given ids but have the same
 * bytes. If decoding drops spaces at the start of the text, the last span may also have different bytes. If the
 * canonical ids decode to another text, for example because encoding normalizes it, there is one span, from the first
 * difference to the last. */
BPE_API const char *bpe_recode(bpe_tokenizer *, const uint32_t *ids, size_t count, int flags, bpe_ids *canonical, bpe_spans *spans);

/* One more than the largest id. */
BPE_API uint32_t bpe_id_limit(const bpe_tokenizer *);

/* Frees the memory of a bpe_ids, bpe_bytes or bpe_spans. */
BPE_API void bpe_free(void *);

#ifdef __cplusplus
}
#endif
#endif
