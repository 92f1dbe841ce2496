/*
 * Damages an image in many ways, corrects its checksum, and uses the image if it still opens. The result must be an
 * error or ids, but no crash and no hang. `damage IMAGE SEED FIRST COUNT` prints each round before it begins, and a
 * summary at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "bpe.h"
#include "core.h"

enum { PARTS_AT = 56, PART_COUNT = 9, SECONDS_MAX = 20 };

static uint64_t state;

/* A random number below `limit` (xorshift64*). */
static uint32_t below(uint32_t limit) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (uint32_t)((state * 0x2545f4914f6cdd1du) >> 32) % limit;
}

static uint32_t odd_number(uint32_t now) {
  switch (below(8)) {
    case 0: return 0;
    case 1: return UINT32_MAX;
    case 2: return INT32_MAX;
    case 3: return 1u << below(32);
    case 4: return now + 1;
    case 5: return now - 1;
    case 6: return below(1 << 16);
    default: return below(UINT32_MAX);
  }
}

/* Returns a random offset in the head, in a part, or anywhere. */
static size_t place(const uint8_t *bytes, size_t size) {
  uint32_t part[2];
  if (below(8) == 0) return PARTS_AT / 2 + below(PARTS_AT / 2 + 8 * PART_COUNT);
  memcpy(part, bytes + PARTS_AT + 8 * below(PART_COUNT), 8);
  if (below(3) == 0 || part[1] == 0 || part[0] >= size || part[1] > size - part[0]) return below((uint32_t)size);
  /* The beginning of a part determines how the rest is read, so it is damaged more often. */
  return part[0] + (below(3) == 0 ? below(part[1] < 256 ? part[1] : 256) : below(part[1]));
}

static void swap(uint8_t *a, uint8_t *b, size_t size) {
  for (size_t i = 0; i < size; i++) {
    uint8_t byte = a[i];
    a[i] = b[i];
    b[i] = byte;
  }
}

/* Damages the bytes. Returns how many are left. */
static size_t damage(uint8_t *bytes, size_t size) {
  uint32_t ways = below(4), many = 1 + below(1 << below(6));
  if (ways == 0) {
    for (uint32_t i = 0; i < many; i++) bytes[place(bytes, size)] = (uint8_t)below(256);
  } else if (ways == 1) {
    for (uint32_t i = 0; i < many; i++) {
      size_t at = place(bytes, size) & ~(size_t)3;
      uint32_t now;
      if (at + 4 > size) continue;
      memcpy(&now, bytes + at, 4);
      now = odd_number(now);
      memcpy(bytes + at, &now, 4);
    }
  } else if (ways == 2) {
    uint32_t a = below(PART_COUNT), b = below(PART_COUNT);
    if (below(2) == 0) {
      swap(bytes + PARTS_AT + 8 * a, bytes + PARTS_AT + 8 * b, 8);
    } else {
      uint32_t length = 4 * (1 + below(64));
      size_t one = place(bytes, size) & ~(size_t)3, other = place(bytes, size) & ~(size_t)3;
      if (one + length <= other && other + length <= size) swap(bytes + one, bytes + other, length);
    }
  } else {
    size_t cut = below(2) == 0 ? below((uint32_t)size) : size - below(256) % size;
    /* In about half of the cases, reduces the recorded offsets and sizes of parts to what is left. */
    if (below(2) == 0 && cut > PARTS_AT + 8 * PART_COUNT) {
      for (int part = 0; part < PART_COUNT; part++) {
        uint32_t numbers[2];
        memcpy(numbers, bytes + PARTS_AT + 8 * part, 8);
        if (numbers[0] > cut) numbers[0] = (uint32_t)cut & ~3u;
        if (numbers[1] > cut - numbers[0]) numbers[1] = (uint32_t)cut - numbers[0];
        memcpy(bytes + PARTS_AT + 8 * part, numbers, 8);
      }
    }
    return cut;
  }
  return size;
}

static const char words[] =
    "The quick brown fox, 12345 times; it's a na\xc3\xafve caf\xc3\xa9: \xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x98\x80 e\xcc\x81\xcc\xa3 "
    "<|endoftext|> <A>  \r\n\t if (x) { return [0x1f, \"y\"]; } \xff\xc3 \xea\xb0\x80\xe1\x84\x80\xe1\x85\xa1 \xef\xac\x81 \xef\xb7\xba THE END\n";

/* How many images opened, and how many texts they encoded or refused. */
static unsigned long opened, encoded, refused;

/* Uses the tokenizer and the core on some texts, and ignores their answers. */
static void use(const uint8_t *bytes, size_t size) {
  enum { LONG = 1 << 12 };
  static char text[LONG];
  for (size_t i = 0; i < LONG; i++) text[i] = i < LONG / 2 || i % 7 == 0 ? words[i % (sizeof words - 1)] : (char)('a' + below(26));
  const char *error;
  bpe_tokenizer *tokenizer = bpe_open_bytes(bytes, size, &error);
  if (tokenizer == NULL) return;
  opened++;
  const size_t sizes[] = {0, 1, 20, sizeof words - 1, LONG};
  for (int i = 0; i < 5; i++) {
    bpe_ids ids;
    bpe_bytes decoded;
    bool is_encoded = bpe_encode(tokenizer, text, sizes[i], i % 2, &ids) == NULL;
    encoded += is_encoded;
    refused += !is_encoded;
    if (is_encoded && bpe_decode(tokenizer, ids.ids, ids.count, &decoded) == NULL) bpe_free(decoded.bytes);
    bpe_free(ids.ids);
  }
  bpe_close(tokenizer);
  Image image;
  if (image_open(&image, bytes, size) != NULL) return;
  Ids ids = {0};
  Notes notes = {0};
  Encoding encoding = {.image = &image, .text = (const uint8_t *)text, .size = sizeof words - 1, .out = &ids, .id_limit = SIZE_MAX, .notes = &notes};
  encoding.instance = instance_new(&image, &error);
  if (encoding.instance != NULL && encode_text(&encoding) == NULL) {
    Span *spans = malloc((ids.size / image.id_bytes + 1) * sizeof *spans);
    Cutting cutting = {.which = ALL_PARTS, .ids_max = 8, .overlap = 2};
    if (find_spans(&encoding, true, spans) == NULL) cut_text(&encoding, &cutting);
    free(spans);
    free(cutting.parts);
    size_t cut;
    find_cut(encoding.instance, &image, false, encoding.text, LONG, 10, true, &cut);
  }
  if (encoding.instance != NULL) instance_free(encoding.instance);
  notes_free(&notes);
  free(ids.bytes);
}

int main(int count, char **arguments) {
  FILE *file = count == 5 ? fopen(arguments[1], "rb") : NULL;
  if (file == NULL) return 2;
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  clock_t longest = 0;
  uint8_t *whole = malloc(size), *bytes;
  rewind(file);
  if (fread(whole, 1, size, file) != size) return 2;
  fclose(file);
  unsigned long seed = strtoul(arguments[2], NULL, 10), first = strtoul(arguments[3], NULL, 10), rounds = strtoul(arguments[4], NULL, 10);
  for (unsigned long round = first; round < first + rounds; round++) {
    printf("round %lu\n", round);
    fflush(stdout);
    state = (seed * 1000003 + round + 1) * 0x9e3779b97f4a7c15u;
    bytes = malloc(size);
    memcpy(bytes, whole, size);
    size_t left = damage(bytes, size);
    /* Allocates exactly this size, or one byte if it is 0, so that a sanitizer notices reads beyond it. */
    bytes = realloc(bytes, left > 0 ? left : 1);
    if (left > 16) {
      uint32_t checksum = image_crc32(bytes + 16, left - 16);
      memcpy(bytes + 12, &checksum, 4);
    }
    alarm(SECONDS_MAX);
    clock_t start = clock();
    use(bytes, left);
    clock_t taken = clock() - start;
    if (taken > longest) longest = taken;
    alarm(0);
    free(bytes);
  }
  free(whole);
  printf("%lu rounds: %lu opened, %lu texts encoded, %lu refused, %.0f ms the longest\n", rounds, opened, encoded, refused,
         1000.0 * longest / CLOCKS_PER_SEC);
  return 0;
}
