/* Normal forms and lower case by the tables of an image (src/bytes/normalization-tables.ts). The algorithms are those of
 * Unicode Standard Annex 15: decompose, put marks in the order of their classes, compose. Text is in its form where all of its
 * characters are settled; elsewhere a stretch from a settled character up to the next one is worked on, because nothing reaches
 * across the start of a settled character. */
#include <stdlib.h>
#include <string.h>
#include "core.h"
#include "utf8.h"

enum { NFC, NFD, NFKC, NFKD, LOWERCASE, STEP_COUNT };
enum { STEPS_MAX = 8, HEAD_WORDS = 21, SETTLED_WORDS = 0x110000 / 32, CODE_POINT_MAX = 0x10ffff, GROWTH_MAX = 18 };
/* Where the head says where a table begins. */
enum { CANONICAL = 9, COMPATIBLE = 11, LOWER = 13, CLASSES = 15, PAIRS = 17, JOINING = 19 };
/* Syllables of Hangul are composed by a formula. */
enum { L_FIRST = 0x1100, V_FIRST = 0x1161, T_FIRST = 0x11a7, S_FIRST = 0xac00, L_COUNT = 19, V_COUNT = 21, T_COUNT = 28 };
enum { S_COUNT = L_COUNT * V_COUNT * T_COUNT };

static const char *changes_check(const uint32_t *words, uint32_t end, int table) {
  static const char bad[] = "a table of changes is damaged";
  uint32_t start = words[table], count = words[table + 1];
  if (start > end || count > (end - start) / 3 || end - start < 2 * count + 1) return bad;
  const uint32_t *starts = words + start + count, *data = starts + count + 1;
  uint32_t room = end - start - 2 * count - 1;
  if (starts[0] != 0 || starts[count] > room) return bad;
  for (uint32_t i = 0; i < count; i++)
    if (starts[i] > starts[i + 1]) return bad;
  for (uint32_t i = 0; i < starts[count]; i++)
    if (data[i] > CODE_POINT_MAX) return bad;
  return NULL;
}

const char *forms_check(const uint32_t *words, uint32_t count) {
  static const char bad[] = "the tables of a normal form are damaged";
  if (count < HEAD_WORDS + SETTLED_WORDS || words[0] > STEPS_MAX) return bad;
  for (uint32_t i = 0; i < words[0]; i++)
    if (words[1 + i] >= STEP_COUNT) return bad;
  uint32_t end = count - SETTLED_WORDS;
  for (int table = CANONICAL; table <= LOWER; table += 2)
    if (changes_check(words, end, table) != NULL) return bad;
  if (words[CLASSES] > end || words[CLASSES + 1] > (end - words[CLASSES]) / 2) return bad;
  if (words[JOINING] > end || words[JOINING + 1] > (end - words[JOINING]) / 2) return bad;
  if (words[PAIRS] > end || words[PAIRS + 1] > (end - words[PAIRS]) / 3) return bad;
  for (uint32_t i = 0; i < words[PAIRS + 1]; i++)
    if (words[words[PAIRS] + 3 * i + 2] > CODE_POINT_MAX) return bad;
  return NULL;
}

/* The place of a number among ascending ones, or `count`. */
static uint32_t place_of(const uint32_t *numbers, uint32_t count, uint32_t number) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (numbers[middle] < number) low = middle + 1;
    else high = middle;
  }
  return low < count && numbers[low] == number ? low : count;
}

static uint32_t class_of(const uint32_t *words, uint32_t code_point) {
  const uint32_t *marks = words + words[CLASSES];
  uint32_t count = words[CLASSES + 1], place = place_of(marks, count, code_point);
  return place == count ? 0 : marks[count + place];
}

static bool is_settled(const Image *image, uint32_t code_point) {
  const uint32_t *settled = image->forms + image->form_words - SETTLED_WORDS;
  return settled[code_point >> 5] >> (code_point & 31) & 1;
}

bool opens(const Image *image, uint32_t code_point) {
  CodePointSet joining = {image->forms + image->forms[JOINING], image->forms[JOINING + 1]};
  return !contains(&joining, code_point);
}

static bool lowers(const Image *image) { return image->forms[LOWER + 1] > 0; }

/* Code points of a stretch, with the class of each while it is put in order. */
typedef struct {
  uint32_t code_point, class;
} Character;

typedef struct {
  Character *characters;
  size_t count, capacity;
} Stretch;

static bool add(Stretch *stretch, uint32_t code_point) {
  if (stretch->count == stretch->capacity) {
    size_t capacity = 2 * stretch->capacity + 64;
    Character *characters = realloc(stretch->characters, capacity * sizeof *characters);
    if (characters == NULL) return false;
    stretch->characters = characters;
    stretch->capacity = capacity;
  }
  stretch->characters[stretch->count++] = (Character){code_point, 0};
  return true;
}

/* Adds what a character becomes by a table. */
static bool add_changed(const uint32_t *words, int table, uint32_t code_point, Stretch *to) {
  const uint32_t *keys = words + words[table];
  uint32_t count = words[table + 1], place = place_of(keys, count, code_point);
  if (place == count) return add(to, code_point);
  const uint32_t *starts = keys + count, *data = starts + count + 1;
  for (uint32_t i = starts[place]; i < starts[place + 1]; i++)
    if (!add(to, data[i])) return false;
  return true;
}

static bool decompose(const uint32_t *words, int table, uint32_t code_point, Stretch *to) {
  if (code_point < S_FIRST || code_point >= S_FIRST + S_COUNT) return add_changed(words, table, code_point, to);
  uint32_t s = code_point - S_FIRST, t = s % T_COUNT;
  return add(to, L_FIRST + s / (V_COUNT * T_COUNT)) && add(to, V_FIRST + s / T_COUNT % V_COUNT) && (t == 0 || add(to, T_FIRST + t));
}

/* Marks by their class, those of one class as they came: merge sort, because there may be a million in a row. */
static bool put_in_order(Character *characters, size_t count, Stretch *room) {
  if (count < 16) {
    for (size_t i = 1; i < count; i++) {
      Character moved = characters[i];
      size_t at = i;
      for (; at > 0 && characters[at - 1].class > moved.class; at--) characters[at] = characters[at - 1];
      characters[at] = moved;
    }
    return true;
  }
  size_t half = count / 2;
  if (!put_in_order(characters, half, room) || !put_in_order(characters + half, count - half, room)) return false;
  for (room->count = 0; room->count < half;)
    if (!add(room, 0)) return false;
  memcpy(room->characters, characters, half * sizeof *characters);
  size_t left = 0, right = half, to = 0;
  while (left < half)
    characters[to++] = right < count && characters[right].class < room->characters[left].class ? characters[right++] : room->characters[left++];
  return true;
}

static bool order(const uint32_t *words, Stretch *stretch, Stretch *room) {
  Character *characters = stretch->characters;
  for (size_t i = 0; i < stretch->count; i++) characters[i].class = class_of(words, characters[i].code_point);
  for (size_t start = 0; start < stretch->count;) {
    size_t end = start + 1;
    if (characters[start].class != 0) {
      while (end < stretch->count && characters[end].class != 0) end++;
      if (!put_in_order(characters + start, end - start, room)) return false;
    }
    start = end;
  }
  return true;
}

/* What two characters are composed to, or 0. */
static uint32_t composed_of(const uint32_t *words, uint32_t first, uint32_t second) {
  uint32_t l = first - L_FIRST, v = second - V_FIRST, s = first - S_FIRST, t = second - T_FIRST;
  if (l < L_COUNT && v < V_COUNT) return S_FIRST + (l * V_COUNT + v) * T_COUNT;
  if (s < S_COUNT && s % T_COUNT == 0 && t > 0 && t < T_COUNT) return first + t;
  const uint32_t *pairs = words + words[PAIRS];
  uint32_t low = 0, high = words[PAIRS + 1];
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    const uint32_t *pair = pairs + 3 * middle;
    if (pair[0] < first || (pair[0] == first && pair[1] < second)) low = middle + 1;
    else high = middle;
  }
  const uint32_t *pair = pairs + 3 * low;
  return low < words[PAIRS + 1] && pair[0] == first && pair[1] == second ? pair[2] : 0;
}

static void compose(const uint32_t *words, Stretch *stretch) {
  Character *characters = stretch->characters;
  size_t to = 0, starter = SIZE_MAX;
  uint32_t class_before = 0; /* of the last character behind the starter that stayed; 0: the starter is right before */
  for (size_t i = 0; i < stretch->count; i++) {
    Character character = characters[i];
    bool is_reached = starter != SIZE_MAX && (class_before < character.class || to == starter + 1);
    uint32_t composed = is_reached ? composed_of(words, characters[starter].code_point, character.code_point) : 0;
    if (composed != 0) {
      characters[starter].code_point = composed;
      continue;
    }
    if (character.class == 0) starter = to;
    class_before = character.class;
    characters[to++] = character;
  }
  stretch->count = to;
}

/* Takes a step with all characters of `from`; they are in `to` then. */
static bool take_step(const uint32_t *words, uint32_t step, const Stretch *from, Stretch *to, Stretch *room) {
  to->count = 0;
  for (size_t i = 0; i < from->count; i++) {
    uint32_t code_point = from->characters[i].code_point;
    bool is_done = step == LOWERCASE ? add_changed(words, LOWER, code_point, to)
                                     : decompose(words, step == NFC || step == NFD ? CANONICAL : COMPATIBLE, code_point, to);
    if (!is_done) return false;
  }
  if (step == LOWERCASE) return true;
  if (!order(words, to, room)) return false;
  if (step == NFC || step == NFKC) compose(words, to);
  return true;
}

/* The first position from `at` on whose character is not settled; bytes that are no character are. `*last` is where the
 * settled character before it begins, or `at`. */
static size_t settled_end(const Image *image, const uint8_t *text, size_t at, size_t size, size_t *last) {
  *last = at;
  while (at < size) {
    if (text[at] < 0x80) {
      *last = at++;
      continue;
    }
    size_t length = character_size(text + at, size - at);
    if (length > 0 && !is_settled(image, (uint32_t)code_point_of(text + at, length))) return at;
    *last = length > 0 ? at : at + 1;
    at += length > 0 ? length : 1;
  }
  *last = size;
  return size;
}

bool is_in_form(const Image *image, const uint8_t *text, size_t size) {
  size_t last;
  return !lowers(image) && settled_end(image, text, 0, size, &last) == size;
}

typedef struct {
  const Image *image;
  Stretch stretches[3];
  uint8_t *out;
  size_t size, capacity;
} Work;

static bool make_room(Work *work, size_t more) {
  if (more <= work->capacity - work->size) return true;
  size_t capacity = work->size + more + work->capacity + 64;
  uint8_t *out = capacity < work->size ? NULL : realloc(work->out, capacity);
  if (out == NULL) return false;
  work->out = out;
  work->capacity = capacity;
  return true;
}

static bool copy(Work *work, const uint8_t *text, size_t size) {
  if (!make_room(work, size)) return false;
  uint8_t *to = work->out + work->size;
  if (!lowers(work->image)) memcpy(to, text, size);
  else
    for (size_t i = 0; i < size; i++) to[i] = text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i];
  work->size += size;
  return true;
}

/* All of it is valid. */
static bool change(Work *work, const uint8_t *text, size_t size) {
  const uint32_t *words = work->image->forms;
  Stretch *from = &work->stretches[0], *to = &work->stretches[1];
  from->count = 0;
  for (size_t at = 0, length; at < size; at += length) {
    uint32_t code_point = (uint32_t)code_point_at(text + at, size - at, &length);
    if (!add(from, code_point)) return false;
  }
  for (uint32_t i = 0; i < words[0]; i++) {
    /* Unicode's longest is U+FDFA, 3 bytes that become 18 characters: more is of damaged tables, which might go on so. */
    if (!take_step(words, words[1 + i], from, to, &work->stretches[2]) || to->count > GROWTH_MAX * size) return false;
    Stretch *other = from;
    from = to, to = other;
  }
  if (!make_room(work, 4 * from->count)) return false;
  for (size_t i = 0; i < from->count; i++) work->size += put_character(work->out + work->size, from->characters[i].code_point);
  return true;
}

static bool bring_into_form(Work *work, const uint8_t *text, size_t size) {
  for (size_t at = 0; at < size;) {
    size_t start, end = settled_end(work->image, text, at, size, &start);
    if (!copy(work, text + at, start - at)) return false;
    /* The stretch ends before the next settled character, or bytes that are none. */
    while (end < size) {
      size_t length = character_size(text + end, size - end);
      if (length == 0 || is_settled(work->image, (uint32_t)code_point_of(text + end, length))) break;
      end += length;
    }
    if (!change(work, text + start, end - start)) return false;
    at = end;
  }
  return true;
}

uint8_t *in_form(const Image *image, const uint8_t *text, size_t size, size_t *out_size) {
  Work work = {.image = image};
  bool is_done = make_room(&work, size + 1) && bring_into_form(&work, text, size);
  for (int i = 0; i < 3; i++) free(work.stretches[i].characters);
  if (!is_done) {
    free(work.out);
    return NULL;
  }
  *out_size = work.size;
  return work.out;
}
