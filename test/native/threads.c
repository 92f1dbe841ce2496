/* `threads IMAGE < text` checks that threads which share a tokenizer get the ids of a single thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bpe.h"

enum { THREADS = 4, ROUNDS = 200, PIECES = 50 };

static bpe_tokenizer *tokenizer;
static char text[1 << 20];
static size_t size;
static bpe_ids wanted[PIECES];

static size_t start_of(size_t piece) { return size * piece / PIECES; }

static const char *encode_piece(size_t piece, bpe_ids *ids) {
  return bpe_encode(tokenizer, text + start_of(piece), start_of(piece + 1) - start_of(piece), 0, ids);
}

static void *work(void *seed) {
  size_t wrong = 0;
  for (size_t round = 0; round < ROUNDS; round++) {
    size_t piece = (round * 7 + (size_t)seed * 11) % PIECES;
    bpe_ids ids;
    wrong += encode_piece(piece, &ids) != NULL || ids.count != wanted[piece].count || memcmp(ids.ids, wanted[piece].ids, 4 * ids.count) != 0;
    bpe_free(ids.ids);
  }
  return (void *)wrong;
}

int main(int count, char **arguments) {
  const char *error = "give an image";
  tokenizer = count == 2 ? bpe_open(arguments[1], &error) : NULL;
  if (tokenizer == NULL) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  size = fread(text, 1, sizeof text, stdin);
  size_t id_count = 0, wrong = 0;
  for (size_t piece = 0; piece < PIECES; piece++) {
    if (encode_piece(piece, &wanted[piece]) != NULL) return 1;
    id_count += wanted[piece].count;
  }
  pthread_t threads[THREADS];
  size_t started = 0;
  while (started < THREADS && pthread_create(&threads[started], NULL, work, (void *)started) == 0) started++;
  wrong += THREADS - started;
  for (size_t i = 0; i < started; i++) {
    void *said;
    pthread_join(threads[i], &said);
    wrong += (size_t)said;
  }
  for (size_t piece = 0; piece < PIECES; piece++) bpe_free(wanted[piece].ids);
  bpe_close(tokenizer);
  printf("%zu ids, %zu wrong\n", id_count, wrong);
  return 0;
}
