/** A change by its file, the line before it, the line, and what that becomes, without their indents. */
export type Explained = {
  readonly file: string;
  readonly before: string;
  readonly line: string;
  readonly changed: string;
};

/** Changes that no test can see, because the result is the same, or that are not worth a test; and why. */
export const explained: readonly (Explained & { readonly why: string })[] = [
  {
    file: "src/merge/long-tokens.ts",
    before: "if (sharedByOthers < sharedBelow) return { place, sharedBelow, sharedAbove: sharedByOthers };",
    line: "if (sharedByOthers > sharedBelow) continue;",
    changed: ";",
    why: "Saves looking at bytes: the comparison that follows finds the same order and the same number of shared bytes.",
  },
  {
    file: "src/merge/tie-rules.ts",
    before: "export function tieRuleOf(compat: Compat, specialTokens: readonly string[]): TieRule {",
    line: "const plain = { specialTokens: [], specialIndexOf: () => -1 };",
    changed: "const plain = { specialTokens: [], specialIndexOf: () => -2 };",
    why: "Only whether it is below 0 is asked.",
  },
  {
    file: "src/cache/directory.ts",
    before: "const { stats } = this;",
    line: "if (!isOpenToAll(stats)) return names;",
    changed: ";",
    why: "Saves looking at each file: in a directory that is not open to all, `isTrusted` says yes to every one.",
  },
  {
    file: "src/cache/tables.ts",
    before: "let pos = 0;",
    line: "while (pos < stop && bytes[start + pos] === otherBytes[otherStart + pos]) pos++;",
    changed: "while (pos <= stop && bytes[start + pos] === otherBytes[otherStart + pos]) pos++;",
    why: "Behind `stop` only `pos < stop` is asked, and the answer stays no.",
  },
  {
    file: "src/publish/result.ts",
    before: "} catch {",
    line: "return false;",
    changed: "return true;",
    why: "Only where there is no /proc/self/mountinfo: not on a machine that runs the tests.",
  },
  {
    file: "src/publish/kept.ts",
    before: "} finally {",
    line: "closeSync(fd);",
    changed: ";",
    why: "One descriptor for each kept result stays open until the process ends.",
  },
  {
    file: "src/write-result.ts",
    before: "mergeMs: Math.round(trained.mergeMs),",
    line: "writeMs: Math.round(nowMs - writeStartMs),",
    changed: "writeMs: Math.round(nowMs + writeStartMs),",
    why: "A time for people; what time it was is not tested.",
  },
  {
    file: "src/words/sort.ts",
    before: "}",
    line: "for (let bucket = 0, first = 0, sinceYield = 0; bucket < bucketCount; bucket++) {",
    changed: "for (let bucket = 1, first = 0, sinceYield = 0; bucket < bucketCount; bucket++) {",
    why: "The words of the first two buckets are then sorted as one range, to the same end.",
  },
  {
    file: "src/words/word-table.ts",
    before: "}",
    line: "const starts = new Uint32Array(words.length + 1);",
    changed: "const starts = new Uint32Array(words.length + 2);",
    why: "One number more at the end of an array, which nobody reads.",
  },
  {
    file: "src/count/memory.ts",
    before: "const isSizeKnown = inputs.every(isPlain) && !hasUnsortedCounts;",
    line: "if (isSizeKnown && sizeOfRanges(ranges) * wordBytesPerTextByte <= wordBytesMax) return undefined;",
    changed:
      "if (isSizeKnown && sizeOfRanges(ranges) * wordBytesPerTextByte < wordBytesMax) return undefined;",
    why: "Whether words may go to disk where there is room for them to the byte: the result is the same.",
  },
  {
    file: "src/count/count-corpus.ts",
    before: "await nextTurn();",
    line: "if (shared.isStopped) return;",
    changed: ";",
    why: "After a failure this thread goes on in vain for a while; the failure is told all the same.",
  },
  {
    file: "src/runtime/give-back.ts",
    before: "const pageBytes = 1 << 16;",
    line: "const worthwhileBytes = 1 << 20;",
    changed: "const worthwhileBytes = 1 << 21;",
    why: "From which size on memory is given back: the array is zero either way.",
  },
  {
    file: "src/runtime/give-back.ts",
    before: "const end = Math.floor((address + array.byteLength) / pageBytes) * pageBytes;",
    line: "const isGiven = end - start >= worthwhileBytes && discardPages(start, end - start);",
    changed: "const isGiven = end + start >= worthwhileBytes && discardPages(start, end - start);",
    why: "Smaller arrays are given back, too: they are zero either way, and a size below 0 is refused by the system.",
  },
  {
    file: "src/runtime/give-back.ts",
    before: "}",
    line: "array.fill(0, 0, (start - address) / 4);",
    changed: "array.fill(0, 0, (start - address) * 4);",
    why: "More is filled with the zeros that it holds already.",
  },
  {
    file: "src/runtime/give-back.ts",
    before:
      "/** Pages of every size that Linux has on x64 and arm64 but huge ones, which the kernel splits. */",
    line: "const pageBytes = 1 << 16;",
    changed: "const pageBytes = 2 << 16;",
    why: "Less is given back at the ends, and filled with zeros instead.",
  },
  {
    file: "src/merge/engine.ts",
    before: "rule,",
    line: "pairs: createPairs(Math.min(4 * limits.mergeCountMax, cellCount / 8)),",
    changed: "pairs: createPairs(Math.min(5 * limits.mergeCountMax, cellCount / 8)),",
    why: "A first capacity: the tables grow as they must.",
  },
  {
    file: "src/merge/neighbours.ts",
    before: "const pos = entries[k]!;",
    line: "sum ^= cells[pos - 1]! ^ cells[pos + length]!;",
    changed: "sum ^= cells[pos - 2]! ^ cells[pos + length]!;",
    why: "Loads ahead of their use: the sum says nothing.",
  },
  {
    file: "src/merge/neighbours.ts",
    before: "const pos = entries[k]!;",
    line: "sum ^= cells[pos - 1]! ^ cells[pos + length]!;",
    changed: "sum ^= cells[pos + 1]! ^ cells[pos + length]!;",
    why: "Loads ahead of their use: the sum says nothing.",
  },
  {
    file: "src/merge/pairs.ts",
    before: "function growRecords(pairs: Pairs): void {",
    line: "const capacity = pairs.lefts.length * 2;",
    changed: "const capacity = pairs.lefts.length * 3;",
    why: "How much the tables grow at a time.",
  },
  {
    file: "src/merge/engine.ts",
    before: "tokens.tieKeys[id] = rule.tieKey(tokens, id, specialIndex);",
    line: "if (rule.comparesBytes && isLong(tokens, id)) insertLongToken(longTokens, tokens, id);",
    changed: "if (rule.comparesBytes || isLong(tokens, id)) insertLongToken(longTokens, tokens, id);",
    why: "More tokens are put in order than are asked for: only two long ones are compared by their places.",
  },
  {
    file: "src/merge/merge-pair.ts",
    before: "}",
    line: "pairs.listLengths[p] = 0;",
    changed: "pairs.listLengths[p] = 1;",
    why: "The list of a merged pair, whose count is 0: nobody reads it again, and it is dropped when the arena makes room.",
  },
  {
    file: "src/merge/merge-pair.ts",
    before: "}",
    line: "pairs.listLengths[p] = 0;",
    changed: "pairs.listLengths[p] = 1;",
    why: "The list of a merged pair, whose count is 0: nobody reads it again, and it is dropped when the arena makes room.",
  },
  {
    file: "src/merge/pair-index.ts",
    before: "if (count >= countMax) throwCountTooLarge();",
    line: "if (!mayMerge(rooms, key >> 8, key & 255)) continue;",
    changed: "if (!mayMerge(rooms, key >> 9, key & 255)) continue;",
    why: "Only the lengths of two bytes are asked, which are all 1.",
  },
  {
    file: "src/words/long-words.ts",
    before: "hashes[i] = hash;",
    line: "sum ^= lanes[(hash >>> shift) << 1]!;",
    changed: "sum ^= lanes[(hash >>> shift) << 2]!;",
    why: "Loads ahead of their use: the sum says nothing.",
  },
  {
    file: "src/words/counter.ts",
    before: "} else if (end - start <= middleBytesMax) {",
    line: "reserveSlots(tables.middle, middleLayout, 1);",
    changed: "reserveSlots(tables.middle, middleLayout, 2);",
    why: "Room for one word more than is added.",
  },
  {
    file: "src/nearest.ts",
    before: "const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);",
    line: "next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));",
    changed: "next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 2));",
    why: "Which name is offered for one that was mistyped: at most a worse guess.",
  },
  {
    file: "src/vocabulary/formats/chunk.ts",
    before: "get isFull(): boolean {",
    line: "return this.length >= fullBytes;",
    changed: "return this.length > fullBytes;",
    why: "Where a file is cut into chunks: its bytes are the same.",
  },
  {
    file: "src/merge/pair-index.ts",
    before: "let entryCount = 0;",
    line: "for (let p = 0; p < all.count; p++) {",
    changed: "for (let p = 0; p <= all.count; p++) {",
    why: "The record behind the last has count 0, or none: below the gate.",
  },
];
