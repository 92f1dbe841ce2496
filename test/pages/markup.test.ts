import { expect, test } from "bun:test";
import { plainSigned, tokenText } from "../../src/pages/signs.ts";
import { escapeHtml, html, trustedHtml } from "../../src/reports/markup.ts";
import { hostileTexts } from "./hostile-texts.ts";

test("values in a template are escaped, and HTML stays HTML", () => {
  const inner = html`<b>${"<i>"}</b>`;
  expect(html`<p title="${'a"b'}">${inner}${["x", 1, undefined, inner]}</p>`.text).toBe(
    '<p title="a&quot;b"><b>&lt;i&gt;</b>x1<b>&lt;i&gt;</b></p>',
  );
  expect(html`${trustedHtml("<hr>")}`.text).toBe("<hr>");
});

test("untrusted text keeps no character that means something to HTML, or misleads a reader", () => {
  for (const text of hostileTexts) {
    expect(escapeHtml(text)).not.toMatch(/[<>"'\u0000-\u001f\u2028\u2029\u202a-\u202e\u2066-\u2069]/);
  }
  expect(escapeHtml("&amp;")).toBe("&amp;amp;");
  expect(escapeHtml("plain, ünïcode 中文")).toBe("plain, ünïcode 中文");
  expect(escapeHtml("\ud800")).toBe("\ufffd");
});

test("a token that is not whole characters is shown by its bytes, and a long one is cut", () => {
  expect(tokenText(Uint8Array.of(0x61, 0xe2, 0x82))).toBe("a\\xe2\\x82");
  expect(tokenText(new Uint8Array(160).fill(0x61))).toBe("a".repeat(160));
  expect(tokenText(new Uint8Array(161).fill(0x61))).toBe(`${"a".repeat(160)}…`);
  expect(tokenText(new Uint8Array(5).fill(0x61), 400)).toBe("aaaaa…");
  // The cut is between two characters.
  expect(tokenText(Buffer.from(`a${"ä".repeat(100)}`))).toBe(`a${"ä".repeat(79)}…`);
});

test("a token shows each kind of white space by a sign, and characters that look like such a sign are unchanged", () => {
  expect(tokenText(Buffer.from(" a\t\r\n"))).toBe("␣a⇥\\x0d↵");
  expect(tokenText(Buffer.from("\\x0a<␣\u0001"))).toBe("\\x0a<␣\\x01");
  expect(tokenText(Buffer.from("\u00a0a\u202fb\u3000c\u2009 d\u00ad"))).toBe("‿a‿b▫c▫␣d\\xc2\\xad");
  expect(plainSigned(Buffer.from(" \u00a0<\\x09\n"))).toBe(" ‿<\\x09\n");
});
