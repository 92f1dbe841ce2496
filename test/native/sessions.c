/* For library.test.ts: `sessions IMAGE [EDITS [SEED]] < text` edits sessions at random, and after each edit compares
 * their ids with those of their whole text. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bpe.h"

static unsigned state = 7;
static size_t draw(size_t n) {
  state = state * 1664525u + 1013904223u;
  return n == 0 ? 0 : (state >> 8) % n;
}

static int is_same(bpe_tokenizer *tokenizer, const bpe_session *session) {
  bpe_ids now, whole;
  if (bpe_session_ids(session, 0, &now) != NULL) return 0;
  if (bpe_encode(tokenizer, bpe_session_text(session), bpe_session_size(session), 0, &whole) != NULL) return 0;
  int same = now.count == whole.count && memcmp(now.ids, whole.ids, 4 * now.count) == 0;
  bpe_free(now.ids);
  bpe_free(whole.ids);
  return same;
}

/*
 * Forks the session, and removes all but an interval of the fork's text. Returns whether the fork then has as many ids
 * as the interval has if it is encoded alone.
 */
static int is_interval_right(bpe_tokenizer *tokenizer, const bpe_session *session, size_t start, size_t end) {
  size_t kept, count;
  bpe_session *fork = bpe_session_fork(session);
  int right = bpe_session_edit(fork, end, bpe_session_size(fork), "", 0, 1, &kept) == NULL &&
              bpe_session_edit(fork, 0, start, "", 0, 1, &kept) == NULL &&
              bpe_count(tokenizer, bpe_session_text(session) + start, end - start, 0, SIZE_MAX, &count) == NULL &&
              bpe_session_count(fork) == count;
  bpe_session_close(fork);
  return right;
}

/* Fills `part` with `size` bytes: random pieces of the text, invalid UTF-8, and halves of a special token. */
static void make_part(char *part, size_t size, const char *text, size_t text_size) {
  static const char *wrong[] = {"\xff", "\xc3", "\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80", "\x80", "\xf0\x9f\x98", "<|endof", "text|>"};
  for (size_t at = 0; at < size;) {
    size_t from = draw(text_size), length = 1 + draw(draw(4) == 0 ? 400 : 12);
    const char *bytes = draw(3) == 0 ? wrong[draw(sizeof wrong / sizeof *wrong)] : text + from;
    if (bytes == text + from ? length > text_size - from : length > strlen(bytes)) length = bytes == text + from ? text_size - from : strlen(bytes);
    if (length > size - at) length = size - at;
    memcpy(part + at, bytes, length);
    at += length;
  }
}

/* Edits 20 open sessions at random, with bytes that need not be UTF-8. Returns how many checks failed. */
static int edit_bytes(bpe_tokenizer *tokenizer, const char *text, size_t text_size, int edit_count) {
  enum { SESSION_COUNT = 20, MOST = 100000 };
  static char part[MOST];
  bpe_session *sessions[SESSION_COUNT];
  int wrong = 0;
  for (int i = 0; i < SESSION_COUNT; i++) sessions[i] = bpe_session_open(tokenizer);
  for (int i = 0; i < edit_count; i++) {
    bpe_session *session = sessions[draw(SESSION_COUNT)];
    size_t old = bpe_session_size(session), start = draw(old + 1), end = start + draw(old - start < 20 ? old - start + 1 : 20), kept;
    if (draw(2) == 0) start = end = old;
    if (old > 2 * MOST) start = draw(100), end = old;
    size_t size = draw(draw(40) == 0 ? MOST : 60);
    make_part(part, size, text, text_size);
    wrong += bpe_session_edit(session, start, end, part, size, 1, &kept) != NULL;
    wrong += kept > bpe_session_count(session) || bpe_session_stable(session) > bpe_session_count(session);
    wrong += !is_same(tokenizer, session);
  }
  for (int i = 0; i < SESSION_COUNT; i++) bpe_session_close(sessions[i]);
  return wrong;
}

int main(int argc, char **argv) {
  static char text[1 << 16];
  size_t size = fread(text, 1, sizeof text, stdin), kept;
  const char *error;
  bpe_tokenizer *tokenizer = argc >= 2 ? bpe_open(argv[1], &error) : NULL;
  if (tokenizer == NULL) return 1;
  if (argc == 4) state = (unsigned)atoi(argv[3]);
  bpe_session *session = bpe_session_open(tokenizer);
  int wrong = bpe_session_edit(session, 0, 1, "a", 1, 1, &kept) == NULL;
  for (int i = 0; i < 300; i++) {
    size_t old = bpe_session_size(session), start = draw(old + 1), end = start + draw(draw(9) == 0 ? old - start + 1 : 9);
    if (end > old) end = old;
    if (draw(2) == 0) start = end = draw(4) == 0 ? 0 : old;
    size_t from = draw(size), part = draw(size - from < 400 ? size - from : 400);
    wrong += bpe_session_edit(session, start, end, text + from, part, 1, &kept) != NULL;
    wrong += kept > bpe_session_count(session) || bpe_session_stable(session) > bpe_session_count(session);
    wrong += !is_same(tokenizer, session);
    size_t first = draw(bpe_session_size(session) + 1);
    wrong += !is_interval_right(tokenizer, session, first, first + draw(bpe_session_size(session) - first + 1));
    if (draw(20) != 0) continue;
    bpe_session *fork = bpe_session_fork(session);
    bpe_session_close(session);
    session = fork;
  }
  wrong += edit_bytes(tokenizer, text, size, argc >= 3 ? atoi(argv[2]) : 120);
  bpe_segment segments[] = {{"<|endof", 7, 1}, {"text|>", 6, 1}, {"<|endoftext|>", 13, 0}, {"<|endoftext|>", 13, 1}};
  bpe_ids ids, alone;
  wrong += bpe_encode_segments(tokenizer, segments, 4, 0, &ids) != NULL || bpe_encode(tokenizer, "<|endoftext|>", 13, 0, &alone) != NULL;
  for (size_t i = 0; i < ids.count; i++) wrong += (ids.ids[i] == alone.ids[0]) != (i + 1 == ids.count);
  printf("%zu ids, %d wrong\n", bpe_session_count(session), wrong);
  bpe_free(ids.ids);
  bpe_free(alone.ids);
  bpe_session_close(session);
  bpe_close(tokenizer);
  return wrong != 0;
}
