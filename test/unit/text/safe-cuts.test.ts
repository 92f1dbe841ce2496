import { expect, test } from "bun:test";
import { tokenizerOfJson } from "../../../src/formats/tokenizer-json.ts";
import type { PatternTables } from "../../../src/pattern/compiled-pattern.ts";
import { cutText, findSafeCut } from "../../../src/pattern/cut-text.ts";
import { KernelScan } from "../../../src/pattern/kernel-scan.ts";
import * as kernels from "../../../src/runtime/kernel.ts";
import { placeInKernel } from "../../../src/tokenizer/encoding-kernel.ts";
import { pick, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { triedPatterns } from "../pattern/names.ts";
import { jsonOf, writeTokenizer } from "../tokenizer/made-tokenizer.ts";
import { pieces } from "./made-trials.ts";

const seed = Number(process.env.TEST_SEED ?? 17);

/** Sets up the kernel's search for cuts in a text without added tokens. */
function kernelOf(parts: ReturnType<typeof tokenizerOfJson>) {
  const kernel = kernels.createForEncoding();
  const { exports, memory } = kernel;
  placeInKernel(kernel, { model: parts.model, isNarrow: parts.isNarrow, cuts: "nowhere" });
  KernelScan.create(kernel, parts.pattern.automata);
  const [{ stateCount }] = parts.pattern.automata as [PatternTables];
  expect([exports.useSafeCuts!(stateCount), exports.setTextBytes(1 << 16)]).toEqual([1, 1]);
  return (text: Uint8Array, from: number, isStart: boolean, wantsLast: boolean) => {
    new Uint8Array(memory.buffer, exports.textAddress() >>> 0, text.length).set(text);
    const { length } = text;
    return exports.findSafeCut!(from, length, length, Number(isStart), Number(wantsLast));
  };
}

const edges = [" ", "\n", "  ", "a", "'s", "'", "12", "漢", "é", "\u0301", "Ａ", "ب", "\u3000", "!", "🙂"];

/**
 * Checks that a cut is safe. Cutting only the text after it must give the same pretokens as cutting the whole text. And
 * the pretokens before it must stay the same, whatever follows the character at the cut.
 */
function expectSafe(
  parts: ReturnType<typeof tokenizerOfJson>,
  text: Uint8Array,
  cut: number,
  random: (n: number) => number,
): void {
  const { pattern } = parts;
  const after = cutText(pattern, text.subarray(cut)).map((end) => cut + end);
  const before = cutText(pattern, text).filter((end) => end < cut);
  expect(cutText(pattern, text)).toEqual([...before, cut, ...after]);
  // Text after the character at the cut must not change the ends before it.
  const character = [...Buffer.from(text.subarray(cut)).toString()][0]!;
  const hostile = Array.from({ length: random(6) }, () => pick(random, edges)).join("");
  const other = Buffer.concat([text.subarray(0, cut), Buffer.from(character + hostile)]);
  if (character === "\ufffd") return;
  expect(cutText(pattern, other).filter((end) => end <= cut)).toEqual([...before, cut]);
}

test("the kernel finds the first and the last safe cut of a pattern, whatever comes before and after", () => {
  let [foundCount, beyondAscii] = [0, 0];
  for (const [n, name] of triedPatterns.entries()) {
    const parts = tokenizerOfJson(Buffer.from(JSON.stringify(jsonOf(writeTokenizer(name)))), name);
    const find = kernelOf(parts);
    const isAnnotated = parts.pattern.automata[0]!.annotation !== undefined;
    for (let round = 0; round < rounds(40); round++) {
      const random = randomNumbers(seed * 1_000_003 + 1009 * n + round);
      const alphabet = Array.from({ length: 1 + random(5) }, () => pick(random, [...edges, ...pieces]));
      const words = Array.from({ length: random(30) }, () => pick(random, alphabet));
      const text = new Uint8Array(Buffer.from(words.join("")));
      if (random(4) === 0 && text.length > 0) text[random(text.length)] = random(256);
      const from = random(text.length + 1);
      const about = { seed, name, round, from, text: Buffer.from(text).toString("latin1") };
      const first = find(text, from, false, false);
      const view = new DataView(text.buffer);
      const twin = findSafeCut(
        parts.pattern,
        { bytes: text, view },
        Math.max(from, 1),
        text.length,
        text.length,
      );
      if (!isAnnotated && from > 0) expect({ ...about, first }).toEqual({ ...about, first: twin });
      const last = find(text, 0, true, true);
      expect({ ...about, isLast: last >= first }).toEqual({ ...about, isLast: true });
      for (const cut of [first, last, find(text, from, false, true), find(text, from, true, false)]) {
        if (cut < 0) continue;
        expect({ ...about, cut: cut >= from || cut === last }).toEqual({ ...about, cut: true });
        expectSafe(parts, text, cut, random);
        foundCount++;
        if (text[cut]! > 127) beyondAscii++;
      }
    }
  }
  expect([foundCount > rounds(100), beyondAscii > rounds(10)]).toEqual([true, true]);
});
