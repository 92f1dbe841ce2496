/* What native/ is made of: an image, instances of the kernel, and what a text goes through on its way to its ids. It knows
 * nothing of Python. src/tokenizer/image.ts says what an image is; the meaning of each step is that of src/text. */
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

/* Bytes of the kernel's memory, and one of its variables (src/tokenizer/laid-out-model.ts). */
typedef struct {
  uint32_t start, size, fill; /* a byte, or AREA_LISTED: the model has its bytes */
} Area;
enum { AREA_LISTED = 256 };
typedef struct {
  uint32_t key, value[2];
} Variable;

typedef struct {
  const uint8_t *bytes; /* the image; it has to stay */
  size_t size;
  uint32_t id_bytes; /* 2 or 4: of an id as the kernel has it */
  uint32_t id_limit;
  bool adds_prefix_space, trim_keeps_one, has_marks, leaves_out_space, leaves_out_spaces;
  bool may_be_cut[2], is_direct[2]; /* special tokens are found, or stay text */
  uint32_t longest_token; /* of those that the kernel finds while it cuts; in bytes */
  uint32_t trim_count; /* steps that take spaces off offsets */
  const char *facts;
  uint32_t facts_size;
  const uint32_t *starts;
  const uint8_t *tokens;
  const uint32_t *text_ids;
  uint32_t text_id_count, added_id_count;
  const uint8_t *sections; /* what the kernel's text module is set up by */
  uint32_t sections_size;
  const uint8_t *model; /* the listed areas end to end */
  const Area *areas;
  const Variable *variables;
  uint32_t area_count, variable_count, page_count;
} Image;

/* NULL, or why the bytes are no image that this build can use. */
BPE_HIDDEN const char *image_open(Image *, const uint8_t *bytes, size_t size);
BPE_HIDDEN uint32_t image_crc32(const uint8_t *bytes, size_t size);
/* The bytes that decoding leaves out at the start of a text, of its first id, which is below the limit. */
BPE_HIDDEN uint32_t leading_bytes(const Image *, uint32_t first_id);

/* ---- Stopping: long work asks now and then whether to continue ---- */

typedef struct {
  bool (*ask)(void *context); /* false: give up. NULL: nobody is asked */
  void *context;
  size_t unasked; /* steps since it was asked */
  bool has_given_up;
} Poll;

/* Some 10 to 50 ms of work. */
enum { POLL_STEPS = SCALED(1 << 20, 64) };

/* Counts `steps`, each a byte or some nanoseconds of work. Returns false to give up. The poll may be NULL. */
static inline bool goes_on(Poll *poll, size_t steps) {
  if (poll == NULL || (poll->unasked += steps) < POLL_STEPS) return true;
  poll->unasked = 0;
  if (!poll->has_given_up && poll->ask != NULL) poll->has_given_up = !poll->ask(poll->context);
  return !poll->has_given_up;
}

/* Whether the poll has given up: what was asked for is not done then. */
static inline bool has_stopped(const Poll *poll) { return poll != NULL && poll->has_given_up; }

/* NULL, or why this processor cannot run the kernel. To be asked before anything else. */
BPE_HIDDEN const char *processor_obstacle(void);

/* ---- instance.c: the kernel, set up for an image; for one thread at a time ---- */

typedef struct Instance Instance;

/* NULL, and why. */
BPE_HIDDEN Instance *instance_new(const Image *, const char **error);
BPE_HIDDEN void instance_free(Instance *);
/* Whether it holds so much memory for a long text that it had better be freed. */
BPE_HIDDEN bool instance_is_large(const Instance *);

/* The memory is large, and is used from end to end. */
BPE_HIDDEN void advise_huge(uint8_t *start, size_t size);

/* Calls `work`, and turns a trap of the kernel into an error: then the instance can only be freed. */
BPE_HIDDEN const char *instance_safely(const char *(*work)(void *), void *context);
/* Whom the kernel asks, from now on, in calls that take long. */
BPE_HIDDEN void instance_poll(Instance *, Poll *);

/* A section of text goes into an instance in pieces. Its ids are taken piece by piece. */
typedef struct {
  uint8_t *bytes; /* end to end, `id_bytes` each */
  size_t size, capacity;
} Ids;

BPE_HIDDEN bool ids_reserve(Ids *, size_t more);
BPE_HIDDEN extern const char no_memory[];

typedef struct {
  Instance *instance;
  const Image *image;
  Ids *out;
  uint32_t limit; /* bytes that are in the kernel's text */
  uint32_t longest_token; /* in bytes, of those that are looked for */
} Section;

/* `is_direct`: it is a whole text, in which added tokens are to be found. */
BPE_HIDDEN void section_open(Section *, bool is_direct, bool specials_as_text);
/* Errors, or NULL. Any size. */
BPE_HIDDEN const char *section_push(Section *, const uint8_t *text, size_t size);
/* Encodes what is certain of what came so far. */
BPE_HIDDEN const char *section_settle(Section *);
/* Ends the section; or its text continues with the character `following`, before which it may be cut. */
BPE_HIDDEN const char *section_end(Section *, const uint8_t *following, size_t following_size);

/* The first place in [from, from + some KB) of a text where it may be cut, and its parts be encoded on their own; its size without
 * one. It is before a whole character, or before a byte that is no part of one. `is_all`: the text ends there. NULL, or why it failed; then the instance can only be freed. */
BPE_HIDDEN const char *find_cut(Instance *, const Image *, bool specials_as_text, const uint8_t *text, size_t size, size_t from, bool is_all, size_t *cut);

/* What the kernel's text module says of a piece of a text (src/kernel/text/sections.ts). */
enum { EVENT_TEXT, EVENT_END, EVENT_TOKEN, EVENT_STRIPPED, EVENT_SPACE, EVENT_CHANGE };
typedef struct {
  uint32_t kind, a, b, c;
} Event;

/* Begins a text. NULL, or why it failed. */
BPE_HIDDEN const char *sections_open(Instance *, const Image *, bool specials_as_text, bool notes_changes, bool has_segments);
/* Ends a segment; the next one begins. NULL, or why it failed. */
BPE_HIDDEN const char *sections_end_segment(Instance *, bool specials_as_text);
enum { GOES_ON, ENDS_TEXT, ENDS_PART };
/* Takes a piece, after which the text ends, or a part of it whose section the caller ends. `bytes` of sections, which texts are offsets in, and events stay until the next call. NULL, or why it failed. */
BPE_HIDDEN const char *sections_take(Instance *, const uint8_t *text, uint32_t size, uint32_t ends, const Event **events, uint32_t *count);
/* The bytes of an event that is text. */
BPE_HIDDEN const uint8_t *sections_text(Instance *, const Event *);

/* ---- encode.c ---- */

/* The events of a text that say where its tokens are, with the index of the next id as the last number, but for changes; to be
 * freed (src/kernel/text/offsets.ts). */
typedef struct {
  Event *events;
  size_t count, capacity;
} Notes;
BPE_HIDDEN void notes_free(Notes *);

/* A part of a text: added tokens are found within one, and special tokens in one that is trusted (src/kernel/text/edges.ts). */
typedef struct {
  size_t end;
  bool is_trusted;
} Segment;

typedef struct {
  const Image *image;
  Instance *instance;
  bool specials_as_text;
  const Segment *segments; /* NULL: the text is one, and `specials_as_text` counts. None is empty */
  const uint8_t *text;
  size_t size;
  const uint8_t *following; /* at least the next character of the text, if it continues; else NULL */
  size_t following_size;
  Ids *out;
  size_t id_limit;           /* stop when there are more ids than that; SIZE_MAX: never */
  Poll poll;
  Notes *notes;              /* or NULL */
  size_t read_size;          /* the number of bytes that were read */
} Encoding;

/* Appends the ids of a text. NULL, or why it failed; then the instance can only be freed. */
BPE_HIDDEN const char *encode_text(Encoding *);
BPE_HIDDEN extern const char gave_up[];

/* ---- spans.c: where tokens are in their text, by the kernel (src/kernel/text/offsets.ts and cuts.ts) ---- */

typedef struct {
  uint32_t start, end;
} Span;

/* Where each of the ids that a text was encoded to begins and ends in it, in bytes or in characters as HF has it. NULL, or why not;
 * then the instance can only be freed. */
BPE_HIDDEN const char *find_spans(Encoding *, bool in_characters, Span *spans);

/* How a text is cut into parts of at most `ids_max` ids. */
typedef struct {
  enum { FIRST_PART, LAST_PART, ALL_PARTS } which;
  uint32_t ids_max, overlap;
  Span *parts; /* in bytes; to be freed */
  size_t count, capacity;
  size_t too_many; /* the ids of the last part, a character that has more than `ids_max`; else 0 */
} Cutting;

/* Cuts a text that was encoded, or the part of it that was read. It has more than `ids_max` ids. NULL, or why not, as above. */
BPE_HIDDEN const char *cut_text(Encoding *, Cutting *);

/* Counts the ids of a part of the text that is being cut; any number above the limit if there are more. */
BPE_HIDDEN const char *count_part(void *encoding, uint32_t start, uint32_t end, uint32_t limit, uint32_t *count);

/* ---- session.c: texts that grow and are edited ---- */

/* A place in the text where it may be cut, and the number of ids before it. */
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
  size_t encoded_size; /* the bytes that edits have encoded */
} Session;

BPE_HIDDEN void session_free(Session *);
/* Returns false if there is no room. */
BPE_HIDDEN bool session_copy(Session *to, const Session *from);
/* Replaces bytes [start, end) of the text, and sets `*kept` to the number of leading ids that have not changed. Returns NULL, or an
 * error: then the session is unchanged, and the instance can only be freed. */
BPE_HIDDEN const char *session_edit(Session *, const Image *, Instance *, Poll *, size_t start, size_t end, const uint8_t *bytes, size_t size, bool is_trusted, size_t *kept);
/* The number of leading ids that no appended text can change. */
BPE_HIDDEN size_t session_stable(const Session *);

/* How many bytes on both sides of a cut may decide about it. */
BPE_HIDDEN uint32_t cut_reach(const Image *);
/* The first or last place in [from, to) where a text may be cut; UINT32_MAX without one. At least `cut_reach` bytes follow `to`, or the text ends
 * with them. NULL, or why it failed; then the instance can only be freed. */
BPE_HIDDEN const char *find_cut_between(Instance *, const Image *, const uint8_t *text, size_t size, size_t from, size_t to, bool wants_last, uint32_t *cut);

static inline uint32_t id_at(const uint8_t *ids, uint32_t id_bytes, size_t index) {
  return id_bytes == 2 ? ((const uint16_t *)ids)[index] : ((const uint32_t *)ids)[index];
}

#endif
