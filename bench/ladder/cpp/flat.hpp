// Hash tables with open addressing and linear probing: all entries are in one array, without nodes and pointers.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

// Both token ids of a pair. Ids are at most 2^31 - 1, so no pair equals the mark of an empty slot.
using PairKey = uint64_t;
constexpr PairKey no_pair = ~PairKey(0);

inline PairKey pair_key(uint32_t left, uint32_t right) { return PairKey(left) << 32 | right; }
inline uint32_t left_of(PairKey key) { return uint32_t(key >> 32); }
inline uint32_t right_of(PairKey key) { return uint32_t(key); }

// Fibonacci hashing: the high bits of the product depend on all bits of the key.
inline uint64_t mixed(uint64_t key) {
  key ^= key >> 32;
  return key * 0x9e3779b97f4a7c15u;
}

// A map from pairs to values.
template <typename Value>
class PairMap {
 public:
  PairMap() : slots(std::size_t(1) << bits) {}

  Value& operator[](PairKey key) {
    if (2 * used >= slots.size()) grow();
    Slot& slot = slots[find_slot(key)];
    if (slot.key == no_pair) {
      slot.key = key;
      used++;
    }
    return slot.value;
  }

  // Returns the value of a pair, or nullptr.
  Value* find(PairKey key) {
    Slot& slot = slots[find_slot(key)];
    return slot.key == no_pair ? nullptr : &slot.value;
  }

  // Removes a pair, and moves entries up whose probing passed its slot.
  void erase(PairKey key) {
    const std::size_t mask = slots.size() - 1;
    std::size_t hole = find_slot(key);
    if (slots[hole].key == no_pair) return;
    used--;
    for (std::size_t at = (hole + 1) & mask; slots[at].key != no_pair; at = (at + 1) & mask) {
      const std::size_t home = mixed(slots[at].key) >> (64 - bits);
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      slots[hole] = std::move(slots[at]);
      hole = at;
    }
    slots[hole] = Slot();
  }

  template <typename Visit>
  void each(Visit visit) {
    for (Slot& slot : slots) {
      if (slot.key != no_pair) visit(slot.key, slot.value);
    }
  }

 private:
  struct Slot {
    PairKey key = no_pair;
    Value value{};
  };
  int bits = 6;
  std::vector<Slot> slots;
  std::size_t used = 0;

  std::size_t find_slot(PairKey key) const {
    const std::size_t mask = slots.size() - 1;
    std::size_t at = mixed(key) >> (64 - bits);
    while (slots[at].key != key && slots[at].key != no_pair) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    bits++;
    std::vector<Slot> old(std::size_t(1) << bits);
    old.swap(slots);
    for (Slot& slot : old) {
      if (slot.key != no_pair) slots[find_slot(slot.key)] = std::move(slot);
    }
  }
};

// A set of word ids.
class WordSet {
 public:
  void insert(uint32_t word) {
    if (4 * (used + 1) > 3 * slots.size()) grow();
    const std::size_t at = find_slot(word);
    if (slots[at] == word) return;
    slots[at] = word;
    used++;
  }

  // Removes a word, as PairMap does with a pair.
  void erase(uint32_t word) {
    if (slots.empty()) return;
    const std::size_t mask = slots.size() - 1;
    std::size_t hole = find_slot(word);
    if (slots[hole] == no_word) return;
    used--;
    for (std::size_t at = (hole + 1) & mask; slots[at] != no_word; at = (at + 1) & mask) {
      const std::size_t home = mixed(slots[at]) >> (64 - bits);
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      slots[hole] = slots[at];
      hole = at;
    }
    slots[hole] = no_word;
  }

  template <typename Visit>
  void each(Visit visit) const {
    for (const uint32_t word : slots) {
      if (word != no_word) visit(word);
    }
  }

 private:
  static constexpr uint32_t no_word = ~uint32_t(0);
  int bits = 0;
  std::vector<uint32_t> slots;
  std::size_t used = 0;

  std::size_t find_slot(uint32_t word) const {
    const std::size_t mask = slots.size() - 1;
    std::size_t at = mixed(word) >> (64 - bits);
    while (slots[at] != word && slots[at] != no_word) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    bits = bits == 0 ? 2 : bits + 1;
    std::vector<uint32_t> old(std::size_t(1) << bits, no_word);
    old.swap(slots);
    for (const uint32_t word : old) {
      if (word != no_word) slots[find_slot(word)] = word;
    }
  }
};
