// The parts that both trainers share: the words, the queue of pairs, the clock and its checkpoints.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <queue>
#include <string>
#include <vector>

#include "flat.hpp"

struct Word {
  std::vector<uint32_t> tokens;
  int64_t count;
};

// A merge as it is stored in the merges file.
struct Merge {
  int32_t left;
  int32_t right;
  double count;
};

// The file of words as it was read. Cutting it into words is part of the measured time, as on every other rung.
struct WordsFile {
  uint32_t word_count;
  std::vector<uint32_t> starts;
  std::vector<double> counts;
  std::vector<uint8_t> bytes;
};

inline std::vector<Word> tokenize(const WordsFile& file) {
  std::vector<Word> words;
  words.reserve(file.word_count);
  for (uint32_t w = 0; w < file.word_count; w++) {
    const uint8_t* begin = file.bytes.data() + file.starts[w];
    const uint8_t* end = file.bytes.data() + file.starts[w + 1];
    if (end - begin > 1) words.push_back({std::vector<uint32_t>(begin, end), int64_t(file.counts[w])});
  }
  return words;
}

struct Clock {
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
};

// One run: its goal, the merges so far, and its deadline.
struct Run {
  std::size_t merges_max;
  double bound_ms;
  std::vector<std::size_t> checkpoints;
  Clock clock{};
  std::vector<Merge> merges{};
  std::size_t checkpoints_passed = 0;
  double end_ms = 0;

  bool is_stopped() const { return clock.ms() > bound_ms; }

  void note(Merge merge) { merges.push_back(merge); }

  void report_checkpoint() {
    if (checkpoints_passed == checkpoints.size() || merges.size() != checkpoints[checkpoints_passed]) return;
    std::printf("%zu %.3f\n", merges.size(), clock.ms());
    checkpoints_passed++;
  }
};

struct Entry {
  int64_t count;
  PairKey pair;
};

// Orders the queue: the higher count is first, and of equal counts the greater (bytes of left, bytes of right).
struct Worse {
  const std::vector<std::string>* token_bytes;
  bool operator()(const Entry& a, const Entry& b) const {
    if (a.count != b.count) return a.count < b.count;
    const auto& bytes = *token_bytes;
    if (left_of(a.pair) != left_of(b.pair)) return bytes[left_of(a.pair)] < bytes[left_of(b.pair)];
    return bytes[right_of(a.pair)] < bytes[right_of(b.pair)];
  }
};

using Queue = std::priority_queue<Entry, std::vector<Entry>, Worse>;

// The loop that both trainers run. Counts in the queue are upper bounds: an entry that reaches the top with an outdated
// count is put back with the current one.
template <typename Trainer>
void train(const WordsFile& file, Run& run) {
  Trainer trainer(tokenize(file));
  std::vector<std::string> token_bytes;
  for (int byte = 0; byte < 256; byte++) token_bytes.emplace_back(1, char(byte));
  Queue queue(Worse{&token_bytes}, trainer.entries());
  while (run.merges.size() < run.merges_max && !queue.empty() && !run.is_stopped()) {
    const Entry top = queue.top();
    queue.pop();
    const int64_t count = trainer.count_of(top.pair);
    if (count != top.count) {
      if (count > 0) queue.push({count, top.pair});
      continue;
    }
    const uint32_t left = left_of(top.pair);
    const uint32_t right = right_of(top.pair);
    const uint32_t id = uint32_t(token_bytes.size());
    token_bytes.push_back(token_bytes[left] + token_bytes[right]);
    run.note({int32_t(left), int32_t(right), double(count)});
    trainer.merge(top.pair, id, queue);
    run.report_checkpoint();
  }
  run.end_ms = run.clock.ms();  // before the tables are freed
}
