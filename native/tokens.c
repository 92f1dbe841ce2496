/* Added tokens in text: from the left, the longest at each place, not overlapping.
 *
 * Where a token may begin, its first bytes are compared. If that leaves tokens that are longer, a block from there on is read
 * backwards by an automaton (Aho and Corasick's, of the reversed tokens), which shows all tokens that begin in it, as
 * src/bytes/special-token-finder.ts does it. A block is not shorter than the longest token, so no byte is read by the automaton
 * more than twice. */
#include <stdlib.h>
#include <string.h>
#include "core.h"

/* How many bytes are compared at each position. A group without a longer token has no automaton. */
enum { COMPARED_BYTES = SCALED(32, 3), BLOCK_MIN = SCALED(64, 4), BLOCK_MAX = SCALED(1 << 14, 16) };

/* ---- The automaton: states in the order of their depths; 0 is the root ---- */

struct TokenTrie {
  uint32_t state_count, slot_mask;
  uint8_t *labels;      /* the byte that leads to a state */
  uint32_t *parents;    /* from this one */
  uint32_t *fallbacks;  /* where the search continues if no child fits */
  uint32_t *longest;    /* the longest token that ends there: its number + 1, or 0 */
  uint32_t *slots;      /* states by the hash of parent and label; 0 is free */
};

static uint32_t slot_of(const TokenTrie *trie, uint32_t parent, uint8_t label) {
  uint32_t hash = (parent * 0x9e3779b1u + label) * 0x85ebca77u;
  return (hash ^ hash >> 15) & trie->slot_mask;
}

/* The child, or 0. `*slot` is where it is, or would be. */
static uint32_t child_of(const TokenTrie *trie, uint32_t parent, uint8_t label, uint32_t *slot) {
  for (*slot = slot_of(trie, parent, label);; *slot = (*slot + 1) & trie->slot_mask) {
    uint32_t child = trie->slots[*slot];
    if (child == 0 || (trie->parents[child] == parent && trie->labels[child] == label)) return child;
  }
}

static void trie_free(TokenTrie *trie) {
  if (trie == NULL) return;
  free(trie->labels);
  free(trie->parents);
  free(trie->fallbacks);
  free(trie->longest);
  free(trie->slots);
  free(trie);
}

static uint32_t next_state(const TokenTrie *trie, uint32_t state, uint8_t label) {
  uint32_t slot, child = child_of(trie, state, label, &slot);
  while (child == 0 && state != 0) {
    state = trie->fallbacks[state];
    child = child_of(trie, state, label, &slot);
  }
  return child;
}

/* A byte of each token at a time, from its end. `states` has room for all tokens. */
static void add_states(TokenTrie *trie, const Image *image, const TokenGroup *group, uint32_t *states, uint32_t *left) {
  uint32_t left_count = group->count;
  trie->state_count = 1;
  for (uint32_t i = 0; i < group->count; i++) states[i] = 0, left[i] = i;
  for (uint32_t depth = 0; left_count > 0; depth++) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < left_count; i++) {
      const AddedToken *token = &group->tokens[left[i]];
      uint8_t label = image->contents[token->start + token->size - 1 - depth];
      uint32_t slot, parent = states[left[i]], child = child_of(trie, parent, label, &slot);
      if (child == 0) {
        child = trie->slots[slot] = trie->state_count++;
        trie->parents[child] = parent;
        trie->labels[child] = label;
      }
      states[left[i]] = child;
      if (depth + 1 == token->size) trie->longest[child] = left[i] + 1;
      else left[kept++] = left[i];
    }
    left_count = kept;
  }
  for (uint32_t state = 1; state < trie->state_count; state++) {
    uint32_t parent = trie->parents[state];
    uint32_t fallback = parent == 0 ? 0 : next_state(trie, trie->fallbacks[parent], trie->labels[state]);
    trie->fallbacks[state] = fallback;
    if (trie->longest[state] == 0) trie->longest[state] = trie->longest[fallback];
  }
}

const char *group_open(const Image *image, TokenGroup *group, uint32_t contents_size) {
  uint64_t states_max = 1;
  for (uint32_t i = 0; i < group->count; i++) {
    uint32_t size = group->tokens[i].size;
    states_max += size;
    if (size > group->longest_bytes) group->longest_bytes = size;
  }
  /* Each token has bytes of its own. */
  if (states_max > (uint64_t)contents_size + 1) return "the image is damaged";
  if (group->longest_bytes <= COMPARED_BYTES) return NULL;
  uint64_t slot_count = 2;
  while (slot_count < 2 * states_max) slot_count *= 2;
  if (slot_count > UINT32_MAX) return no_memory;
  TokenTrie *trie = group->trie = calloc(1, sizeof *trie);
  if (trie == NULL) return no_memory;
  trie->slot_mask = (uint32_t)(slot_count - 1);
  trie->labels = malloc(states_max);
  trie->parents = malloc(states_max * sizeof(uint32_t));
  trie->fallbacks = calloc(states_max, sizeof(uint32_t));
  trie->longest = calloc(states_max, sizeof(uint32_t));
  trie->slots = calloc(slot_count, sizeof(uint32_t));
  uint32_t *room = malloc(2 * (size_t)group->count * sizeof *room);
  bool has_room = trie->labels && trie->parents && trie->fallbacks && trie->longest && trie->slots && room;
  if (has_room) add_states(trie, image, group, room, room + group->count);
  free(room);
  return has_room ? NULL : no_memory;
}

void group_close(TokenGroup *group) {
  trie_free(group->trie);
  group->trie = NULL;
}

/* ---- The search ---- */

void search_open(TokenSearch *search, const Image *image, const TokenGroup *group, const uint8_t *text, size_t size, Poll *poll) {
  search->image = image;
  search->group = group;
  search->text = text;
  search->size = size;
  search->poll = poll;
  search->block_end = search->block_bytes = search->left = search->searched = 0;
}

void search_close(TokenSearch *search) {
  free(search->places);
  *search = (TokenSearch){0};
}

/* The longest token of the group at `at`, of `left` bytes that are there; or NULL. Those that share the bytes so far are
 * narrowed down byte by byte. `*is_known`: it is that one; else longer ones may be there. */
static const AddedToken *longest_at(TokenSearch *search, const uint8_t *at, size_t left, bool *is_known) {
  const TokenGroup *group = search->group;
  const uint8_t *contents = search->image->contents;
  const AddedToken *low = group->tokens + group->first[at[0]], *high = group->tokens + group->first[at[0] + 1], *longest = NULL;
  *is_known = true;
  for (size_t depth = 1; low < high; depth++) {
    /* Of those that begin alike the shortest is the first. */
    if (low->size == depth) longest = low++;
    if (depth == left) break;
    if (depth == COMPARED_BYTES && low < high) {
      *is_known = false;
      break;
    }
    search->read_bytes++;
    const AddedToken *first = low, *end = high;
    while (first < end) {
      const AddedToken *middle = first + (end - first) / 2;
      if (contents[middle->start + depth] < at[depth]) first = middle + 1;
      else end = middle;
    }
    low = first, end = high;
    while (first < end) {
      const AddedToken *middle = first + (end - first) / 2;
      if (contents[middle->start + depth] <= at[depth]) first = middle + 1;
      else end = middle;
    }
    high = first;
  }
  return longest;
}

/* Finds all tokens that begin in a block from `from` on. False without memory. */
static bool read_block(TokenSearch *search, size_t from) {
  const TokenTrie *trie = search->group->trie;
  size_t longest = search->group->longest_bytes, least = longest > BLOCK_MIN ? longest : BLOCK_MIN;
  size_t most = longest > BLOCK_MAX ? longest : BLOCK_MAX, doubled = 2 * search->block_bytes;
  bool is_near = search->block_bytes > 0 && from - search->block_end < least;
  search->block_bytes = !is_near ? least : doubled < most ? doubled : most;
  if (search->capacity < search->block_bytes) {
    TokenPlace *places = realloc(search->places, search->block_bytes * sizeof *places);
    if (places == NULL) return false;
    search->places = places;
    search->capacity = search->block_bytes;
  }
  size_t left = search->size - from, to = from + (left < search->block_bytes ? left : search->block_bytes);
  size_t limit = search->size - to < longest - 1 ? search->size : to + longest - 1;
  search->block_end = to;
  search->left = 0;
  search->read_bytes += limit - from;
  uint32_t state = 0;
  for (size_t at = limit; at-- > from;) {
    state = next_state(trie, state, search->text[at]);
    if (trie->longest[state] != 0 && at < to) search->places[search->left++] = (TokenPlace){at, trie->longest[state] - 1};
  }
  goes_on(search->poll, 4 * (limit - from));
  return true;
}

/* The first place in [from, stop) with the first byte of a token; or `stop`. */
static size_t next_candidate(TokenSearch *search, size_t from, size_t stop) {
  const TokenGroup *group = search->group;
  while (from < stop && !has_stopped(search->poll)) {
    size_t end = stop - from < POLL_STEPS ? stop : from + POLL_STEPS, at = from;
    if (group->lone_first >= 0) {
      const uint8_t *next = memchr(search->text + at, group->lone_first, end - at);
      at = next == NULL ? end : (size_t)(next - search->text);
    } else {
      while (at < end && group->first[search->text[at]] == group->first[search->text[at] + 1]) at++;
    }
    goes_on(search->poll, at - from);
    if (at < end) return at;
    from = end;
  }
  return stop;
}

size_t find_token(TokenSearch *search, size_t from, size_t stop, const AddedToken **token) {
  const TokenGroup *group = search->group;
  if (group->count == 0) return stop;
  for (;;) {
    while (search->left > 0 && search->places[search->left - 1].at < from) search->left--;
    if (search->left > 0) {
      TokenPlace place = search->places[search->left - 1];
      if (place.at >= stop) return stop;
      *token = &group->tokens[place.token];
      return place.at;
    }
    /* Tokens that begin in the block are known. */
    if (from < search->block_end) from = search->block_end;
    from = next_candidate(search, from, stop);
    if (from >= stop || has_stopped(search->poll)) return stop;
    bool is_known;
    const AddedToken *found = longest_at(search, search->text + from, search->size - from, &is_known);
    goes_on(search->poll, COMPARED_BYTES / 2);
    if (is_known) {
      if (found != NULL) {
        *token = found;
        return from;
      }
      from++;
    } else if (!read_block(search, from)) {
      search->has_no_memory = true;
      return stop;
    }
  }
}
