// The best of the ways that published reports describe: flat hash maps from each pair to its count, and to a flat hash
// set of exactly the words that hold it. The differences of a merge are first gathered in a separate map, and then applied.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "trainer.hpp"

class ExactIndexTrainer {
 public:
  explicit ExactIndexTrainer(std::vector<Word> the_words) : words(std::move(the_words)) {
    for (uint32_t w = 0; w < words.size(); w++) {
      const std::vector<uint32_t>& tokens = words[w].tokens;
      for (std::size_t i = 0; i + 1 < tokens.size(); i++) {
        const PairKey key = pair_key(tokens[i], tokens[i + 1]);
        counts[key] += words[w].count;
        holders[key].insert(w);
      }
    }
  }

  std::vector<Entry> entries() {
    std::vector<Entry> all;
    counts.each([&](PairKey key, int64_t count) { all.push_back({count, key}); });
    return all;
  }

  int64_t count_of(PairKey pair) {
    const int64_t* count = counts.find(pair);
    return count == nullptr ? 0 : *count;
  }

  void merge(PairKey pair, uint32_t id, Queue& queue) {
    const WordSet affected = std::move(*holders.find(pair));
    PairMap<int64_t> differences;
    affected.each([&](uint32_t w) { merge_in_word(w, pair, id, differences); });
    counts.erase(pair);
    holders.erase(pair);
    differences.each([&](PairKey key, int64_t difference) {
      if (difference == 0 || key == pair) return;
      const int64_t count = counts[key] += difference;
      if (difference > 0) queue.push({count, key});
      if (count > 0) return;
      counts.erase(key);
      holders.erase(key);
    });
  }

 private:
  std::vector<Word> words;
  PairMap<int64_t> counts;
  PairMap<WordSet> holders;
  std::vector<PairKey> lost;

  static bool holds(const std::vector<uint32_t>& tokens, PairKey pair) {
    for (std::size_t i = 0; i + 1 < tokens.size(); i++) {
      if (pair_key(tokens[i], tokens[i + 1]) == pair) return true;
    }
    return false;
  }

  // Merges from the left, one occurrence after the other, each as if it were the only one.
  void merge_in_word(uint32_t w, PairKey pair, uint32_t id, PairMap<int64_t>& differences) {
    std::vector<uint32_t>& tokens = words[w].tokens;
    const int64_t count = words[w].count;
    const uint32_t left = left_of(pair);
    const uint32_t right = right_of(pair);
    lost.clear();
    const auto replace = [&](PairKey old, PairKey present) {
      differences[old] -= count;
      differences[present] += count;
      holders[present].insert(w);
      if (old != pair) lost.push_back(old);
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
    for (const PairKey old : lost) {
      if (!holds(tokens, old)) holders[old].erase(w);
    }
  }
};
