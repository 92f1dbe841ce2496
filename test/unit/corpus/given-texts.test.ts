import { expect, test } from "bun:test";
import { inputOfTexts, type Texts } from "../../../src/corpus/given-texts.ts";
import { openTextStream } from "../../../src/corpus/text-stream.ts";
import { isSmallScale } from "../../../src/runtime/scale.ts";

/**
 * Reads all lines of texts, `bytesMax` bytes at a time. Also returns how often it was asked whether a turn of the event
 * loop is due, and how many turns there were. A turn is due at every `dueEvery`-th question.
 */
async function linesOf(texts: Texts, bytesMax: number, dueEvery = Number.POSITIVE_INFINITY) {
  let askCount = 0;
  let turnCount = 0;
  const turns = {
    get isDue() {
      return ++askCount % dueEvery === 0;
    },
    turn: async () => void turnCount++,
  };
  const stream = await openTextStream(inputOfTexts(texts, turns));
  const parts: Uint8Array[] = [];
  for (;;) {
    const into = new Uint8Array(bytesMax + 3);
    const count = await stream.read(into, 3);
    if (count === 0) break;
    parts.push(into.subarray(3, 3 + count));
  }
  stream.close();
  return { lines: Buffer.concat(parts).toString(), askCount, turnCount };
}

const lineOf = (text: string) => `${JSON.stringify({ text: text.toWellFormed() })}\n`;

test("each text is a line, including a text that is converted in parts, wherever these begin", async () => {
  const part = 1 << 16;
  const fox = "🦊";
  const texts = [
    "",
    'a "b" \\ \n\u2028\0',
    ...[-2, -1, 0, 1].flatMap((by) => {
      const start = "a".repeat(part + by);
      return [start, `${start}${fox}b`, `${start}\ud83e`, `${start}\ud83e\ud83e\udd8a`, `${start}\udd8a`];
    }),
    fox.repeat(part + 5),
    "",
  ];
  async function* asAsync() {
    yield* texts;
  }
  for (const bytesMax of [4096, 1 << 20]) {
    for (const given of [texts, texts.values(), asAsync()])
      expect((await linesOf(given, bytesMax)).lines).toBe(texts.map(lineOf).join(""));
  }
});

test("before every text, and every part of a text, the event loop runs if it is due", async () => {
  const texts = Array.from({ length: 100 }, (_, i) => `text ${i}`);
  const each = await linesOf(texts, 1 << 20, 1);
  expect(each.turnCount).toBeGreaterThanOrEqual(texts.length);
  // At small scale, each text is converted in two parts.
  const parts = isSmallScale ? 2 : 1;
  expect((await linesOf(texts, 1 << 20, 10)).turnCount).toBeWithin(10 * parts, 12 * parts);
  const long = await linesOf(["a".repeat(20 * (1 << 16))], 1 << 20, 1);
  expect(long.turnCount).toBeGreaterThanOrEqual(20);
});
