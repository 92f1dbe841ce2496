import { describe, expect, test } from "bun:test";
import { paddingBytes } from "../../src/bytes/text.ts";
import { compileBoundless, createSplitter, findSafeCut } from "../../src/pattern/pattern.ts";
import { Random } from "../pattern/naive.ts";
import { naivePretokens } from "./naive.ts";
import { scriptOfCharacter } from "./scripts-of-unicode.ts";

const compiled = compileBoundless();
const seed = 20261122;

const textOf = (bytes: Uint8Array) => {
  const padded = new Uint8Array(bytes.length + paddingBytes);
  padded.set(bytes);
  return { bytes: padded, view: new DataView(padded.buffer) };
};

/** Ends of the pretokens of valid text from byte `start` on. */
function naiveEnds(text: string, start = 0): number[] {
  let end = start;
  return naivePretokens(text, scriptOfCharacter).map((pretoken) => {
    end += Buffer.byteLength(pretoken);
    return end;
  });
}

/** Ends as a splitter finds them that reads [start, end) in blocks, and sees nothing of what is around it. */
function endsOf(bytes: Uint8Array, start: number, end: number, blockSize: () => number): number[] {
  const splitter = createSplitter(compiled);
  const found: number[] = [];
  // What was taken is dropped from the text's front, as a window of a reader does it.
  let base = start;
  let text = textOf(bytes.subarray(base, end));
  const take = () => {
    for (let i = 1; i < splitter.endCount; i++) found.push(base + splitter.ends[i]!);
    splitter.take();
    const delta = splitter.ends[0]!;
    splitter.shift(delta);
    base += delta;
    text = textOf(bytes.subarray(base, end));
  };
  splitter.start(0);
  while (base + splitter.pos < end) {
    const stop = Math.min(splitter.pos + blockSize(), end - base);
    splitter.scan(text, stop, Math.min(stop + 5, end - base));
    take();
  }
  while (!splitter.finish(end - base)) take();
  take();
  return found;
}

const alphabets = [
  "aZ '\n.",
  "abé中あ ーー 한\u0301'st1。",
  "aя中ไ่ກ ー〆µª\u0301\u20dd\n/12Ⅷ!;։",
  "abcdef ghi.\n, The'sſ\u2029\t \r",
  "ー〆µ가中ア1 \n.'s",
];

function randomText(random: Random, lengthMax: number): string {
  const characters = [...random.pick(alphabets)];
  return Array.from({ length: random.below(lengthMax + 1) }, () => random.pick(characters)).join("");
}

describe("script-aware pretokens", () => {
  test("are those of the naive twin, however the text arrives", () => {
    const random = new Random(seed);
    for (let trial = 0; trial < 4000; trial++) {
      const text = randomText(random, 24);
      const bytes = Buffer.from(text);
      const found = endsOf(bytes, 0, bytes.length, () => 1 + random.below(6));
      expect({ seed, trial, text, found }).toEqual({ seed, trial, text, found: naiveEnds(text) });
    }
  });

  test("go on at a safe cut as if a text began there, and no word run crosses it", () => {
    const random = new Random(seed + 1);
    let cutCount = 0;
    for (let trial = 0; trial < 6000; trial++) {
      const text = randomText(random, 30);
      const parts = [text.slice(0, 5), text.slice(5)].map((part) => Buffer.from(part.toWellFormed()));
      const isValid = random.below(3) > 0;
      const bytes = isValid ? Buffer.from(text) : Buffer.concat([parts[0]!, Buffer.of(0xff), parts[1]!]);
      const from = random.below(bytes.length + 1);
      const cut = findSafeCut(compiled, textOf(bytes), from, bytes.length, bytes.length);
      if (cut < 0) continue;
      cutCount++;
      const whole = isValid ? naiveEnds(text) : endsOf(bytes, 0, bytes.length, () => 40);
      const found = [
        ...endsOf(bytes, 0, cut, () => 1 + random.below(6)),
        ...endsOf(bytes, cut, bytes.length, () => 1 + random.below(6)),
      ];
      expect({ seed, trial, text, from, cut, found }).toEqual({ seed, trial, text, from, cut, found: whole });
      const start = whole[whole.indexOf(cut) - 1] ?? 0;
      expect(bytes.toString("utf8", start, cut)).not.toMatch(/\p{L}/u);
    }
    expect(cutCount).toBeGreaterThan(300);
  });

  test("are not cut where an invalid byte hides what the script was", () => {
    const bytes = Buffer.concat([Buffer.from("中"), Buffer.of(0xff), Buffer.from("µµ.中")]);
    expect(findSafeCut(compiled, textOf(bytes), 0, bytes.length, bytes.length)).toBe(-1);
    const valid = Buffer.from("中µµ.中");
    expect(findSafeCut(compiled, textOf(valid), 0, valid.length, valid.length)).toBe(8);
  });

  test("end at an invalid byte, which is one by itself", () => {
    const random = new Random(seed + 2);
    for (let trial = 0; trial < 1000; trial++) {
      const parts = Array.from({ length: 1 + random.below(4) }, () => randomText(random, 10));
      const bytes = Buffer.concat(
        parts.flatMap((part, i) => (i === 0 ? [Buffer.from(part)] : [Buffer.of(0xff), Buffer.from(part)])),
      );
      const wanted: number[] = [];
      let start = 0;
      for (const [i, part] of parts.entries()) {
        if (i > 0) wanted.push(++start);
        wanted.push(...naiveEnds(part, start));
        start += Buffer.byteLength(part);
      }
      const found = endsOf(bytes, 0, bytes.length, () => 1 + random.below(6));
      expect({ seed, trial, parts, found }).toEqual({ seed, trial, parts, found: wanted });
      const splitter = createSplitter(compiled);
      splitter.start(0);
      splitter.scan(textOf(bytes), bytes.length, bytes.length);
      expect([splitter.invalidByteCount, splitter.firstInvalidPos]).toEqual([
        parts.length - 1,
        parts.length === 1 ? -1 : Buffer.byteLength(parts[0]!),
      ]);
    }
  });

  test("of long text without letters are settled before the text ends, and stay the same", () => {
    const random = new Random(seed + 3);
    const numbers = "12,345 67;\n/ 8\n".repeat(12_000);
    for (const [before, after] of [
      ["", ""],
      ["", "ー中"],
      ["中", "ー"],
      ["中", "ーa"],
      ["中", "ーー"],
      ["Ⅷ", "한"],
      ["a", "µ中"],
      ["a's\n", "'s한 ー"],
      ["か!", "."],
    ] as const) {
      const text = before + numbers + after;
      const bytes = Buffer.from(text);
      const found = endsOf(bytes, 0, bytes.length, () => 20_000 + random.below(6));
      expect({ before, after, ok: found.join() === naiveEnds(text).join() }).toEqual({
        before,
        after,
        ok: true,
      });
    }
    // A mark is a word by itself, or a sign like others, as the script has it that comes behind.
    const marked = `${"12;\u{1d165}\n".repeat(20_000)}中`;
    const found = endsOf(Buffer.from(marked), 0, Buffer.byteLength(marked), () => 20_000);
    expect(found.join() === naiveEnds(marked).join()).toBe(true);

    const splitter = createSplitter(compiled);
    const bytes = Buffer.from(numbers);
    splitter.start(0);
    splitter.scan(textOf(bytes), bytes.length, bytes.length);
    splitter.take();
    expect(bytes.length - splitter.ends[0]!).toBeLessThan(20);
  });
});
