// A simpler trainer of the same kind: one flat hash map from each pair to its count and a plain list of words. A list
// may still name words that no longer hold the pair. Reading these is wasted, but costs less than exact sets.
#pragma once
#include <utility>
#include <vector>

#include "trainer.hpp"

class WordListTrainer {
 public:
  explicit WordListTrainer(std::vector<Word> the_words) : words(std::move(the_words)) {
    for (uint32_t w = 0; w < words.size(); w++) {
      const std::vector<uint32_t>& tokens = words[w].tokens;
      for (std::size_t i = 0; i + 1 < tokens.size(); i++) {
        gain(pair_key(tokens[i], tokens[i + 1]), w, words[w].count);
      }
    }
  }

  std::vector<Entry> entries() {
    std::vector<Entry> all;
    pairs.each([&](PairKey key, Pair& state) { all.push_back({state.count, key}); });
    return all;
  }

  int64_t count_of(PairKey pair) {
    const Pair* state = pairs.find(pair);
    return state == nullptr ? 0 : state->count;
  }

  void merge(PairKey pair, uint32_t id, Queue& queue) {
    // The list is moved out before the loop, because the map may grow in it. The pair is not needed any more.
    const std::vector<uint32_t> list = std::move(pairs.find(pair)->words);
    pairs.erase(pair);
    born.clear();
    for (const uint32_t w : list) merge_in_word(w, pair, id);
    for (const PairKey key : born) {
      const int64_t count = pairs[key].count;
      if (count > 0) queue.push({count, key});
    }
  }

 private:
  struct Pair {
    int64_t count = 0;
    std::vector<uint32_t> words{};
  };
  std::vector<Word> words;
  PairMap<Pair> pairs;
  // Pairs of the new token, perhaps repeatedly. The loop of `train` drops repeated entries of the queue.
  std::vector<PairKey> born;

  // Adds an occurrence in word `w`. Returns whether the pair had none before.
  bool gain(PairKey key, uint32_t w, int64_t count) {
    Pair& state = pairs[key];
    const bool is_first = state.count == 0;
    state.count += count;
    if (state.words.empty() || state.words.back() != w) state.words.push_back(w);
    return is_first;
  }

  // Subtracts from the count of a pair. The map has every pair that still occurs, except the one being merged.
  void lose(PairKey key, int64_t count) {
    Pair* state = pairs.find(key);
    if (state != nullptr) state->count -= count;
  }

  // Merges from the left, one occurrence after the other, each as if it were the only one.
  void merge_in_word(uint32_t w, PairKey pair, uint32_t id) {
    std::vector<uint32_t>& tokens = words[w].tokens;
    const int64_t count = words[w].count;
    const uint32_t left = left_of(pair);
    const uint32_t right = right_of(pair);
    const auto replace = [&](PairKey old, PairKey present) {
      lose(old, count);
      if (gain(present, w, count)) born.push_back(present);
    };
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tokens.size(); i++) {
      if (tokens[i] != left || i + 1 == tokens.size() || tokens[i + 1] != right) {
        tokens[kept++] = tokens[i];
        continue;
      }
      if (kept > 0) replace(pair_key(tokens[kept - 1], left), pair_key(tokens[kept - 1], id));
      if (i + 2 < tokens.size()) replace(pair_key(right, tokens[i + 2]), pair_key(id, tokens[i + 2]));
      tokens[kept++] = id;
      i++;
    }
    tokens.resize(kept);
  }
};
