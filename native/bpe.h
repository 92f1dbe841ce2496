/* bpe in your own program: encodes and decodes with a tokenizer, in its process.
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
 * A tokenizer may be used by several threads at once. Errors are texts that stay, or NULL. Ids are those of `bpe encode`. */
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
  char *bytes; /* to be freed with bpe_free; never NULL after success. A 0 follows the last one */
  size_t size;
} bpe_bytes;

/* Special tokens in the text are text, too; without it they become their ids. */
enum { BPE_SPECIALS_AS_TEXT = 1 };

/* A part of a text that comes from several sources. */
typedef struct {
  const char *text;
  size_t size;
  int is_trusted; /* special tokens within it become their ids; in other segments they are text */
} bpe_segment;

/* Each segment is encoded by itself; without it the text merges across their edges. */
enum { BPE_ISOLATE = 2 };

/* A tokenizer of an image, from a file or from memory, which is copied. NULL, and why. */
BPE_API bpe_tokenizer *bpe_open(const char *path, const char **error);
BPE_API bpe_tokenizer *bpe_open_bytes(const void *image, size_t size, const char **error);
BPE_API void bpe_close(bpe_tokenizer *);

/* The ids of a text in UTF-8. */
BPE_API const char *bpe_encode(bpe_tokenizer *, const char *text, size_t size, int flags, bpe_ids *ids);

/* The ids of the text that segments are together. An added token is found only where it lies within one segment. */
BPE_API const char *bpe_encode_segments(bpe_tokenizer *, const bpe_segment *, size_t count, int flags, bpe_ids *ids);

/* A text that grows and is edited, and its ids: an edit encodes what has changed, and no more than it has to. One thread at a time may
 * use a session, and its tokenizer has to stay open. An edit that fails changes nothing. */
typedef struct bpe_session bpe_session;

/* The empty text; a copy, for another branch of a text. NULL without memory. */
BPE_API bpe_session *bpe_session_open(bpe_tokenizer *);
BPE_API bpe_session *bpe_session_fork(const bpe_session *);
BPE_API void bpe_session_close(bpe_session *);

/* Replaces bytes [start, end) of the text; both are its size to append. Text that is trusted as its neighbour is, is one segment with it.
 * `kept`: how many leading ids have stayed. */
BPE_API const char *bpe_session_edit(bpe_session *, size_t start, size_t end, const char *text, size_t size, int is_trusted, size_t *kept);

/* How many ids there are, and how many of the first ones no text can change that is appended; the bytes of the text. */
BPE_API size_t bpe_session_count(const bpe_session *);
BPE_API size_t bpe_session_stable(const bpe_session *);
BPE_API size_t bpe_session_size(const bpe_session *);
BPE_API const char *bpe_session_text(const bpe_session *); /* until the next edit */
/* The ids from `first` on. */
BPE_API const char *bpe_session_ids(const bpe_session *, size_t first, bpe_ids *ids);
/* A session that is edited only at its end is an appendable encoder, one that is edited only at 0 a prependable one. To count the ids of
 * many intervals of a text, delete in a fork of its session what follows the interval, then what precedes it. For one interval, bpe_count
 * on its bytes is cheaper. */

/* How many ids a text has; counting ends early where there are more than `limit`, and the count is then limit + 1. */
BPE_API const char *bpe_count(bpe_tokenizer *, const char *text, size_t size, int flags, size_t limit, size_t *count);

/* The bytes of ids: UTF-8, unless ids of parts of characters stand alone. An id without a token is an error. */
BPE_API const char *bpe_decode(bpe_tokenizer *, const uint32_t *ids, size_t count, bpe_bytes *bytes);

/* One more than the largest id. */
BPE_API uint32_t bpe_id_limit(const bpe_tokenizer *);

/* Frees what a function above has given. */
BPE_API void bpe_free(void *);

#ifdef __cplusplus
}
#endif
#endif
