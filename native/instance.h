/* The members of an instance, for the files that call the kernel. */
#ifndef BPE_INSTANCE_H
#define BPE_INSTANCE_H

#include <string.h>
#include "core.h"
#include "kernel.h"
#include "text.h"

/* A flag that `sections_flags` has in addition to those of the kernel: the text has not ended yet. */
enum { IS_WITHIN = 16 };

struct Instance {
  w2c_kernel kernel;
  wasm_rt_memory_t *memory;
  w2c_text sections;
  wasm_rt_memory_t *sections_memory; /* NULL until the text module is set up: with the model, or by the first text that needs it */
  uint64_t sections_set_up_size; /* size of `sections_memory` after set-up; likewise for the other `set_up_size` fields */
  uint32_t sections_flags; /* flags of the last text; UINT32_MAX if the text module has to be opened again */
  w2c_text tokens; /* another instance of the text module, which has the bytes of all tokens (spans.c) */
  wasm_rt_memory_t *tokens_memory; /* NULL until the first call that needs it */
  uint64_t tokens_set_up_size;
  uint64_t set_up_size;
  uint32_t text;           /* address of the kernel's memory for text */
  uint32_t capacity;       /* size of that memory in bytes */
  size_t pushed;           /* bytes of text so far; HUGE_AFTER or more once huge pages were requested */
  size_t beyond_ascii;     /* bytes that are not ASCII in the current BLOCK of text (instance.c); if many, huge pages are requested earlier */
};

/* Sets up `tokens`, and copies the bytes of all tokens into its memory. Does nothing if that was done before. */
BPE_HIDDEN const char *set_up_tokens(Instance *, const Image *);

/* Returns NULL if there is no memory. */
BPE_HIDDEN wasm_rt_memory_t *memory_new(void);
BPE_HIDDEN void memory_free(wasm_rt_memory_t *);
/* Makes the memory at least `end` bytes large. Returns false if that is impossible. */
BPE_HIDDEN bool grow_to(wasm_rt_memory_t *, uint64_t end);

/* Returns the address of `size` bytes of the memory. Traps if they are not inside it. */
static inline uint8_t *memory_at(wasm_rt_memory_t *memory, uint64_t address, uint64_t size) {
  if (address > memory->size || size > memory->size - address) wasm_rt_trap(WASM_RT_TRAP_OOB);
  return memory->data + address;
}

static inline void memory_put(wasm_rt_memory_t *memory, uint64_t address, const void *bytes, size_t size) {
  uint8_t *to = memory_at(memory, address, size);
  if (size > 0) memcpy(to, bytes, size);
}

#endif
