import { expect, test } from "bun:test";
import fc from "fast-check";
import { TextTokenizer } from "../../../src/library/text-tokenizer.ts";
import { rounds } from "../../rounds.ts";
import { jsonOf, writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const tokenizer = TextTokenizer.from(jsonOf(writeTokenizer("gpt2")));
const decoded = (ids: readonly number[]) => tokenizer.decode(ids);

test("a stream returns what decode returns, for any ids, and no part of a character", () => {
  const id = fc.oneof(
    fc.integer({ min: 0x80, max: 0xff }),
    fc.constantFrom(0xf0, 0x9f, 0xe6, 0xef, 0xbb, 0xbf, 0xed, 0xc3),
    fc.integer({ min: 0, max: tokenizer.idLimit - 1 }),
    fc.constantFrom(...tokenizer.specialTokens.values()),
  );
  const text = fc.string({ unit: "binary", maxLength: 5 }).map((part) => [...tokenizer.encode(part)]);
  const steps = fc.array(fc.oneof(id, fc.array(id, { maxLength: 6 }), text), { maxLength: 12 });
  const stream = tokenizer.stream();
  fc.assert(
    fc.property(steps, (all) => {
      const parts = all.map((step) => stream.push(step));
      const ids = all.flat();
      expect([...parts, stream.end()].join("")).toBe(decoded(ids));
      // Returned text is final: the decoded text of all ids so far begins with it.
      let given = "";
      parts.forEach((part, i) => {
        given += part;
        expect(part.isWellFormed()).toBe(true);
        expect(decoded(all.slice(0, i + 1).flat()).startsWith(given)).toBe(true);
      });
    }),
    { numRuns: rounds(1000) },
  );
});

test("a character is returned with its last byte", () => {
  const stream = tokenizer.stream();
  const [a, b, c, d] = Buffer.from("🦊");
  expect([a!, b!, c!].map((byte) => stream.push(byte))).toEqual(["", "", ""]);
  expect(stream.push([d!, a!])).toBe("🦊");
  expect(stream.push(0x21)).toBe("\ufffd!");
  expect(stream.push(new Uint16Array([a!, b!]))).toBe("");
  expect(stream.end()).toBe("\ufffd");
  expect(stream.end()).toBe("");
  expect(stream.push(Uint32Array.from(Buffer.from("\ufeffa")))).toBe("\ufeffa");
});

test("an id without a token is an error with its position in the stream, and no id is consumed", () => {
  const stream = tokenizer.stream();
  const [first, second] = Buffer.from("é");
  stream.push([65, first!]);
  for (const wrong of [tokenizer.idLimit, -1, 0.5, Number.NaN])
    expect(() => stream.push([second!, wrong])).toThrow(`id ${wrong} at position 3 is not in the vocabulary`);
  expect(() => stream.push(tokenizer.idLimit)).toThrow("at position 2");
  expect(stream.push(second!)).toBe("é");
  expect(stream.end()).toBe("");
  expect(() => stream.push(-1)).toThrow("at position 0");
  expect(() => stream.push(["a"] as never)).toThrow('push: ids[0] is "a"');
  expect(() => stream.push(undefined as never)).toThrow("push: ids is missing");
});
