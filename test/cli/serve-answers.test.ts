import { expect, test } from "bun:test";
import { Answers, type Items, kinds } from "../../src/cli/serve-answers.ts";
import { loadTokenizerParts } from "../../src/formats/load-tokenizer.ts";
import { TextEncoding } from "../../src/tokenizer/text-encoding.ts";
import { bpe, put, scratch } from "../binary.ts";

const home = scratch();
const corpus = put(home, "corpus.txt", "low lower lowest new newer 你好 ".repeat(40));
bpe(["train", corpus, "-n", "270", "-o", `${home}/tokenizer`, "-w", "1", "-q"]);
const parts = await loadTokenizerParts(`${home}/tokenizer`, {});

const itemsOf = (...items: (string | Uint8Array)[]): Items => {
  const bytes = items.map((item) => Buffer.from(item as string));
  return { sizes: Uint32Array.from(bytes, ({ length }) => length), items: Buffer.concat(bytes) };
};

/** Answers requests as `bpe serve` does, and counts the encoders that it makes. */
function served() {
  const made: TextEncoding[] = [];
  const answers = new Answers(parts, (...given) => {
    made.push(new TextEncoding(...given));
    return made.at(-1)!;
  });
  const ask = (kind: number, ...items: (string | Uint8Array)[]) => {
    const request = { kind, ...itemsOf(...items) };
    try {
      const { items: answered } = answers.answerTo(request);
      answers.tidy(request);
      return Buffer.from(answered).toString("hex");
    } catch (error) {
      answers.tidy(request, error);
      return (error as Error).message;
    }
  };
  return { made, ask };
}

const bytesOffsets = 16;
const characterOffsets = 32;
const unknown = new Uint8Array(Uint32Array.of(99_999_999).buffer);

test("a request that is refused before a text is encoded costs no encoder", () => {
  const { made, ask } = served();
  const ids = ask(kinds.encode, "lower");
  const offsets = ask(characterOffsets, "lower");
  expect(made).toHaveLength(2);
  expect(ask(kinds.decode, unknown)).toContain("stands for no token");
  expect(ask(kinds.decode, "abc")).toContain("not a whole number of ids");
  expect(ask(9, "x")).toContain("not a kind of request");
  expect(ask(characterOffsets, Uint8Array.of(0x61, 0xff))).toContain("UTF-8");
  expect(ask(kinds.encode, "lower")).toBe(ids);
  expect(ask(characterOffsets, "lower")).toBe(offsets);
  expect(made).toHaveLength(2);
});

test("an error within a text takes its encoder alone, and the next request begins anew", () => {
  for (const [kind, other] of [
    [kinds.encode, bytesOffsets],
    [bytesOffsets, kinds.encode],
  ] as const) {
    const { made, ask } = served();
    const [first, second] = [ask(kind, "lower"), ask(other, "lower")];
    const damaged = made[0]!;
    const pushText = damaged.pushText.bind(damaged);
    damaged.pushText = (bytes, start, end) => {
      pushText(bytes, start, end);
      damaged.push(Buffer.from("rest"), 0, 4);
      throw new Error("it failed");
    };
    expect(ask(kind, "lower")).toBe("it failed");
    expect(ask(other, "lower")).toBe(second);
    expect(made).toHaveLength(2);
    expect(ask(kind, "lower")).toBe(first);
    expect(made).toHaveLength(3);
  }
});

test("memory that is refused, or was needed for a long text, is given back", () => {
  const { made, ask } = served();
  ask(kinds.encode, "lower");
  ask(bytesOffsets, "lower");
  made[0]!.pushText = () => {
    throw new RangeError("Out of memory");
  };
  expect(ask(kinds.encode, "lower")).toBe("Out of memory");
  ask(bytesOffsets, "lower");
  ask(kinds.encode, "lower");
  expect(made).toHaveLength(4);
  const long = "low ".repeat(1.1e6);
  ask(kinds.encode, long);
  ask(bytesOffsets, "lower");
  expect(made).toHaveLength(4);
  ask(kinds.encode, "lower");
  expect(made).toHaveLength(5);
  expect(ask(kinds.decode, new Uint8Array(4 * 1.1e6))).toHaveLength(2 * 1.1e6);
  ask(kinds.encode, "lower");
  expect(made).toHaveLength(5);
});
