/* Prints the ids of the text on stdin, one a line.
 *
 *     bpe image TOKENIZER -o tokenizer.image
 *     cc examples/encode.c -I include -L lib -lbpe -o encode      # in an unpacked archive of bpe
 *     LD_LIBRARY_PATH=lib ./encode tokenizer.image < corpus.txt
 */
#include <stdio.h>
#include <stdlib.h>
#include "bpe.h"

static int fail(const char *error) {
  fprintf(stderr, "encode: %s\n", error);
  return 1;
}

int main(int count, char **arguments) {
  const char *error = "give the path of an image, which `bpe image` makes";
  bpe_tokenizer *tokenizer = count == 2 ? bpe_open(arguments[1], &error) : NULL;
  if (tokenizer == NULL) return fail(error);
  size_t size = 0, capacity = 0, got;
  char *text = NULL;
  do {
    if (size == capacity) text = realloc(text, capacity += 1 << 20);
    if (text == NULL) return fail("there is no memory for the text");
    got = fread(text + size, 1, capacity - size, stdin);
    size += got;
  } while (got > 0);
  bpe_ids ids;
  error = bpe_encode(tokenizer, text, size, 0, &ids);
  if (error != NULL) return fail(error);
  for (size_t i = 0; i < ids.count; i++) printf("%u\n", (unsigned)ids.ids[i]);
  bpe_free(ids.ids);
  bpe_close(tokenizer);
  free(text);
  return 0;
}
