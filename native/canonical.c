/* Where ids differ from the canonical ones, which encoding their text gives. The library does the same in
 * src/tokenizer/canonical-ids.ts. */
#include <stdlib.h>
#include "canonical.h"

size_t first_difference(const uint32_t *given, size_t count, const uint32_t *canonical, size_t canonical_count) {
  size_t i = 0;
  while (i < count && i < canonical_count && given[i] == canonical[i]) i++;
  return i == count && i == canonical_count ? SIZE_MAX : i;
}

/* Finds the ends of the shortest spans that start at `*i` and `*j` and have the same bytes; the ends of both lists if there are none. */
static void find_span_ends(const Image *image, const uint32_t *given, size_t count, bpe_ids canonical, size_t *i, size_t *j) {
  const uint32_t *starts = image->starts;
  int64_t lead = 0;
  do {
    bool is_given_next = lead <= 0;
    if (is_given_next ? *i == count : *j == canonical.count) {
      *i = count;
      *j = canonical.count;
      return;
    }
    uint32_t id = is_given_next ? given[(*i)++] : canonical.ids[(*j)++];
    int64_t size = starts[id + 1] - starts[id];
    lead += is_given_next ? size : -size;
  } while (lead != 0);
}

/* Finds the one span between the common start and the common end of the lists. */
static void find_differing_middle(const uint32_t *given, size_t count, bpe_ids canonical, bpe_spans *out) {
  size_t start = first_difference(given, count, canonical.ids, canonical.count), canonical_count = canonical.count;
  if (start == SIZE_MAX) return;
  while (count > start && canonical_count > start && given[count - 1] == canonical.ids[canonical_count - 1]) count--, canonical_count--;
  out->spans[out->count++] = (bpe_span){start, count, start, canonical_count};
}

const char *find_recoded_spans(const Image *image, const uint32_t *given, size_t count, bpe_ids canonical, bool is_same_text, bpe_spans *out) {
  size_t most = (count > canonical.count ? count : canonical.count) + 1;
  *out = (bpe_spans){calloc(most, sizeof *out->spans), 0};
  if (out->spans == NULL) return no_memory;
  if (!is_same_text) {
    find_differing_middle(given, count, canonical, out);
    return NULL;
  }
  for (size_t i = 0, j = 0; i < count || j < canonical.count;) {
    if (i < count && j < canonical.count && given[i] == canonical.ids[j]) {
      i++, j++;
      continue;
    }
    size_t start = i, canonical_start = j;
    find_span_ends(image, given, count, canonical, &i, &j);
    out->spans[out->count++] = (bpe_span){start, i, canonical_start, j};
  }
  return NULL;
}
