import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import type { TextTokenizer } from "../../../src/library/text-tokenizer.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import { pick, type Random } from "../../random.ts";
import { randomPattern } from "../pattern/random-patterns.ts";

const behaviors = ["Isolated", "Isolated", "Removed", "Removed", "MergedWithNext", "Contiguous"];

function randomStep(random: Random): object {
  const behavior = pick(random, behaviors);
  switch (random(8)) {
    case 0:
      return { type: "Digits", individual_digits: random(2) === 0 };
    case 1:
      return {
        type: "Punctuation",
        behavior: pick(random, ["Isolated", "Contiguous", "MergedWithPrevious", "Removed"]),
      };
    case 2:
      return { type: "Split", pattern: { String: pick(random, [" ", ".", "a-b", "é"]) }, behavior };
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
      const [Regex] = pick(random, Object.values(patterns)).sources;
      return { type: "Split", pattern: { Regex }, behavior, invert: behavior === "Removed" };
    }
  }
}

const vocab = Object.fromEntries(
  Array.from({ length: 256 }, (_, byte) => [byteCharacters.encode(Uint8Array.of(byte)), byte]),
);
/** The merges of each tokenizer. No merge applies across a cut, so the ids depend on where a text is cut. */
const pairs = ["a b", "b a", "Ġ a", "1 2", "a a", "Ã ©", "Ġ Ġ", "s s"];
pairs.forEach((pair, i) => {
  vocab[pair.replace(" ", "")] = 256 + i;
});

/** Returns a tokenizer.json with a random pre-tokenizer. */
export function randomFile(random: Random): object {
  const steps = Array.from({ length: random(3) }, () => randomStep(random));
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, use_regex: random(2) === 0 };
  const normalizer = random(4) === 0 ? { type: pick(random, ["NFC", "NFKC"]) } : null;
  const model = { type: "BPE", vocab, merges: pairs };
  return {
    version: "1.0",
    normalizer,
    pre_tokenizer: { type: "Sequence", pretokenizers: [...steps, byteLevel] },
    decoder: { type: "ByteLevel" },
    model,
  };
}

/** Returns the results of a tokenizer for these texts, or the reason why its file is refused. */
export function told(
  Tokenizer: Pick<typeof TextTokenizer, "from">,
  file: string | object,
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
