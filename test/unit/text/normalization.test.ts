import { describe, expect, test } from "bun:test";
import { randomSource } from "../../../bench/random.ts";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import * as cuttings from "../../../src/text/cutting.ts";
import type { Normalization } from "../../../src/text/normalization.ts";
import * as normalForms from "../../../src/text/normalization.ts";
import { TextSections, type TextSink } from "../../../src/text/text-sections.ts";
import { type CountOptions, countCorpus } from "../../../src/words/count-corpus.ts";
import { put, scratch } from "../../binary.ts";
import { inOrder, naiveWords } from "../../naive.ts";
import { rounds } from "../../rounds.ts";
import { entriesOf } from "../words/generators.ts";
import { hfNormalizer } from "./hf-normalizer.ts";

const seed = Number(process.env.TEST_SEED ?? 26);
/**
 * The number of trials, which some tests multiply. For more: `TEST_TRIALS=5000 node scripts/bun.mjs test
 * test/unit/text/normalization.test.ts`.
 */
const trialCount = Number(process.env.TEST_TRIALS ?? rounds(40));
const directory = scratch();

const pool: readonly (readonly string[])[] = [
  [..."aehKHitIw' .,5\r\n\t"],
  ["the ", " normal", "form ", "\n", "\n\n", "\r\n", "  ", " 12 "],
  [..."éÉñÅﬁ½²ⅧÅΣςσİßẞŉǅ漢字ｶﾞﾟが가각｟…“”’ﷺ豈𠀀😀𝒜"],
  [..."\u0301\u0316\u0323\u0345\u0334\u0327\u0344\u0338\u3099\u093c\u0e48\u05b0\u064b\u20e3\u0307"],
  [..."\u1100\u1161\u11a8\u1175\u11c2\u115f"],
  [..."\u08ca\u1ac1\u{10efd}\u{1e08f}\u{1e030}\u07fd\u{10d50}\ua7dc\u{11938}\u{11935}\u{11930}\u{1f16c}"],
  ["<|end|>"],
];
const specialTokens = ["<|end|>"];
const normalizations: readonly Normalization[] = [
  ...["NFC", "NFD", "NFKC", "NFKD", "lowercase"],
  ...["NFKC,lowercase", "lowercase,NFC", "NFD,lowercase,NFC", "NFKD,NFC", "NFC,NFD"],
];

/** Returns a text of several kinds of characters in random proportions. */
function madeText(random: ReturnType<typeof randomSource>, length: number): string {
  const weights = pool.map(() => random.below(5) ** 3);
  weights[random.below(2)]! += 1 + random.below(300);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return Array.from({ length }, () => {
    let at = random.below(total);
    const list = pool[weights.findIndex((weight) => (at -= weight) < 0)]!;
    return list[random.below(list.length)]!;
  }).join("");
}

const lowerCase = (letters: string) => letters.toLowerCase();

/** Pushes the bytes to the kernel (`TextSections`) in pieces of `pieceSize()` bytes. Returns the normalized text. */
function linked(bytes: Uint8Array, normalization: Normalization, pieceSize: () => number): Buffer {
  const parts: Buffer[] = [];
  const sections = new TextSections({ steps: normalForms.stepIndices(normalization) });
  const sink: TextSink = {
    push: (text, start, end) => void parts.push(Buffer.from(text.slice(start, end))),
    end: () => {},
    token: () => {},
    strip: () => {},
  };
  for (let pos = 0; pos < bytes.length; ) {
    const end = Math.min(bytes.length, pos + pieceSize());
    sections.push(bytes, pos, end, sink);
    pos = end;
  }
  sections.end(sink);
  return Buffer.concat(parts);
}

const counted = async (options: CountOptions) => {
  const { counter, statistics } = await countCorpus(options, () => {});
  return [entriesOf(counter.words.toWordTable()), statistics] as const;
};

/** The definition: text between special tokens is normalized as a whole. */
const naiveNormalized = (text: string, normalization: Normalization) =>
  text
    .split("<|end|>")
    .map((part) => normalForms.normalize(part, normalization))
    .join("<|end|>");

describe("text is normalized as a whole, however it arrives", () => {
  test("in pieces of any size", () => {
    for (let trial = 0; trial < 10 * trialCount; trial++) {
      const random = randomSource(seed * 1_000_003 + trial);
      const text = madeText(random, 1 + random.below(300));
      const normalization = normalizations[trial % normalizations.length]!;
      const most = 1 + random.below(40);
      const got = linked(Buffer.from(text), normalization, () => 1 + random.below(most)).toString();
      expect({ seed, trial, got }).toEqual({ seed, trial, got: hfNormalizer(normalization)(text) });
    }
  });

  test("invalid bytes stay, and adjacent text is normalized separately", () => {
    for (let trial = 0; trial < 5 * trialCount; trial++) {
      const random = randomSource(seed * 1_000_003 + trial);
      const normalization = normalizations[trial % normalizations.length]!;
      const texts = Array.from({ length: 5 }, () => madeText(random, random.below(30)));
      const wrong = texts.map(() =>
        Buffer.from([[0xff], [0xc3], [0xe2, 0x80], [0xed, 0xa0, 0x80]][random.below(4)]!),
      );
      const join = (parts: readonly string[]) =>
        Buffer.concat(parts.flatMap((part, i) => [Buffer.from(part), wrong[i]!]));
      const most = 1 + random.below(20);
      const got = linked(join(texts), normalization, () => 1 + random.below(most));
      const wanted = join(texts.map(hfNormalizer(normalization)));
      expect({ seed, trial, got: got.toString("latin1") }).toEqual({
        seed,
        trial,
        got: wanted.toString("latin1"),
      });
    }
  });

  test("the parts that change are listed, and nothing else changes except the case of ASCII letters", () => {
    for (let trial = 0; trial < 10 * trialCount; trial++) {
      const random = randomSource(seed * 1_000_003 + trial);
      const normalization = normalizations[trial % normalizations.length]!;
      const text = Buffer.from(madeText(random, 1 + random.below(300)));
      const changes: { start: number; end: number; toStart: number; toEnd: number }[] = [];
      const sections = new TextSections({ steps: normalForms.stepIndices(normalization) });
      sections.open(false, true);
      const parts: Uint8Array[] = [];
      sections.pushText(text, 0, text.length, {
        push: (bytes, start, end) => void parts.push(bytes.slice(start, end)),
        end() {},
        token() {},
        strip() {},
        change: (start, end, newSize) => {
          const before = changes.at(-1);
          const toStart = start - (before?.end ?? 0) + (before?.toEnd ?? 0);
          changes.push({ start, end, toStart, toEnd: toStart + newSize });
        },
      });
      const normalized = Buffer.concat(parts);
      const lowers = normalization.includes("lowercase");
      const kept = (bytes: Buffer) =>
        lowers ? bytes.toString("latin1").replace(/[A-Z]/g, lowerCase) : bytes.toString("latin1");
      let [pos, toPos, spelled] = [0, 0, ""];
      for (const { start, end, toStart, toEnd } of changes) {
        expect(start - pos).toBe(toStart - toPos);
        expect(text.subarray(start, end)).not.toEqual(normalized.subarray(toStart, toEnd));
        spelled += kept(text.subarray(pos, start)) + normalized.toString("latin1", toStart, toEnd);
        [pos, toPos] = [end, toEnd];
      }
      spelled += kept(text.subarray(pos));
      expect({ seed, trial, spelled }).toEqual({ seed, trial, spelled: normalized.toString("latin1") });
    }
  });

  test("text that needs more memory than there is, is refused, and the next text is right", () => {
    const { kernel } = new TextSections({ steps: normalForms.stepIndices("NFC") });
    const { exports, memory } = kernel;
    for (const byteCount of [2 ** 32 - 1, 2 ** 31, 2 ** 29]) expect(exports.pieceAddress(byteCount)).toBe(0);
    const text = Buffer.from("e\u0301");
    const address = exports.pieceAddress(text.length);
    new Uint8Array(memory.buffer).set(text, address);
    expect(exports.takePiece(text.length, 1)).toBe(2);
    const [kind, offset, size] = new Uint32Array(memory.buffer, exports.eventsAddress(), 3);
    const start = exports.sectionBytes() + offset!;
    expect([kind, Buffer.from(memory.buffer.slice(start, start + size!)).toString()]).toEqual([0, "é"]);
  });

  test("the time for a million unordered marks is linear in their number", () => {
    // U+1AC1 became a mark after Unicode 9.0, whose tables HF uses. These tables treat it as a starter, so no mark is
    // sorted across it.
    const markCount = rounds(150_000);
    const group = "\u0301\u0316\u0344\u0334\u1ac1\uff9f";
    const between = (text: string) => text.split("\u1ac1").slice(1, -1);
    for (const normalization of ["NFC", "NFKD"]) {
      const bytes = Buffer.from(`a${group.repeat(markCount)}`);
      const got = between(linked(bytes, normalization, () => 1 << 16).toString());
      const wanted = between(normalForms.normalize(group.repeat(3), normalization))[0]!;
      expect([got.length, new Set(got)]).toEqual([markCount - 1, new Set([wanted])]);
    }
    // Small pieces take linear time, too.
    const long = `a${"\u0344".repeat(markCount)}${"\u0301\u0316".repeat(markCount)}`;
    const inPieces = linked(Buffer.from(long), "NFC", () => 16).toString();
    expect(inPieces).toBe(normalForms.normalize(long, "NFC"));
    // Without newer marks among them, all marks are sorted by class, and the sort is stable.
    const all = normalForms.normalize(`a${"\u0301\u0316\u0300\u0334".repeat(100_000)}`, "NFD");
    expect(all).toBe(
      `a${"\u0334".repeat(100_000)}${"\u0316".repeat(100_000)}${"\u0301\u0300".repeat(100_000)}`,
    );
  });
});

const o200k = compiledPatterns.resolve("o200k").compiled;

test("a normalized corpus that is cut into ranges and chunks has the words of the whole one", async () => {
  for (let trial = 0; trial < trialCount; trial++) {
    const random = randomSource(seed * 1_000_003 + trial);
    const normalization = normalizations[random.below(normalizations.length)]!;
    // A text with special tokens is cut at these. Most texts have none, so that they are cut at safe cuts.
    const made = madeText(random, 3000);
    const text = trial % 4 === 0 ? made : made.replaceAll("<|end|>", "");
    const pattern = compiledPatterns.compile(patterns.gpt2.sources);
    const options = {
      inputs: findInputs([put(directory, "text", text), put(directory, "packed.gz", Bun.gzipSync(text))]),
      cutting: cuttings.plain(pattern, specialTokens, normalization),
      workerCount: 1,
      rangeSizeBytes: 100 + random.below(2000),
      chunkSizeBytes: 1 << (8 + random.below(5)),
    };
    const naive = naiveWords(naiveNormalized(text, normalization), specialTokens);
    const [words, statistics] = await counted(options);
    const documentCount = text.split("<|end|>").filter((part) => part !== "").length;
    const wanted = inOrder([...naive].map(([word, count]) => [word, 2 * count]));
    expect({ seed, trial, words }).toEqual({ seed, trial, words: wanted });
    expect(statistics.map((found) => found.documentCount)).toEqual([documentCount, documentCount]);
    expect(statistics[0]!.textBytes).toBe(Buffer.byteLength(text));
    // A pattern that distinguishes capital letters.
    const cased = { ...options, cutting: cuttings.plain(o200k, specialTokens, normalization) };
    const whole = await counted({ ...cased, rangeSizeBytes: 1 << 20, chunkSizeBytes: 1 << 20 });
    expect({ seed, trial, cut: await counted(cased) }).toEqual({ seed, trial, cut: whole });
  }
});
