/* The runtime for the C code that wasm2c makes of the kernel.
 *
 * A memory is one reservation of address space that never moves: wasm_rt_memory_t at the end of its first page, and
 * then the bytes. A memory grows by making more of its bytes accessible. An access beyond `size` is a trap. */
#ifndef BPE_WASM_RT_H
#define BPE_WASM_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WABT_BIG_ENDIAN 0
#define WASM_RT_USE_SEGUE 0
#define WASM_RT_STACK_DEPTH_COUNT 0
#define WASM_RT_MEMCHECK_GUARD_PAGES 0
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define wasm_rt_memcpy memcpy
#define wasm_rt_is_initialized() true

typedef struct {
  uint64_t size;  /* bytes that may be used */
  uint64_t pages; /* the same in pages of 64 KB */
  uint64_t limit; /* bytes that it may grow to */
  void *poll;     /* a Poll, asked by the kernel whether to continue; or NULL */
  void *cutting;  /* the Encoding that counts the ids of parts while the kernel cuts a text; or NULL */
  uint8_t data[];
} wasm_rt_memory_t;

typedef enum {
  WASM_RT_TRAP_OOB = 1,
  WASM_RT_TRAP_INT_OVERFLOW,
  WASM_RT_TRAP_DIV_BY_ZERO,
  WASM_RT_TRAP_INVALID_CONVERSION,
  WASM_RT_TRAP_UNREACHABLE,
  WASM_RT_TRAP_CALL_INDIRECT,
} wasm_rt_trap_t;
__attribute__((noreturn, cold)) void wasm_rt_trap(wasm_rt_trap_t);

/* Returns the previous number of pages, or UINT32_MAX if the memory cannot grow. */
uint32_t wasm_rt_grow_memory(wasm_rt_memory_t *, uint32_t pages);

typedef enum { WASM_RT_I32, WASM_RT_I64, WASM_RT_F32, WASM_RT_F64, WASM_RT_V128 } wasm_rt_type_t;
typedef const char *wasm_rt_func_type_t;
typedef void (*wasm_rt_function_ptr_t)(void);
typedef struct wasm_rt_tailcallee_t {
  void (*fn)(void **instance, void *stack, struct wasm_rt_tailcallee_t *next);
} wasm_rt_tailcallee_t;
typedef struct {
  wasm_rt_func_type_t func_type;
  wasm_rt_function_ptr_t func;
  wasm_rt_tailcallee_t func_tailcallee;
  void *module_instance;
} wasm_rt_funcref_t;
#define wasm_rt_funcref_null_value ((wasm_rt_funcref_t){0})

/* A table contains its functions, so nothing has to be freed. */
enum { WASM_RT_FUNCTIONS_MAX = 4 };
typedef struct {
  wasm_rt_funcref_t *data;
  uint32_t size;
  wasm_rt_funcref_t functions[WASM_RT_FUNCTIONS_MAX];
} wasm_rt_funcref_table_t;
static inline void wasm_rt_allocate_funcref_table(wasm_rt_funcref_table_t *table, uint32_t count, uint32_t limit) {
  (void)limit;
  memset(table, 0, sizeof *table);
  if (count > WASM_RT_FUNCTIONS_MAX) wasm_rt_trap(WASM_RT_TRAP_OOB);
  table->data = table->functions;
  table->size = count;
}
#define wasm_rt_free_funcref_table(table) ((void)(table))

typedef void *wasm_rt_externref_t;
#define wasm_rt_externref_null_value NULL
typedef struct {
  wasm_rt_externref_t *data;
  uint32_t size;
} wasm_rt_externref_table_t;

#endif
