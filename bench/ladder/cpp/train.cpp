// The trainers in C++, on the files of words-file.ts:
//
//   train exact-index|word-lists words.bin merges.bin merges bound-seconds checkpoint...
//
// One line a checkpoint on stdout, `<merges> <milliseconds>`, and one at the end; exit 3 if the bound stopped it.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "exact_index.hpp"
#include "word_lists.hpp"

static void fail(const char* what, const char* path) {
  std::fprintf(stderr, "train: %s %s\n", what, path);
  std::exit(1);
}

static WordsFile read_words_file(const char* path) {
  FILE* file = std::fopen(path, "rb");
  if (file == nullptr) fail("cannot open", path);
  const auto read = [&](void* target, std::size_t size) {
    if (size > 0 && std::fread(target, 1, size, file) != size) fail("too short:", path);
  };
  WordsFile words;
  uint32_t byte_count;
  read(&words.word_count, sizeof words.word_count);
  read(&byte_count, sizeof byte_count);
  words.starts.resize(std::size_t(words.word_count) + 1);
  read(words.starts.data(), sizeof(uint32_t) * words.starts.size());
  uint32_t padding;
  if (words.starts.size() % 2 == 1) read(&padding, sizeof padding);
  words.counts.resize(words.word_count);
  read(words.counts.data(), sizeof(double) * words.counts.size());
  words.bytes.resize(byte_count);
  read(words.bytes.data(), byte_count);
  std::fclose(file);
  return words;
}

static void write_merges(const char* path, const std::vector<Merge>& merges) {
  FILE* file = std::fopen(path, "wb");
  if (file == nullptr || std::fwrite(merges.data(), sizeof(Merge), merges.size(), file) != merges.size() ||
      std::fclose(file) != 0) {
    fail("cannot write", path);
  }
}

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr,
                 "usage: train exact-index|word-lists words.bin merges.bin merges bound-seconds checkpoint...\n");
    return 2;
  }
  const WordsFile words = read_words_file(argv[2]);
  std::vector<std::size_t> checkpoints;
  for (int i = 6; i < argc; i++) checkpoints.push_back(std::strtoull(argv[i], nullptr, 10));
  Run run{std::strtoull(argv[4], nullptr, 10), 1000 * std::atof(argv[5]), checkpoints};
  if (std::strcmp(argv[1], "exact-index") == 0) train<ExactIndexTrainer>(words, run);
  else train<WordListTrainer>(words, run);
  std::printf("%zu %.3f\n", run.merges.size(), run.end_ms);
  write_merges(argv[3], run.merges);
  return run.end_ms > run.bound_ms ? 3 : 0;
}
