/* An instance of the kernel: its memory, and the model of an image in it. */
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "instance.h"
#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#endif

/* ---- Memory ---- */

#define PAGE ((uint64_t)65536)
#define SPACE ((uint64_t)1 << 32)
#define SMALLEST_SPACE ((uint64_t)1 << 26)
/* The offset of a memory's struct in the page before the memory's bytes. The struct ends where the bytes begin. */
#define HEAD (PAGE - offsetof(wasm_rt_memory_t, data))

static _Thread_local jmp_buf *trap_target;

/* Values of `longjmp`, in addition to the numbers of traps: a poll has given up, or a function that the kernel
 * called has failed. */
enum { GIVEN_UP = 100, FAILED };
static _Thread_local const char *failure;

void wasm_rt_trap(wasm_rt_trap_t trap) { longjmp(*trap_target, (int)trap); }

wasm_rt_memory_t *w2c_env_memory(struct w2c_env *env) { return (wasm_rt_memory_t *)env; }

/* Called by the kernel from time to time in long calls (src/kernel/env.ts). */
void w2c_env_poll(struct w2c_env *env) {
  if (!should_continue(((wasm_rt_memory_t *)env)->poll, POLL_STEPS)) longjmp(*trap_target, GIVEN_UP);
}

/* Called by the kernel to count the ids of a part of a text that it cuts (src/kernel/env.ts). */
uint32_t w2c_env_countIds(struct w2c_env *env, uint32_t start, uint32_t end, uint32_t limit) {
  uint32_t count = 0;
  failure = count_part(((wasm_rt_memory_t *)env)->cutting, start, end, limit, &count);
  if (failure != NULL) longjmp(*trap_target, FAILED);
  return count;
}

static char *reserve(uint64_t size) {
  if (size > SIZE_MAX) return NULL;
#ifdef _WIN32
  return VirtualAlloc(NULL, size, MEM_RESERVE, PAGE_READWRITE);
#else
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif
  char *start = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return start == MAP_FAILED ? NULL : start;
#endif
}

static void give_back(char *start, uint64_t size) {
#ifdef _WIN32
  (void)size;
  VirtualFree(start, 0, MEM_RELEASE);
#else
  munmap(start, size);
#endif
}

static bool make_accessible(void *start, uint64_t size) {
#ifdef _WIN32
  return size == 0 || VirtualAlloc(start, size, MEM_COMMIT, PAGE_READWRITE) != NULL;
#else
  return size == 0 || mprotect(start, size, PROT_READ | PROT_WRITE) == 0;
#endif
}

/* Reserves the 4 GB of addresses that a kernel can use. If 4 GB cannot be reserved, reserves at most a quarter of
 * the addresses that are available, because other instances need the rest; but always at least 64 MB. */
wasm_rt_memory_t *memory_new(void) {
  uint64_t limit = SPACE;
  char *start = reserve(PAGE + limit);
  while (start == NULL && limit > SMALLEST_SPACE) start = reserve(PAGE + (limit /= 2));
  if (start != NULL && limit < SPACE && limit > SMALLEST_SPACE) {
    give_back(start, PAGE + limit);
    limit = limit / 4 > SMALLEST_SPACE ? limit / 4 : SMALLEST_SPACE;
    start = reserve(PAGE + limit);
  }
  if (start == NULL) return NULL;
  if (!make_accessible(start, 2 * PAGE)) {
    give_back(start, PAGE + limit);
    return NULL;
  }
  wasm_rt_memory_t *memory = (wasm_rt_memory_t *)(start + HEAD);
  memory->size = PAGE;
  memory->pages = 1;
  memory->limit = limit;
  memory->poll = memory->cutting = NULL;
  return memory;
}

void memory_free(wasm_rt_memory_t *memory) { give_back((char *)memory - HEAD, PAGE + memory->limit); }

uint32_t wasm_rt_grow_memory(wasm_rt_memory_t *memory, uint32_t pages) {
  uint64_t before = memory->size, after = before + pages * PAGE;
  if (after > memory->limit || !make_accessible(memory->data + before, after - before)) return UINT32_MAX;
  memory->size = after;
  memory->pages = after / PAGE;
  return (uint32_t)(before / PAGE);
}

bool grow_to(wasm_rt_memory_t *memory, uint64_t end) {
  return end <= memory->size || wasm_rt_grow_memory(memory, (uint32_t)((end - memory->size + PAGE - 1) / PAGE)) != UINT32_MAX;
}

/* ---- Instances ---- */

/* WINDOW: bytes of text that are passed to the kernel at a time. PADDING: bytes after the text that the kernel may
 * read. */
enum { WINDOW = SCALED(1 << 18, 16), PADDING = 64 };
/* An instance is large (`instance_is_large`) if its memories together have grown by more than this since set-up. */
#define KEPT_BYTES SCALED((uint64_t)1 << 26, (uint64_t)1 << 16)

static const char damaged[] = "the image is damaged";

const char *instance_safely(const char *(*work)(void *), void *context) {
  jmp_buf target, *outer = trap_target;
  const char *volatile error = "the image is damaged: it made the kernel access memory out of bounds";
  switch (setjmp(target)) {
    case 0:
      trap_target = &target;
      error = work(context);
      break;
    case GIVEN_UP: error = gave_up; break;
    case FAILED: error = failure; break;
    default: break;
  }
  trap_target = outer;
  return error;
}

static bool reserve_text(Instance *instance, uint64_t capacity) {
  if (capacity > INT32_MAX - PADDING || !w2c_kernel_setTextBytes(&instance->kernel, (uint32_t)capacity + PADDING)) return false;
  instance->text = w2c_kernel_textAddress(&instance->kernel);
  instance->capacity = (uint32_t)capacity;
  return true;
}

/* The key of a kernel variable, its offset in `w2c_kernel`, and its size in bytes. */
typedef struct {
  uint32_t key, offset, size;
} StateField;
#include "kernel-state.h"

typedef struct {
  Instance *instance;
  const Image *image;
} SetUp;

static const char *set_up_sections(Instance *instance, const Image *image) {
  wasm_rt_memory_t *memory = instance->sections_memory = memory_new();
  if (memory == NULL) return no_memory;
  wasm2c_text_instantiate(&instance->sections, (struct w2c_env *)memory);
  uint32_t size = image->sections_size, address = w2c_text_beginSections(&instance->sections, size);
  if (address == 0) return no_memory;
  memory_put(memory, address, image->sections, size);
  uint32_t result = w2c_text_useSections(&instance->sections, size);
  instance->sections_set_up_size = memory->size;
  return result == 1 ? NULL : result == 0 ? no_memory : damaged;
}

/* Sets the kernel's variables to the values in the image. Both lists are sorted by key. */
static const char *set_variables(w2c_kernel *kernel, const Image *image) {
  const Variable *variable = image->variables, *end = variable + image->variable_count;
  for (size_t i = 0; i < sizeof kernel_state / sizeof *kernel_state && variable < end; i++) {
    if (kernel_state[i].key != variable->key) continue;
    memcpy((char *)kernel + kernel_state[i].offset, variable->value, kernel_state[i].size);
    variable++;
  }
  return variable == end ? NULL : damaged;
}

/* Sets up the kernel with the model of the image. */
static const char *take_model(void *context) {
  Instance *instance = ((SetUp *)context)->instance;
  const Image *image = ((SetUp *)context)->image;
  wasm_rt_memory_t *memory = instance->memory;
  w2c_kernel *kernel = &instance->kernel;
  wasm2c_kernel_instantiate(kernel, (struct w2c_env *)memory);
  uint32_t start = w2c_kernel_beginLaidOut(kernel);
  if (start == 0 || !grow_to(memory, image->page_count * PAGE)) return no_memory;
  if (memory->pages != image->page_count || (image->area_count > 0 && image->areas[0].start < start)) return damaged;
  const uint8_t *from = image->model;
  for (const Area *area = image->areas; area < image->areas + image->area_count; area++) {
    if (area->fill != AREA_LISTED) {
      memset(memory->data + area->start, (int)area->fill, area->size);
      continue;
    }
    memcpy(memory->data + area->start, from, area->size);
    from += area->size;
  }
  const char *error = set_variables(kernel, image);
  if (error != NULL) return error;
  if (!w2c_kernel_endLaidOut(kernel) || !reserve_text(instance, 2 * WINDOW)) return no_memory;
  instance->set_up_size = memory->size;
  return image->is_direct[0] && image->is_direct[1] ? NULL : set_up_sections(instance, image);
}

Instance *instance_new(const Image *image, const char **error) {
  Instance *instance = calloc(1, sizeof *instance);
  *error = no_memory;
  if (instance == NULL) return NULL;
  instance->memory = memory_new();
  if (instance->memory != NULL) *error = instance_safely(take_model, &(SetUp){instance, image});
  if (*error == NULL) return instance;
  instance_free(instance);
  return NULL;
}

void instance_free(Instance *instance) {
  if (instance->memory != NULL) memory_free(instance->memory);
  if (instance->sections_memory != NULL) memory_free(instance->sections_memory);
  if (instance->tokens_memory != NULL) memory_free(instance->tokens_memory);
  free(instance);
}

void instance_poll(Instance *instance, Poll *poll) {
  instance->memory->poll = poll;
  if (instance->sections_memory != NULL) instance->sections_memory->poll = poll;
}

bool instance_is_large(const Instance *instance) {
  uint64_t more = instance->memory->size - instance->set_up_size;
  if (instance->sections_memory != NULL) more += instance->sections_memory->size - instance->sections_set_up_size;
  if (instance->tokens_memory != NULL) more += instance->tokens_memory->size - instance->tokens_set_up_size;
  return more > KEPT_BYTES;
}

/* ---- Sections ---- */

bool ids_reserve(Ids *ids, size_t more) {
  if (more <= ids->capacity - ids->size) return true;
  size_t capacity = ids->size + more + ids->capacity + 256;
  uint8_t *bytes = capacity < ids->size ? NULL : realloc(ids->bytes, capacity);
  if (bytes == NULL) return false;
  ids->bytes = bytes;
  ids->capacity = capacity;
  return true;
}

static const char *take_ids(Section *section) {
  Instance *instance = section->instance;
  size_t size = (size_t)w2c_kernel_idCount(&instance->kernel) * section->image->id_bytes;
  if (size == 0) return NULL;
  if (!ids_reserve(section->out, size)) return no_memory;
  memcpy(section->out->bytes + section->out->size, memory_at(instance->memory, w2c_kernel_idsAddress(&instance->kernel), size), size);
  section->out->size += size;
  return NULL;
}

/* Encodes the text up to `stop`. Only added tokens that end at or before `end` are found. Added tokens that begin
 * before `sure_end` are final: more text cannot make them longer. Bytes before `limit` may be read. `ends_text`: the
 * text ends at `stop`. */
static const char *take_text(Section *section, uint32_t end, uint32_t sure_end, uint32_t stop, uint32_t limit, bool ends_text) {
  uint32_t done;
  do {
    done = w2c_kernel_takeText(&section->instance->kernel, end, sure_end, stop, limit, ends_text);
    if (done == UINT32_MAX) return no_memory;
    const char *error = take_ids(section);
    if (error != NULL) return error;
  } while (done == 0);
  return NULL;
}

/* A cut depends on at most this many bytes after it: one character. */
enum { LOOKAHEAD = 4 };

/* Encodes the part of the text that no further text can change. */
static const char *take_certain(Section *section) {
  uint32_t limit = section->limit, unsure = section->longest_token > 0 ? section->longest_token - 1 : 0;
  if (limit <= unsure + LOOKAHEAD) return NULL;
  return take_text(section, limit, limit - unsure, limit - unsure - LOOKAHEAD, limit - unsure, false);
}

void section_open(Section *section, bool is_direct, bool specials_as_text) {
  w2c_kernel *kernel = &section->instance->kernel;
  section->limit = 0;
  section->longest_token = is_direct ? section->image->longest_token : 0;
  w2c_kernel_lookForTokens(kernel, is_direct, specials_as_text);
  w2c_kernel_openText(kernel, 0, 0);
}

/* Makes room for `count` bytes after the text. If necessary, drops the bytes that are no longer needed, and reserves
 * more memory if that is not enough. */
static const char *make_room(Section *section, uint32_t count) {
  Instance *instance = section->instance;
  if (section->limit + (uint64_t)count <= instance->capacity) return NULL;
  uint32_t keep = w2c_kernel_keepPosition(&instance->kernel);
  if (keep > section->limit || instance->text + (uint64_t)section->limit > instance->memory->size) wasm_rt_trap(WASM_RT_TRAP_OOB);
  uint8_t *start = instance->memory->data + instance->text;
  memmove(start, start + keep, section->limit - keep);
  w2c_kernel_moveText(&instance->kernel, keep);
  section->limit -= keep;
  uint64_t needed = (uint64_t)section->limit + count;
  return needed <= instance->capacity || reserve_text(instance, needed + needed / 4) ? NULL : no_memory;
}

static const char *append(Section *section, const uint8_t *text, uint32_t count) {
  const char *error = make_room(section, count);
  if (error != NULL) return error;
  Instance *instance = section->instance;
  memcpy(memory_at(instance->memory, instance->text + (uint64_t)section->limit, count + (uint64_t)PADDING), text, count);
  section->limit += count;
  if (section->longest_token > 0) w2c_kernel_searchText(&instance->kernel, section->limit);
  return NULL;
}

/* When to request huge pages for the kernel's memory. They cost up to 10 MB, and speed up the tables of distinct
 * words. That pays off once a quarter of a 256 KB block is not ASCII, or after 16 MB of any text. */
enum { HUGE_AFTER = SCALED(1 << 24, 1 << 14), BLOCK = SCALED(1 << 18, 1 << 8) };
enum { HUGE_AFTER_BEYOND_ASCII = BLOCK / 4 };

void advise_huge(uint8_t *start, size_t size) {
#ifdef MADV_HUGEPAGE
  /* Only whole pages can be advised. If the system has no huge pages, the call has no effect. */
  size_t head = -(uintptr_t)start & 4095;
  if (size > head) (void)madvise(start + head, (size - head) & ~(size_t)4095, MADV_HUGEPAGE);
#else
  (void)start;
  (void)size;
#endif
}

/* Counts the bytes that are not ASCII. The text is counted in parts of at most 240 bytes, so that the sum of a part
 * fits into one byte. Compilers can add sixteen such sums at a time. */
static size_t count_beyond_ascii(const uint8_t *text, size_t size) {
  size_t count = 0;
  while (size > 0) {
    size_t part = size < 240 ? size : 240;
    uint8_t sum = 0;
    for (size_t i = 0; i < part; i++) sum += text[i] >> 7;
    count += sum;
    text += part;
    size -= part;
  }
  return count;
}

/* Counts the bytes of text, and requests huge pages when they are worthwhile. */
static void count_text(Instance *instance, const uint8_t *text, size_t size) {
  if (instance->pushed >= HUGE_AFTER) return;
  size_t pushed = instance->pushed + size, beyond_ascii = pushed / BLOCK == instance->pushed / BLOCK ? instance->beyond_ascii : 0;
  beyond_ascii += count_beyond_ascii(text, size);
  instance->beyond_ascii = beyond_ascii;
  instance->pushed = beyond_ascii >= HUGE_AFTER_BEYOND_ASCII ? HUGE_AFTER : pushed;
  if (instance->pushed >= HUGE_AFTER) advise_huge(instance->memory->data, instance->memory->size);
}

const char *section_push(Section *section, const uint8_t *text, size_t size) {
  const char *error = NULL;
  count_text(section->instance, text, size);
  while (size > 0 && error == NULL) {
    /* A full window is encoded only when more text follows, so that one call at the end of the section encodes the
     * rest. */
    if (section->limit >= WINDOW) error = take_certain(section);
    uint32_t count = (uint32_t)(size < WINDOW ? size : WINDOW);
    if (error == NULL) error = append(section, text, count);
    text += count;
    size -= count;
  }
  return error;
}

const char *section_settle(Section *section) {
  return take_certain(section);
}

const char *section_end(Section *section, const uint8_t *following, size_t following_size) {
  uint32_t limit = section->limit;
  if (following == NULL) return limit == 0 ? NULL : take_text(section, limit, limit, limit, limit, true);
  if (following_size > LOOKAHEAD) following_size = LOOKAHEAD;
  const char *error = append(section, following, (uint32_t)following_size);
  if (error != NULL) return error;
  uint32_t end = section->limit - (uint32_t)following_size;
  error = take_text(section, end, end, end, section->limit, false);
  if (error != NULL) return error;
  if (w2c_kernel_lookAhead(&section->instance->kernel, end, section->limit) == UINT32_MAX) return no_memory;
  return take_ids(section);
}

/* ---- Cuts ---- */

/* The maximum number of bytes that `find_cut` searches. */
enum { CUT_SEARCH_BYTES = SCALED(1 << 16, 16) };

typedef struct {
  Section section;
  bool specials_as_text, is_all;
  const uint8_t *text;
  size_t size, from, *cut;
} CutSearch;

static uint32_t direct_reach(const Image *image) { return image->longest_token + LOOKAHEAD; }

uint32_t cut_reach(Instance *instance, const Image *image) {
  return image->may_be_cut[false] || instance->sections_memory == NULL ? direct_reach(image) : w2c_text_windowReach(&instance->sections);
}

static const char *search_range(Section *section, bool as_text, const uint8_t *text, size_t size, size_t from, size_t to, bool wants_last, uint32_t *cut) {
  size_t longest = section->image->longest_token, after = longest + LOOKAHEAD;
  size_t start = from > longest ? from - longest : 0, limit = size - to > after ? to + after : size;
  section_open(section, true, as_text);
  const char *error = append(section, text + start, (uint32_t)(limit - start));
  if (error != NULL) return error;
  uint32_t at = w2c_kernel_findSafeCut(
      &section->instance->kernel, (uint32_t)(from - start), (uint32_t)(to - start), (uint32_t)(limit - start), start == 0, wants_last);
  *cut = at == UINT32_MAX ? at : (uint32_t)(start + at);
  return NULL;
}

/* Writes text into the text module's window. The module then has to be opened again before it takes a text. */
static const char *put_window(Instance *instance, const uint8_t *text, size_t size) {
  uint32_t address = w2c_text_windowAddress(&instance->sections, (uint32_t)size);
  if (address == 0) return no_memory;
  memory_put(instance->sections_memory, address, text, size);
  instance->sections_flags = UINT32_MAX;
  return NULL;
}

const char *sections_following(Instance *instance, const uint8_t *text, size_t size, const uint8_t **following, size_t *following_size) {
  const char *error = put_window(instance, text, size);
  uint32_t made = error == NULL ? w2c_text_makeFollowing(&instance->sections, (uint32_t)size) : 0;
  if (made == UINT32_MAX) error = no_memory;
  if (error != NULL) return error;
  *following = memory_at(instance->sections_memory, w2c_text_followingAddress(&instance->sections), made);
  *following_size = made;
  return NULL;
}

static const char *append_pairs(Section *section, uint32_t address, uint32_t count) {
  return append(section, memory_at(section->instance->sections_memory, address, 8 * (uint64_t)count), 8 * count);
}

/* Searches for a safe cut in a normalized part of the text (a window of src/kernel/text/cut-windows.ts). */
static const char *search_window(Section *section, const uint8_t *text, size_t size, size_t from, size_t to, bool wants_last, uint32_t *cut) {
  w2c_text *windows = &section->instance->sections;
  w2c_kernel *kernel = &section->instance->kernel;
  wasm_rt_memory_t *memory = section->instance->sections_memory;
  size_t reach = w2c_text_windowReach(windows), start = from > reach ? from - reach : 0, limit = size - to > reach ? to + reach : size;
  const char *error = put_window(section->instance, text + start, limit - start);
  if (error != NULL) return error;
  if (!w2c_text_makeWindow(windows, (uint32_t)(limit - start), start == 0)) return no_memory;
  uint32_t window_size = w2c_text_madeWindowBytes(windows), holes = w2c_text_holeCount(windows), barred = w2c_text_barredCount(windows);
  section_open(section, false, false);
  error = append(section, memory_at(memory, w2c_text_madeWindowAddress(windows), window_size), window_size);
  if (error == NULL) error = append_pairs(section, w2c_text_holesAddress(windows), holes);
  if (error == NULL) error = append_pairs(section, w2c_text_barredAddress(windows), barred);
  if (error != NULL) return error;
  w2c_kernel_useHoles(kernel, window_size, holes, barred);
  uint32_t first = w2c_text_windowPosition(windows, (uint32_t)(from - start)), stop = w2c_text_windowPosition(windows, (uint32_t)(to - start));
  uint32_t at = w2c_kernel_findSafeCut(kernel, first, stop, window_size, start == 0 && !section->image->adds_prefix_space, wants_last);
  *cut = at == UINT32_MAX ? at : (uint32_t)start + w2c_text_givenPosition(windows, at);
  return NULL;
}

const char *find_cut_between(Instance *instance, const Image *image, const uint8_t *text, size_t size, size_t from, size_t to, bool wants_last, uint32_t *cut) {
  Section section = {instance, image, NULL, 0, 0};
  *cut = UINT32_MAX;
  if (!image->may_be_cut[false] && instance->sections_memory == NULL) return NULL;
  return image->may_be_cut[false] ? search_range(&section, false, text, size, from, to, wants_last, cut) : search_window(&section, text, size, from, to, wants_last, cut);
}

static const char *search_cut(void *context) {
  CutSearch *search = context;
  const Image *image = search->section.image;
  size_t size = search->size, from = search->from, after = direct_reach(image);
  *search->cut = size;
  if (!image->may_be_cut[search->specials_as_text]) return NULL;
  size_t stop = size - from > CUT_SEARCH_BYTES ? from + CUT_SEARCH_BYTES : size;
  if (!search->is_all && size - stop < after) stop = size > after ? size - after : 0;
  if (stop <= from) return NULL;
  uint32_t cut;
  const char *error = search_range(&search->section, search->specials_as_text, search->text, size, from, stop, false, &cut);
  if (error == NULL && cut != UINT32_MAX) *search->cut = cut;
  return error;
}

const char *find_cut(Instance *instance, const Image *image, bool specials_as_text, const uint8_t *text, size_t size, size_t from, bool is_all, size_t *cut) {
  CutSearch search = {{instance, image, NULL, 0, 0}, specials_as_text, is_all, text, size, from, cut};
  return instance_safely(search_cut, &search);
}

/* ---- The text module ---- */

const char *sections_open(Instance *instance, const Image *image, bool specials_as_text, bool notes_changes, bool has_segments, bool continues) {
  const char *error = instance->sections_memory == NULL ? set_up_sections(instance, image) : NULL;
  if (error != NULL) return error;
  uint32_t flags = (uint32_t)specials_as_text | (uint32_t)notes_changes << 1 | (uint32_t)has_segments << 2 | (uint32_t)continues << 3;
  /* The module need not be opened again if the text has the same flags as the previous one. But segments and
   * `continues` change the module's state while a text is read, so a text with either always opens it again. */
  if (instance->sections_flags != flags || has_segments || continues) w2c_text_openText(&instance->sections, flags);
  instance->sections_flags = flags;
  instance->sections_memory->poll = instance->memory->poll;
  return NULL;
}

const char *sections_end_segment(Instance *instance, bool specials_as_text) {
  return w2c_text_endSegment(&instance->sections, specials_as_text) ? NULL : no_memory;
}

const char *sections_take(Instance *instance, const uint8_t *text, uint32_t size, uint32_t ends, const Event **events, uint32_t *count) {
  w2c_text *sections = &instance->sections;
  wasm_rt_memory_t *memory = instance->sections_memory;
  uint32_t address = w2c_text_pieceAddress(sections, size);
  instance->sections_flags = ends != ENDS_NOTHING ? instance->sections_flags & ~(uint32_t)IS_WITHIN : instance->sections_flags | IS_WITHIN;
  if (address == 0) return no_memory;
  memory_put(memory, address, text, size);
  *count = w2c_text_takePiece(sections, size, ends);
  if (*count == UINT32_MAX) return no_memory;
  uint32_t from = w2c_text_eventsAddress(sections);
  *events = (const Event *)memory_at(memory, from, *count * (uint64_t)sizeof **events);
  return NULL;
}

const uint8_t *sections_text(Instance *instance, const Event *event) {
  return memory_at(instance->sections_memory, (uint64_t)w2c_text_sectionBytes(&instance->sections) + event->a, event->b);
}
