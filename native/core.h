/* The core of native/: it opens the image of a tokenizer (src/tokenizer/image.ts), and encodes texts with instances
 * of the kernel. It does not depend on Python. */
#ifndef BPE_CORE_H
#define BPE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scale.h"

#if defined(__GNUC__) && !defined(_WIN32)
#define BPE_HIDDEN __attribute__((visibility("hidden")))
#else
#define BPE_HIDDEN
#endif

/* ---- image.c: the tokenizer, read only ---- */

/* A range of the kernel's memory. If `fill` is AREA_LISTED, the image's model contains the bytes of the range;
 * otherwise each of them is `fill`. */
typedef struct {
  uint32_t start, size, fill;
} Area;
enum { AREA_LISTED = 256 };
/* The value of the kernel's global variable with this key (kernel-state.h). */
typedef struct {
  uint32_t key, value[2];
} Variable;

typedef struct {
  const uint8_t *bytes; /* the image; must outlive this struct */
  size_t size;
  uint32_t id_bytes; /* size of an id in the kernel's memory: 2 or 4 bytes */
  uint32_t id_limit; /* the largest id + 1 */
  bool adds_prefix_space;
  bool trim_keeps_one; /* trimming (`trim_count`) keeps a single space at the start of the text */
  bool has_marks; /* U+2581 in a text is encoded as a space (SentencePiece) */
  bool leaves_out_space;  /* decoding drops a space at the start of the text */
  bool leaves_out_spaces; /* decoding drops all spaces at the start of the first token, unless that is an added token */
  /* The index of both arrays is `specials_as_text`: whether special tokens in the text are encoded as text. */
  bool may_be_cut[2]; /* a text may be encoded in parts */
  bool is_direct[2];  /* nothing changes a text before the kernel cuts it into pretokens */
  uint32_t longest_token; /* bytes of the longest added token that the kernel finds while it cuts */
  uint32_t trim_count; /* number of post-processor steps that exclude spaces from tokens' offsets */
  const char *facts; /* JSON: facts about the tokenizer, for the Python package */
  uint32_t facts_size;
  const uint32_t *starts; /* token `id` is tokens[starts[id] .. starts[id + 1]); empty if no token has the id */
  const uint8_t *tokens;
  const uint32_t *text_ids; /* ids whose tokens are spelled as plain text, not in GPT-2's characters */
  uint32_t text_id_count;
  uint32_t added_id_count; /* the first `added_id_count` of `text_ids` are those of added tokens */
  const uint8_t *sections; /* data that sets up the kernel's text module */
  uint32_t sections_size;
  const uint8_t *model; /* the bytes of the areas with AREA_LISTED, end to end */
  const Area *areas;
  const Variable *variables;
  uint32_t area_count, variable_count, page_count;
} Image;

/* Checks an image and fills in the struct. Returns NULL, or the reason why this build cannot use the bytes. */
BPE_HIDDEN const char *image_open(Image *, const uint8_t *bytes, size_t size);
BPE_HIDDEN uint32_t image_crc32(const uint8_t *bytes, size_t size);
/* Returns how many bytes decoding drops from the start of the first token. The id of that token, `first_id`, must be
 * below `id_limit`. */
BPE_HIDDEN uint32_t leading_bytes(const Image *, uint32_t first_id);

/* ---- Stopping: long work asks from time to time whether to continue ---- */

typedef struct {
  bool (*ask)(void *context); /* returns false to give up; NULL: never give up */
  void *context;
  size_t unasked; /* steps since the last call of `ask` */
  bool has_given_up;
} Poll;

/* Steps between two calls of `ask`: about 10 to 50 ms of work. */
enum { POLL_STEPS = SCALED(1 << 20, 64) };

/* Counts `steps`, each a byte or some nanoseconds of work. After POLL_STEPS steps, asks whether to continue, and returns
 * false if not; in between, returns true. The poll may be NULL. */
static inline bool should_continue(Poll *poll, size_t steps) {
  if (poll == NULL || (poll->unasked += steps) < POLL_STEPS) return true;
  poll->unasked = 0;
  if (!poll->has_given_up && poll->ask != NULL) poll->has_given_up = !poll->ask(poll->context);
  return !poll->has_given_up;
}

/* Returns NULL, or why this processor cannot run the kernel. Must be called before any other function. */
BPE_HIDDEN const char *processor_obstacle(void);

/* ---- Errors ----
 * Functions that return `const char *` return NULL for success, or an error message that must not be freed. If a
 * function takes an instance and fails, that instance can only be freed. */

/* ---- instance.c: the kernel, set up for an image; for one thread at a time ---- */

typedef struct Instance Instance;

/* On failure, returns NULL and sets `*error`. */
BPE_HIDDEN Instance *instance_new(const Image *, const char **error);
BPE_HIDDEN void instance_free(Instance *);
/* Whether the instance has grown so much for a long text that it should be freed and not kept. */
BPE_HIDDEN bool instance_is_large(const Instance *);

/* Asks the system to use huge pages for this memory. */
BPE_HIDDEN void advise_huge(uint8_t *start, size_t size);

/* Calls `work`, and turns a trap of the kernel into an error. */
BPE_HIDDEN const char *instance_safely(const char *(*work)(void *), void *context);
/* Sets the poll of long calls of the kernel. NULL: they are not interrupted. */
BPE_HIDDEN void instance_poll(Instance *, Poll *);

/* A growing array of ids. */
typedef struct {
  uint8_t *bytes; /* ids end to end, `id_bytes` each */
  size_t size, capacity; /* in bytes */
} Ids;

/* Reserves memory for `more` bytes. Returns false if there is no memory. */
BPE_HIDDEN bool ids_reserve(Ids *, size_t more);
BPE_HIDDEN extern const char no_memory[];

/* A section of a text: what is between two added tokens or, if `is_direct`, all of the text
 * (src/kernel/text/sections.ts). The bytes of the section are passed to an instance in pieces. Until the section ends,
 * only ids that no further text can change are appended to `out`. */
typedef struct {
  Instance *instance;
  const Image *image;
  Ids *out;
  uint32_t limit; /* number of bytes of the section that are in the kernel's memory */
  uint32_t longest_token; /* bytes of the longest token that is searched for; 0: none is */
} Section;

/* `is_direct`: the section is unchanged text, in which the kernel finds added tokens. */
BPE_HIDDEN void section_open(Section *, bool is_direct, bool specials_as_text);
/* Passes text of any size to the kernel. */
BPE_HIDDEN const char *section_push(Section *, const uint8_t *text, size_t size);
/* Encodes the part whose tokens no further text can change. */
BPE_HIDDEN const char *section_settle(Section *);
/* Ends the section. If `following` is not NULL, the section ends at a safe cut, and `following` is the text after
 * it, of which at most four bytes are read. */
BPE_HIDDEN const char *section_end(Section *, const uint8_t *following, size_t following_size);

/* Finds the first position in [from, from + 64 KB) where the text may be cut, so that its parts can be encoded
 * separately. `*cut` is `size` if none is found. `is_all`: the text ends after `size` bytes. */
BPE_HIDDEN const char *find_cut(Instance *, const Image *, bool specials_as_text, const uint8_t *text, size_t size, size_t from, bool is_all, size_t *cut);

/* The kinds of events with which the text module describes a piece of a text (src/kernel/text/sections.ts). */
enum { EVENT_TEXT, EVENT_END, EVENT_TOKEN, EVENT_STRIPPED, EVENT_SPACE, EVENT_CHANGE };
typedef struct {
  uint32_t kind, a, b, c;
} Event;

/* Begins a text. `continues`: it is the rest of a text, after a safe cut. */
BPE_HIDDEN const char *sections_open(Instance *, const Image *, bool specials_as_text, bool notes_changes, bool has_segments, bool continues);
/* Ends a segment and begins the next one, in which special tokens are text if `specials_as_text`. */
BPE_HIDDEN const char *sections_end_segment(Instance *, bool specials_as_text);
/* What ends with a piece: nothing, the text, or a part of the text that ends at a safe cut. After such a part, the
 * caller ends the section that is still open, if there is one. */
enum { ENDS_NOTHING, ENDS_TEXT, ENDS_PART };
/* Passes a piece of the text to the text module. The events, and the bytes of text that they refer to, are valid
 * until the next call. */
BPE_HIDDEN const char *sections_take(Instance *, const uint8_t *text, uint32_t size, uint32_t ends, const Event **events, uint32_t *count);
/* Sets `*following` to the first bytes of the text after a safe cut, as the pattern sees them. They are valid until
 * the next call. `text` has all bytes after the cut, or at least `cut_reach`. */
BPE_HIDDEN const char *sections_following(Instance *, const uint8_t *text, size_t size, const uint8_t **following, size_t *following_size);
/* The bytes of an EVENT_TEXT. */
BPE_HIDDEN const uint8_t *sections_text(Instance *, const Event *);

/* ---- encode.c: a text to ids ---- */

/* The events from which the positions of tokens are computed (src/kernel/text/offsets.ts). An event's `c` is the
 * index of the next id, except in an EVENT_CHANGE. */
typedef struct {
  Event *events;
  size_t count, capacity;
} Notes;
BPE_HIDDEN void notes_free(Notes *);

/* A part of a text, from the end of the segment before it to `end`. An added token is found only within one segment,
 * a special token only within a trusted one. */
typedef struct {
  size_t end;
  bool is_trusted;
} Segment;

typedef struct {
  const Image *image;
  Instance *instance;
  bool specials_as_text;
  const Segment *segments; /* none is empty. NULL: the text is one segment, and `specials_as_text` applies */
  const uint8_t *text;
  size_t size;
  bool continues; /* the text follows a safe cut */
  /* If the text ends at a safe cut: all bytes after it, or at least `cut_reach` (4 if `is_direct`). Else NULL. */
  const uint8_t *following;
  size_t following_size;
  Ids *out;
  size_t id_limit;  /* encoding stops once there are more ids than this; SIZE_MAX: never */
  Poll poll;
  Notes *notes;     /* receives the events; may be NULL */
  size_t read_size; /* set to the number of bytes that were read before encoding stopped */
} Encoding;

/* Encodes a text, and appends its ids to `out`. */
BPE_HIDDEN const char *encode_text(Encoding *);
/* The error of work that a poll has stopped. */
BPE_HIDDEN extern const char gave_up[];

/* ---- spans.c: the positions of tokens in their text (src/kernel/text/offsets.ts and cuts.ts) ---- */

typedef struct {
  uint32_t start, end;
} Span;

/* After `encode_text`: finds where each id begins and ends, in bytes, or in characters as HF counts them. */
BPE_HIDDEN const char *find_spans(Encoding *, bool in_characters, Span *spans);

/* How to cut a text into parts of at most `ids_max` ids, and the parts. */
typedef struct {
  enum { FIRST_PART, LAST_PART, ALL_PARTS } which;
  uint32_t ids_max, overlap; /* overlap: how many tokens of a part the next one repeats */
  Span *parts; /* in bytes; the caller frees them */
  size_t count, capacity;
  size_t too_many; /* 0, or the number of ids of the last part if that is one character with more than `ids_max` ids */
} Cutting;

/* After `encode_text`: cuts the text, or the part of it that was read. It must have more than `ids_max` ids. */
BPE_HIDDEN const char *cut_text(Encoding *, Cutting *);

/* Counts the ids of a part of the text that is being cut. If there are more than `limit`, `*count` may be any number
 * above `limit`. */
BPE_HIDDEN const char *count_part(void *encoding, uint32_t start, uint32_t end, uint32_t limit, uint32_t *count);

/* ---- canonical.c: where ids differ from those that encoding their text gives (src/kernel/text/recode.ts) ---- */

/* A difference: the given ids [start, end), and the canonical ids [canonical_start, canonical_end) that encoding gives
 * in their place. */
typedef struct {
  uint32_t start, end, canonical_start, canonical_end;
} RecodedSpan;

typedef struct {
  const uint32_t *given, *canonical; /* ids that have tokens */
  size_t given_count, canonical_count;
  bool is_same_text; /* given and canonical ids spell the same text; if not, one span goes from the first difference to the last */
  RecodedSpan *spans; /* the caller frees them, after an error, too */
  size_t span_count;
} Recoding;

/* Fills in `spans`. If the given and the canonical ids spell the same text (`is_same_text`), the spans are the shortest
 * ones in which the ids differ but the bytes do not. Only in the last span, the bytes may differ, too (recode.ts). */
BPE_HIDDEN const char *find_recoded_spans(Instance *, const Image *, Recoding *);

/* ---- session.c: texts that grow and are edited ---- */

/* A position where the text may be cut, and the number of ids before it. */
typedef struct {
  uint32_t position, ids;
} Checkpoint;

/* All zeros: the empty text. */
typedef struct {
  uint8_t *text;
  size_t size, text_capacity;
  Segment *segments;
  size_t segment_count;
  Ids ids;
  Checkpoint *checkpoints;
  size_t checkpoint_count;
  size_t encoded_size; /* number of bytes that the edits of this session have encoded */
} Session;

BPE_HIDDEN void session_free(Session *);
/* Returns false if there is no memory. */
BPE_HIDDEN bool session_copy(Session *to, const Session *from);
/* Replaces bytes [start, end) of the text, and sets `*kept` to the number of leading ids that have not changed. If
 * the call fails, the session is unchanged. */
BPE_HIDDEN const char *session_edit(Session *, const Image *, Instance *, Poll *, size_t start, size_t end, const uint8_t *bytes, size_t size, bool is_trusted, size_t *kept);
/* The number of leading ids that no appended text can change. */
BPE_HIDDEN size_t session_stable(const Session *);

/* The maximum number of bytes on each side of a position that decide whether the text may be cut there. */
BPE_HIDDEN uint32_t cut_reach(Instance *, const Image *);
/* Finds the first or last position in [from, to) where the text may be cut; `*cut` is UINT32_MAX if none is found. At
 * least `cut_reach` bytes must follow `to`, or all up to the end of the text. */
BPE_HIDDEN const char *find_cut_between(Instance *, const Image *, const uint8_t *text, size_t size, size_t from, size_t to, bool wants_last, uint32_t *cut);

static inline uint32_t id_at(const uint8_t *ids, uint32_t id_bytes, size_t index) {
  return id_bytes == 2 ? ((const uint16_t *)ids)[index] : ((const uint32_t *)ids)[index];
}

#endif
