import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { contentSlot, jsonForPage, pageFile, titleSlot } from "../../src/reports/page-file.ts";
import * as pageHead from "../../src/reports/page-mark.ts";
import { hostileTexts } from "./hostile-texts.ts";

const template = readFileSync(join(import.meta.dir, "../../dist/pages/report.html"), "utf8");
const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const textOf = (name: string) => ({
  title: name,
  origin: name,
  finding: [name, { text: name, colour: 9 }],
  more: [name],
  cautions: [name],
  table: { head: [name], rows: [[name, name]] },
  reading: name,
});
const dataOf = (name: string) => ({ view: "eval", made: [[name, name]] }) as never;

test("the template's policy allows its one script and its one style, and nothing else", () => {
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(template)![1]!;
  const [script, ...scripts] = [...template.matchAll(/<script type="module">(.*?)<\/script>/gs)];
  const [style, ...styles] = [...template.matchAll(/<style>(.*?)<\/style>/gs)];
  expect([...scripts, ...styles]).toEqual([]);
  expect(policy.split("; ")).toEqual([
    "default-src 'none'",
    `script-src ${hashOf(script![1]!)}`,
    `style-src ${hashOf(style![1]!)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
  // A content security policy governs only what comes after it in the page.
  expect(template.indexOf(policy)).toBeLessThan(template.indexOf("<style>"));
  expect(template.slice(0, pageHead.bytesMax)).toContain(pageHead.mark);
  for (const slot of [titleSlot, contentSlot]) expect(template.split(slot)).toHaveLength(2);
  expect(Buffer.byteLength(template)).toBeLessThan(250_000);
});

test("hostile names and texts are always escaped in a page", () => {
  for (const hostile of [...hostileTexts, hostileTexts.join(" "), titleSlot, contentSlot]) {
    const page = pageFile(template, textOf(hostile), dataOf(hostile));
    const end = template.split(contentSlot)[1]!;
    expect(page.endsWith(end)).toBe(true);
    const own = page.slice(page.indexOf("<body>"), -end.length);
    expect(own.includes(hostile)).toBe(false);
    expect(own.match(/[\u0000-\u0009\u000b-\u001f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g)).toBeNull();
    expect(own.match(/<\/?script/g)).toEqual(["<script", "</script"]);
    expect(own.match(/<(img|svg|!--|\/title|\/style)/g)).toBeNull();
  }
});

test("without a script there are the finding, its caveats, the table and how to read it", () => {
  const page = pageFile("<!--title-->|<!--content-->|", textOf("word"), dataOf("x"));
  const [title, content] = page.split("|");
  expect(title).toBe("word");
  expect(content).toContain('<h1>word<span class="name c1">word</span></h1>');
  expect(content).toContain('<p class="caution">word</p>');
  expect(content).toMatch(
    /<noscript>\s*<table>.*<th scope="row">word<\/th><td>word<\/td>.*<p>word The rest/s,
  );
  expect(JSON.parse(/id="data">(.*?)<\/script>/s.exec(content!)![1]!)).toEqual(dataOf("x"));
});

test("JSON in a page closes no element, and is the same JSON", () => {
  const text = jsonForPage(hostileTexts);
  expect(text).not.toMatch(/[<>&\u2028\u2029]/);
  expect(JSON.parse(text)).toEqual(hostileTexts);
});
