/* canonical.c: where ids differ from those that encoding their text gives. */
#ifndef BPE_CANONICAL_H
#define BPE_CANONICAL_H

#include "bpe.h"
#include "core.h"

/* Returns the index of the first id that differs, or the smaller count; SIZE_MAX if both lists are equal. */
BPE_HIDDEN size_t first_difference(const uint32_t *given, size_t count, const uint32_t *canonical, size_t canonical_count);
/* Finds the spans of bpe_recode. `is_same_text`: whether both lists have the same text. */
BPE_HIDDEN const char *find_recoded_spans(const Image *, const uint32_t *given, size_t count, bpe_ids canonical, bool is_same_text, bpe_spans *);

#endif
