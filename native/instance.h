/* An instance as the files that call the kernel see it. */
#ifndef BPE_INSTANCE_H
#define BPE_INSTANCE_H

#include <string.h>
#include "core.h"
#include "kernel.h"
#include "text.h"

/* A flag of `sections_flags` in addition to those of the kernel. */
enum { IS_WITHIN = 8 };

struct Instance {
  w2c_kernel kernel;
  wasm_rt_memory_t *memory;
  w2c_text sections;
  wasm_rt_memory_t *sections_memory; /* NULL until a text needs it that is not cut unchanged */
  uint64_t sections_set_up_size;
  uint32_t sections_flags; /* of the last text; IS_WITHIN if it has not ended */
  w2c_text tokens; /* where the tokens of texts are found in them (spans.c) */
  wasm_rt_memory_t *tokens_memory; /* NULL until that is asked for */
  uint64_t tokens_set_up_size;
  uint64_t set_up_size;
  uint32_t text, capacity; /* address and size of the text's region */
  size_t pushed;           /* bytes of text so far, up to HUGE_AFTER */
  size_t beyond_ascii;     /* of these, bytes of this block that are not ASCII */
};

/* Sets up the memory that has the tokens, once (spans.c). */
BPE_HIDDEN const char *set_up_tokens(Instance *, const Image *);

/* NULL without room. */
BPE_HIDDEN wasm_rt_memory_t *memory_new(void);
BPE_HIDDEN void memory_free(wasm_rt_memory_t *);
BPE_HIDDEN bool grow_to(wasm_rt_memory_t *, uint64_t end);

/* The bytes there; a trap if the memory does not have them. */
static inline uint8_t *memory_at(wasm_rt_memory_t *memory, uint64_t address, uint64_t size) {
  if (address > memory->size || size > memory->size - address) wasm_rt_trap(WASM_RT_TRAP_OOB);
  return memory->data + address;
}

static inline void memory_put(wasm_rt_memory_t *memory, uint64_t address, const void *bytes, size_t size) {
  uint8_t *to = memory_at(memory, address, size);
  if (size > 0) memcpy(to, bytes, size);
}

#endif
