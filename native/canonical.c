/* Finds where ids differ from the canonical ids, those that encoding their text gives (src/kernel/text/recode.ts). */
#include <stdlib.h>
#include "instance.h"

typedef struct {
  Instance *instance;
  const Image *image;
  Recoding *recoding;
} Work;

static const char *find(void *context) {
  Work *work = context;
  Recoding *recoding = work->recoding;
  const char *error = set_up_tokens(work->instance, work->image);
  if (error != NULL) return error;
  w2c_text *tokens = &work->instance->tokens;
  wasm_rt_memory_t *memory = work->instance->tokens_memory;
  size_t count = recoding->given_count, canonical_count = recoding->canonical_count;
  if ((count | canonical_count) > UINT32_MAX) return no_memory;
  uint32_t address = w2c_text_beginRecoding(tokens, (uint32_t)count, (uint32_t)canonical_count);
  if (address == 0) return no_memory;
  memory_put(memory, address, recoding->given, 4 * count);
  memory_put(memory, address + 4 * count, recoding->canonical, 4 * canonical_count);
  recoding->span_count = w2c_text_findRecodedSpans(tokens, recoding->is_same_text);
  size_t size = recoding->span_count * sizeof *recoding->spans;
  recoding->spans = malloc(size + 1);
  if (recoding->spans == NULL) return no_memory;
  if (size > 0) memcpy(recoding->spans, memory_at(memory, w2c_text_recodedSpansAddress(tokens), size), size);
  return NULL;
}

const char *find_recoded_spans(Instance *instance, const Image *image, Recoding *recoding) {
  return instance_safely(find, &(Work){instance, image, recoding});
}
