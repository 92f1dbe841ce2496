import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileLibrary } from "../scripts/npm/compile.ts";
import { encodeBytes } from "../src/bytes/byte-characters.ts";
import { UserError } from "../src/errors.ts";
import { patterns } from "../src/pattern/pattern.ts";
import { TextTokenizer } from "../src/pipeline/text-tokenizer.ts";
import { Random } from "./pattern/naive.ts";
import { randomPattern, randomText } from "./pattern/random-patterns.ts";
import { rounds } from "./rounds.ts";

const directory = mkdtempSync(join(tmpdir(), "bpe-browser-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const behaviors = ["Isolated", "Isolated", "Removed", "Removed", "MergedWithNext"];

function randomStep(random: Random): object {
  const behavior = random.pick(behaviors);
  switch (random.below(8)) {
    case 0:
      return { type: "Digits", individual_digits: random.below(2) === 0 };
    case 1:
      return { type: "Punctuation", behavior: random.pick(["Isolated", "Contiguous", "Removed"]) };
    case 2:
      return { type: "Split", pattern: { String: random.pick([" ", ".", "a-b", "é"]) }, behavior };
    case 3:
      return {
        type: "Split",
        pattern: { Regex: `${randomPattern(random)}|[\\s\\S]` },
        behavior,
        invert: true,
      };
    case 4:
      return { type: "Split", pattern: { Regex: randomPattern(random) }, behavior, invert: false };
    default: {
      const [Regex] = random.pick(Object.values(patterns)).sources;
      return { type: "Split", pattern: { Regex }, behavior, invert: behavior === "Removed" };
    }
  }
}

const vocab = Object.fromEntries(
  Array.from({ length: 256 }, (_, byte) => [encodeBytes(Uint8Array.of(byte)), byte]),
);
/** Merges show where a text is cut. */
const pairs = ["a b", "b a", "Ġ a", "1 2", "a a", "Ã ©", "Ġ Ġ", "s s"];
pairs.forEach((pair, i) => {
  vocab[pair.replace(" ", "")] = 256 + i;
});

function randomFile(random: Random): object {
  const steps = Array.from({ length: random.below(3) }, () => randomStep(random));
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, use_regex: random.below(2) === 0 };
  const normalizer = random.below(4) === 0 ? { type: random.pick(["NFC", "NFKC"]) } : null;
  const model = { type: "BPE", vocab, merges: pairs };
  return {
    version: "1.0",
    normalizer,
    pre_tokenizer: { type: "Sequence", pretokenizers: [...steps, byteLevel] },
    decoder: { type: "ByteLevel" },
    model,
  };
}

/** What a tokenizer makes of texts, or the reason why there is no such tokenizer. */
function told(
  Tokenizer: Pick<typeof TextTokenizer, "from">,
  file: object,
  texts: readonly string[],
): unknown {
  try {
    const tokenizer = Tokenizer.from(file);
    const stream = tokenizer.stream();
    return texts.map((text) => {
      const ids = tokenizer.encode(text);
      return {
        ids: [...ids],
        isMore: tokenizer.count(text, { limit: 3 }),
        last: tokenizer.truncate(text, 3, { keep: "end" }),
        chunks: tokenizer.chunks(text, 12, { overlap: 2 }),
        decoded: stream.push(ids) + stream.end(),
      };
    });
  } catch (error) {
    return String(error);
  }
}

test("a tokenizer.json is loaded in a browser as it is elsewhere, or refused with the same reason", async () => {
  await compileLibrary("browser", directory, "");
  const browser = await import(join(directory, "browser/browser.js"));
  const seed = 20261124;
  const random = new Random(seed);
  let loadedCount = 0;
  for (let round = 0; round < rounds(30); round++) {
    const file = randomFile(random);
    const texts = Array.from({ length: 4 }, () => randomText(random, 20));
    const wanted = told(TextTokenizer, file, texts);
    expect({ seed, file, told: told(browser.Tokenizer, file, texts) }).toEqual({ seed, file, told: wanted });
    if (typeof wanted !== "string") loadedCount++;
    else expect(wanted).toStartWith(new UserError("").toString());
  }
  expect(loadedCount).toBeGreaterThan(rounds(8));
});
