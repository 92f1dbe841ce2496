import { expect, test } from "bun:test";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { madeText } from "../tokenizer/made-merges.ts";
import { jsonOf, specialTokens, writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 5);
const base = jsonOf(writeTokenizer("gpt2"));
const tokenizer = Tokenizer.from(base);

/** Returns texts of many sizes, some of them as bytes. */
function batchOf(random: (below: number) => number, count: number): (string | Uint8Array)[] {
  return Array.from({ length: count }, () => {
    const text =
      madeText(random(1000), random(300)).repeat(1 + random(20)) + (specialTokens[random(9)] ?? "");
    return random(4) === 0 ? Buffer.from(text) : text;
  });
}

test("threads give the result of encodeBatch, even in several calls at once", async () => {
  const random = randomNumbers(seed);
  for (let round = 0; round < rounds(3); round++) {
    const calls = Array.from({ length: 3 }, (_, i) => ({
      texts: batchOf(random, [0, 1, 300][i]!),
      options: { specialTokensAsText: random(2) === 1, addSpecialTokens: random(2) === 1 },
    }));
    const answers = calls.map(({ texts, options }) =>
      tokenizer.encodeBatchAsync(texts, { ...options, workers: 1 + random(3) }),
    );
    for (const [i, answer] of (await Promise.all(answers)).entries())
      expect(answer).toEqual(tokenizer.encodeBatch(calls[i]!.texts, calls[i]!.options));
  }
  const withBos = Tokenizer.from({
    ...base,
    post_processor: {
      type: "BertProcessing",
      sep: [specialTokens[0], tokenizer.specialTokens.get(specialTokens[0]!)],
      cls: [specialTokens[1], tokenizer.specialTokens.get(specialTokens[1]!)],
    },
  });
  const options = { addSpecialTokens: true };
  expect(await withBos.encodeBatchAsync(["a", ""], options)).toEqual(withBos.encodeBatch(["a", ""], options));
  withBos.dispose();
});

test("a signal, a mistake and dispose end a batch with their reason, and the next one is right", async () => {
  const texts = Array.from({ length: 200 }, (_, i) => madeText(i, 20_000));
  const stop = new AbortController();
  const aborted = tokenizer.encodeBatchAsync(texts, { workers: 2, signal: stop.signal });
  setTimeout(() => stop.abort(new Error("enough")), 5);
  await expect(aborted).rejects.toThrow("enough");
  await expect(tokenizer.encodeBatchAsync(["a"], { signal: stop.signal })).rejects.toThrow("enough");
  expect(await tokenizer.encodeBatchAsync(["low"])).toEqual(tokenizer.encodeBatch(["low"]));
  await expect(tokenizer.encodeBatchAsync(["a", 5 as never])).rejects.toThrow(
    "encodeBatchAsync: texts[1] is 5",
  );
  await expect(tokenizer.encodeBatchAsync([], { workers: 0 })).rejects.toThrow(
    "encodeBatchAsync: workers is 0",
  );
  const other = Tokenizer.from(base);
  const ended = other.encodeBatchAsync(texts, { workers: 2 });
  setTimeout(() => other.dispose(), 5);
  await expect(ended).rejects.toThrow("the tokenizer was disposed while a batch was encoded");
  await expect(other.encodeBatchAsync(["a"])).rejects.toThrow("the tokenizer was disposed");
});

test("the process ends when its batches are encoded, though threads wait for more", async () => {
  const script = `import { Tokenizer } from "./src/library/tokenizer.ts";
    const tokenizer = Tokenizer.from(${JSON.stringify(JSON.stringify(base))});
    console.log([...(await tokenizer.encodeBatchAsync(["low", "lower"], { workers: 2 })).offsets].length);`;
  const startMs = performance.now();
  const { stdout, exitCode } = Bun.spawnSync([process.execPath, "-e", script]);
  expect([stdout.toString(), exitCode]).toEqual(["3\n", 0]);
  expect(performance.now() - startMs).toBeLessThan(10_000);
});
