import { expect, test } from "bun:test";
import { TextTokenizer } from "../../../src/library/text-tokenizer.ts";
import * as obstacles from "../../../src/tokenizer/offset-obstacles.ts";
import { TextEncoding, TextNotes } from "../../../src/tokenizer/text-encoding.ts";
import { rounds } from "../../rounds.ts";
import { errorOf } from "../../thrown.ts";
import { madeTrial } from "../text/made-trials.ts";
import { jsonOf, specialTokens, writeTokenizer } from "../tokenizer/made-tokenizer.ts";
import { OffsetFinder } from "../tokenizer/naive-offsets.ts";

const seed = Number(process.env.TEST_SEED ?? 23);
const base = jsonOf(writeTokenizer("gpt2"));

/** Returns the naive offsets of a text. Offsets in characters count UTF-16 code units. */
function naiveOffsets({ parts }: TextTokenizer, text: string, unit: "bytes" | "characters") {
  const notes = new TextNotes();
  const encoding = new TextEncoding(parts, notes);
  const bytes = Buffer.from(text);
  encoding.pushText(bytes, 0, bytes.length);
  const ids = new Uint32Array(encoding.out.flush());
  const { starts, ends } = new OffsetFinder(parts).find(bytes, ids, notes, unit);
  const characters = Array.from(text);
  const positionOf = (at: number) => (unit === "bytes" ? at : characters.slice(0, at).join("").length);
  return { ids: [...ids], starts: Array.from(starts, positionOf), ends: Array.from(ends, positionOf) };
}

const plain = ({ ids, starts, ends }: ReturnType<TextTokenizer["encodeWithOffsets"]>) => ({
  ids: [...ids],
  starts: [...starts],
  ends: [...ends],
});

const trimming = (addPrefixSpace: boolean) => ({
  type: "ByteLevel",
  add_prefix_space: addPrefixSpace,
  trim_offsets: true,
  use_regex: true,
});

test("offsets are those of the naive finder, in bytes and in UTF-16 code units", () => {
  let checked = 0;
  for (let trial = 0; trial < rounds(60); trial++) {
    const { json, texts } = madeTrial(base, seed * 1_000_003 + trial);
    const post_processor = [null, trimming(true), trimming(false)][trial % 3];
    let tokenizer: TextTokenizer;
    try {
      tokenizer = TextTokenizer.from({ ...json, post_processor, ...(trial % 4 > 0 && { normalizer: null }) });
    } catch {
      continue;
    }
    for (const text of [...texts, `🦊${texts.join(" 🙃")} é`]) {
      if (!text.isWellFormed()) continue;
      const about = { seed, trial, text };
      if (obstacles.toOffsets(tokenizer.parts) !== undefined) {
        expect(() => tokenizer.encodeWithOffsets(text)).toThrow("this tokenizer has no offsets: ");
        continue;
      }
      checked++;
      const found = plain(tokenizer.encodeWithOffsets(text));
      expect({ about, ...found }).toEqual({ about, ...naiveOffsets(tokenizer, text, "characters") });
      const inBytes = plain(tokenizer.encodeWithOffsets(Buffer.from(text)));
      expect({ about, ...inBytes }).toEqual({ about, ...naiveOffsets(tokenizer, text, "bytes") });
    }
  }
  expect(checked).toBeGreaterThan(rounds(50));
});

test("the spans of a long text are those of its tokens, and ids added around it are at its start", () => {
  const [first, second] = specialTokens.map((token) => [
    token,
    base.added_tokens.find(({ content }) => content === token)!.id,
  ]);
  const json = { ...base, post_processor: { type: "BertProcessing", sep: second, cls: first } };
  const tokenizer = TextTokenizer.from(json);
  const text = `low lower ${specialTokens[0]} lowest `.repeat(20_000);
  const { ids, starts, ends } = tokenizer.encodeWithOffsets(text, { addSpecialTokens: true });
  expect([ids[0], ids.at(-1)]).toEqual([first![1] as number, second![1] as number]);
  expect([starts[0], ends[0], starts.at(-1), ends.at(-1)]).toEqual([0, 0, 0, 0]);
  let at = 0;
  for (let i = 1; i < ids.length - 1; i++) {
    if (starts[i] !== at || text.slice(at, ends[i]) !== tokenizer.decode([ids[i]!]))
      throw new Error(`token ${i}`);
    at = ends[i]!;
  }
  expect(at).toBe(text.length);
  expect([...tokenizer.encode(text, { addSpecialTokens: true })]).toEqual([...ids]);
  expect(plain(tokenizer.encodeWithOffsets(""))).toEqual({ ids: [], starts: [], ends: [] });
  // Half a surrogate pair becomes a replacement character, which is one code unit, too.
  expect(tokenizer.encodeWithOffsets("a\ud800b").ends.at(-1)).toBe(3);
});

test("a post-processor that trims in two ways is refused for strings, but has offsets in bytes", () => {
  const processors = [trimming(true), trimming(false)];
  const tokenizer = TextTokenizer.from({ ...base, post_processor: { type: "Sequence", processors } });
  expect(errorOf(() => tokenizer.encodeWithOffsets("a b")).message).toContain(
    "this tokenizer has no offsets in characters, but only in bytes",
  );
  expect([...tokenizer.encodeWithOffsets(Buffer.from("a b")).ends].at(-1)).toBe(3);
});
