import { expect, test } from "bun:test";
import { escapeBytes, escapeText } from "../../../src/bytes/escape.ts";
import * as json from "../../../src/bytes/json.ts";

const utf8 = new TextEncoder();

test("visible text is unchanged", () => {
  for (const text of [" the", "ü漢😀", "a\\b", '"', "\u00a0", "👩‍👩‍👧"])
    expect(escapeBytes(utf8.encode(text))).toBe(text);
});

test("control characters, and characters that would disturb the line, are escaped byte by byte", () => {
  expect(escapeBytes(utf8.encode("\n\t\0\x1b[31m\x7f"))).toBe("\\x0a\\x09\\x00\\x1b[31m\\x7f");
  expect(escapeBytes(utf8.encode("\u0085"))).toBe("\\xc2\\x85");
  expect(escapeBytes(utf8.encode("\u2028\u202e"))).toBe("\\xe2\\x80\\xa8\\xe2\\x80\\xae");
  // Invisible characters: a zero-width space, a byte-order mark, a tag letter.
  expect(escapeText("a\u200bb\ufeff\u{e0041}")).toBe("a\\xe2\\x80\\x8bb\\xef\\xbb\\xbf\\xf3\\xa0\\x81\\x81");
});

test("a line of JSON contains nothing invisible, and has the same value", () => {
  const value = { name: "a\x1b\u009b\u202e\u200b\u{e0041}\n", list: ["\u0085", "é👩‍👧"] };
  expect(json.line(value)).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u200b\u{e0041}]/u);
  expect(JSON.parse(json.line(value))).toEqual(value);
  expect(json.line("é👩‍👧")).toBe('"é👩‍👧"');
});

test("bytes that are not valid UTF-8 are escaped, the text around them is not", () => {
  expect(escapeBytes(Uint8Array.of(0xe2, 0x82))).toBe("\\xe2\\x82");
  expect(escapeBytes(Uint8Array.of(97, 0xff, 98))).toBe("a\\xffb");
  // An overlong form, a surrogate, and a code point beyond Unicode.
  expect(escapeBytes(Uint8Array.of(0xc0, 0x80))).toBe("\\xc0\\x80");
  expect(escapeBytes(Uint8Array.of(0xed, 0xa0, 0x80))).toBe("\\xed\\xa0\\x80");
  expect(escapeBytes(Uint8Array.of(0xf4, 0x90, 0x80, 0x80))).toBe("\\xf4\\x90\\x80\\x80");
});

test("agrees with the runtime on valid UTF-8, for every two bytes and for the edges of longer ones", () => {
  const edges = [0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0];
  const cases: number[][] = [];
  for (let lead = 0; lead < 256; lead++) {
    for (let second = 0; second < 256; second++) cases.push([lead, second]);
    for (const second of edges)
      for (const third of edges) cases.push([lead, second, third], [lead, second, third, 0x80]);
  }
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (const bytes of cases) {
    let text: string | null = null;
    try {
      text = decoder.decode(Uint8Array.from(bytes));
    } catch {}
    const shown = escapeBytes(Uint8Array.from(bytes));
    if (text === null) expect(shown).toContain("\\x");
    else if (!/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{DI}]/u.test(text)) expect(shown).toBe(text);
  }
});
