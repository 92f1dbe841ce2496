/**
 * A number for each of some words: a hash table in JavaScript, for words that are looked up one by one.
 *
 *   ARRAY     TYPE         LENGTH        MEANING
 *   bytes     Uint8Array   grows         the words end to end
 *   starts    Int32Array   grows         word w is bytes[starts[w] .. starts[w + 1])
 *   values    Int32Array   grows         its number
 *   slots     Int32Array   power of 2    w + 1, or 0 for an empty slot; linear probing, at most half full
 *   tags      Int32Array   as slots      the hash of the word in that slot
 */
export class WordIndex {
  wordCount = 0;
  private bytes = new Uint8Array(1 << 12);
  private starts = new Int32Array(1 << 9);
  private values = new Int32Array(1 << 9);
  private slots = new Int32Array(1 << 10);
  private tags = new Int32Array(1 << 10);

  get byteCount(): number {
    return this.starts[this.wordCount]!;
  }

  /** The number of the word at bytes [start, end) of a text; `noWord` if it has none. */
  find(text: Uint8Array, start: number, end: number): number {
    const { slots, tags, starts, bytes } = this;
    const mask = slots.length - 1;
    const hash = hashOf(text, start, end);
    const length = end - start;
    for (let slot = hash & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      if (tags[slot] !== hash) continue;
      const word = slots[slot]! - 1;
      const from = starts[word]!;
      if (starts[word + 1]! - from !== length) continue;
      let i = 0;
      while (i < length && bytes[from + i] === text[start + i]) i++;
      if (i === length) return this.values[word]!;
    }
    return noWord;
  }

  /** Adds a word that is not there. */
  add(text: Uint8Array, start: number, end: number, value: number): void {
    const word = this.wordCount++;
    const from = this.starts[word]!;
    const to = from + end - start;
    if (this.wordCount + 1 > this.starts.length) {
      this.starts = longer(this.starts, new Int32Array(2 * this.starts.length));
      this.values = longer(this.values, new Int32Array(2 * this.values.length));
    }
    if (to > this.bytes.length) this.bytes = longer(this.bytes, new Uint8Array(2 * to));
    this.bytes.set(text.subarray(start, end), from);
    this.starts[word + 1] = to;
    this.values[word] = value;
    if (2 * this.wordCount > this.slots.length) this.growSlots();
    else this.insert(word, hashOf(text, start, end));
  }

  /** Forgets all words, and keeps the memory. */
  clear(): void {
    this.wordCount = 0;
    this.slots.fill(0);
  }

  private growSlots(): void {
    this.slots = new Int32Array(2 * this.slots.length);
    this.tags = new Int32Array(this.slots.length);
    for (let word = 0; word < this.wordCount; word++) {
      this.insert(word, hashOf(this.bytes, this.starts[word]!, this.starts[word + 1]!));
    }
  }

  private insert(word: number, hash: number): void {
    const { slots, tags } = this;
    const mask = slots.length - 1;
    let slot = hash & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = word + 1;
    tags[slot] = hash;
  }
}

/** What `find` returns for a word that was not added; no word may have it as its number. */
export const noWord = -0x80000000;

/** FNV-1a, and its high bits into the low ones, which choose the slot. */
function hashOf(text: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let pos = start; pos < end; pos++) hash = Math.imul(hash ^ text[pos]!, 0x01000193);
  return hash ^ (hash >>> 15);
}

function longer<T extends Uint8Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
