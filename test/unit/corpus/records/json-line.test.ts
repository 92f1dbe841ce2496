import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import * as textBuffers from "../../../../src/bytes/text.ts";
import { fieldName, lineCursor, lineFault, readLine } from "../../../../src/corpus/records/line-reader.ts";
import { rounds } from "../../../rounds.ts";

const faultNames = Object.keys(lineFault);

/** Returns the result of `readLine` for a line between two other lines. */
function read(line: string, field = "text"): ReturnType<typeof naiveLine> {
  const before = '{"text":"before"}\n';
  const text = textBuffers.of(`${before}${line}\n{"text":"after"}\n`);
  const out = textBuffers.allocate(3 + Buffer.byteLength(line));
  const cursor = { ...lineCursor(), pos: before.length, outPos: 3 };
  readLine(text, fieldName(field), out, cursor);
  if (cursor.fault !== lineFault.none) return faultNames[cursor.fault]!;
  expect(cursor.pos).toBe(before.length + Buffer.byteLength(line) + 1);
  if (cursor.isBlank) return "blank";
  return { text: Buffer.from(out.bytes.subarray(3, cursor.outPos)).toString() };
}

const lines = [
  '{"text":"plain"}',
  '{"text":""}',
  ' \t{ "a" : [1, 2, {"text": "inner"}], "text" : "outer" , "b" : null } \r',
  '{"text":"first","text":"last"}',
  '{"text":5,"text":"last"}',
  '{"text":"first","text":5}',
  '{"text":"longer first","text":"l"}',
  '{"text":"\\ud800","text":"ok"}',
  '{"te\\u0078t":"escaped key"}',
  '{"\\u0074\\u0065\\u0078\\u0074":"escaped key","tex":1,"textt":2}',
  '{"text":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u007f\\u00e9\\u0800\\uFFFF\\ud83d\\ude00"}',
  '{"text":"\\ud800"}',
  '{"text":"\\udc00"}',
  '{"text":"\\udc00\\udc00"}',
  '{"text":"\\udfff\\udc00"}',
  '{"text":"\\ud800\\udc00\\udbff\\udfff"}',
  '{"text":"\\ud800\\ud800"}',
  '{"text":"\\ud800\\u0041"}',
  '{"text":"\\ud800\\"}',
  '{"other":"\\ud800","text":"fine"}',
  '{"text":"\\x"}',
  '{"text":"\\u12g4"}',
  '{"text":"\\u12',
  '{"text":"\\',
  '{"text":"\t"}',
  '{"text":"\u007f é 中 😀"}',
  '{"text":"open',
  '{"text"',
  '{"text":',
  '{"text":"x"',
  '{"text":"x",}',
  '{"text":"x"}}',
  '{"text":"x"} x',
  '{text:"x"}',
  "{'text':'x'}",
  "{}",
  "{ }",
  "{",
  "[",
  "[]",
  '["text"]',
  '"text"',
  "null",
  "true",
  "truex",
  "-",
  "0",
  "-0.5e+10",
  "01",
  "1.",
  ".5",
  "1e",
  "NaN",
  "",
  "  \t \r",
  "\ufeff{}",
  '\u00a0{"text":"x"}',
  '{"a":[],"b":{},"c":[[],{}],"d":{"e":{"f":[1,[2,[3]]]}},"text":"deep"}',
  '{"a":[1,],"text":"x"}',
  '{"a":{"b":1,},"text":"x"}',
  '{"a":[1}, "text":"x"}',
  '{"a":{"b":1],"text":"x"}',
  '{"a" 1,"text":"x"}',
  '{"a":1 "text":"x"}',
  '{"a":tru,"text":"x"}',
  '{"a":-,"text":"x"}',
  '{"a":1.5E-3,"b":-0,"c":1e5,"text":"x"}',
  '{"a":00,"text":"x"}',
  '{"__proto__":{"text":"x"}}',
];

describe("a line of JSON", () => {
  test("is read like JSON.parse reads it", () => {
    for (const line of lines) expect([line, read(line)]).toEqual([line, naiveLine(line, "text")]);
  });

  test("cut anywhere, is refused like JSON.parse refuses it", () => {
    for (const line of lines) {
      for (let end = 0; end < line.length; end++) {
        const cut = line.slice(0, end);
        if (cut.isWellFormed()) expect([cut, read(cut)]).toEqual([cut, naiveLine(cut, "text")]);
      }
    }
  });

  test("gives the field of any name", () => {
    for (const name of ["text", 'a"b', "a\\b", "é", "\n", "", "__proto__", "/"]) {
      const line = JSON.stringify({ x: 1, [name]: undefined, y: "x" }).replace(
        "{",
        `{${JSON.stringify(name)}:"found",`,
      );
      expect([name, read(line, name)]).toEqual([name, naiveLine(line, name)]);
      expect(read(line, name)).toEqual({ text: "found" });
    }
    expect(read('{"a"b":1}', 'a"b')).toBe("notJson");
    expect(read('{"\\/":"slash"}', "/")).toEqual({ text: "slash" });
  });

  test("may be nested as deeply as its length allows", () => {
    const depth = 300_000;
    const deep = `{"a":${"[".repeat(depth)}${"]".repeat(depth)},"b":${'{"c":'.repeat(depth)}1${"}".repeat(depth)},"text":"x"}`;
    expect(read(deep)).toEqual({ text: "x" });
    expect(read(deep.replace("],", "},"))).toBe("notJson");
    expect(read(deep.replace("]]]]]", "]]]]"))).toBe("notJson");
  });

  test("of any kind is read like JSON.parse reads it", () => {
    const key = fc.constantFrom("text", "te", "textt", "a", "", "é");
    const value = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { depthSize: "small" },
        fc.string({ unit: "grapheme" }),
        fc.string({ unit: "binary" }),
        fc.double(),
        fc.integer(),
        fc.constantFrom(true, false, null),
        fc.array(tie("any"), { maxLength: 3 }),
        fc.array(fc.tuple(key, tie("any")), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
      ),
    })).any;
    const member = fc
      .tuple(key, value, fc.constantFrom("", " ", "\t", " \r "), fc.boolean())
      .map(([name, content, gap, isEscaped]) => {
        const json = JSON.stringify(content).replace(/[\u007f-\uffff]/g, (c) =>
          isEscaped ? `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}` : c,
        );
        return `${gap}${JSON.stringify(name)}${gap}:${gap}${json}${gap}`;
      });
    const object = fc.array(member, { maxLength: 5 }).map((members) => `{${members.join(",")}}`);
    const damage = fc.tuple(
      fc.nat(),
      fc.constantFrom("", '"', "\\", "{", "]", ",", "u", "0", "\t", "\\ud812"),
    );
    fc.assert(
      fc.property(object, fc.option(damage), (whole, harm) => {
        const at = harm === null ? 0 : harm[0] % whole.length;
        const line = harm === null ? whole : whole.slice(0, at) + harm[1] + whole.slice(at + 1);
        fc.pre(line.isWellFormed() && !line.includes("\n"));
        expect(read(line)).toEqual(naiveLine(line, "text"));
      }),
      { numRuns: rounds(600) },
    );
  });
});

/** Reads a line of JSON with strings and JSON.parse: the naive twin of `readLine`. */
function naiveLine(line: string, field: string): { text: string } | "blank" | string {
  if (/^[ \t\r]*$/.test(line)) return "blank";
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "notJson";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "notObject";
  if (!Object.hasOwn(value, field)) return "fieldMissing";
  const text = (value as Record<string, unknown>)[field];
  if (typeof text !== "string") return "fieldNotString";
  return text.isWellFormed() ? { text } : "loneSurrogate";
}
