import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { frameSections } from "../../src/report/report-page.ts";
import { hostileTexts } from "./hostile-texts.ts";
import { madeReport, madeTokenizer, pageOf } from "./made-report.ts";

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

test("the page's policy lets in its one script and its one style, and nothing else", async () => {
  const page = await pageOf(madeReport([madeTokenizer("t", [["a", "b"]])]));
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)![1]!;
  const [script, ...scripts] = [...page.matchAll(/<script type="module">(.*?)<\/script>/gs)];
  const [style, ...styles] = [...page.matchAll(/<style>(.*?)<\/style>/gs)];
  expect([...scripts, ...styles]).toEqual([]);
  expect(policy.split("; ")).toEqual([
    "default-src 'none'",
    `script-src ${hashOf(script![1]!)}`,
    `style-src ${hashOf(style![1]!)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  // The policy has to come before all that it is for.
  expect(page.indexOf(policy)).toBeLessThan(page.indexOf("<style>"));
  expect(page.match(/\s(style|on\w+)="/g)).toBeNull();
  expect(page.match(/(src|href)="(?!data:,"|#\w)/g)).toBeNull();
});

test("hostile names, tokens and texts are in the page only escaped", async () => {
  const hostile = hostileTexts.join(" ");
  const bytes = new Uint8Array(Buffer.from(hostile));
  const tokenizer = { ...madeTokenizer(hostile, [["<", "/"]], hostileTexts), counts: undefined };
  const endCounts = new Float64Array(tokenizer.tokens.idLimit).fill(3);
  const page = await pageOf(
    madeReport([{ ...tokenizer, counts: { of: hostile, endCounts } }, tokenizer], {
      title: hostile,
      highlights: [{ name: hostile, value: hostile, note: hostile }],
      provenance: [[hostile, hostile]],
      samples: [{ name: hostile, cuts: [[{ id: 1, bytes }], [{ id: 2, bytes }]] }],
    }),
  );
  expect(hostileTexts.filter((text) => page.includes(text))).toEqual([]);
  expect(page.match(/[\u0000-\u0009\u000b-\u001f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g)).toBeNull();
  expect(page.match(/<script/g)).toHaveLength(2);
  expect(page.match(/<\/script>/g)).toHaveLength(2);
  expect(page.includes("<!--")).toBe(false);
  expect(page.match(/<(img|svg onload)/g)).toBeNull();
});

test("only what there is has a section", async () => {
  const sections = (page: string) => [...page.matchAll(/<section id="(\w+)"/g)].map(([, id]) => id);
  const plain = madeTokenizer("t", [["a", "b"]]);
  expect(sections(await pageOf(madeReport([plain])))).toEqual([
    ...["merges", "lengths", "tree", "provenance"],
  ]);
  // A table of 20 merges has no longer tokens than it shows, and all may be of one script.
  const pairs = Array.from({ length: 21 }, (_, i) => [String.fromCharCode(97 + i), "z"] as const);
  const mixed = [...pairs, ["1", "2"] as const];
  expect(sections(await pageOf(madeReport([madeTokenizer("t", mixed)])))).toEqual([
    ...["merges", "longest", "lengths", "scripts", "tree", "provenance"],
  ]);
  const endCounts = new Float64Array(257).fill(2);
  const full = {
    ...plain,
    counts: { of: "x", endCounts },
    ledger: { createdCounts: endCounts, endCounts, isIntermediate: () => false },
  };
  const rest = {
    summary: [["merges", "1"]] as const,
    tables: [{ id: "inputs", title: "Inputs", head: ["file"], rows: [["x"]] }],
    compression: { baseSize: 256, tokensAfter: Float64Array.of(4, 2) },
    samples: [{ name: "x", cuts: [[]] }],
  };
  const page = await pageOf(madeReport([full], rest));
  const all = "summary inputs compression merges frequency lengths intermediate samples tree provenance";
  expect(sections(page)).toEqual(all.split(" "));
  // The index names each of them, in their order.
  expect([...page.matchAll(/<li><a href="#(\w+)">/g)].map(([, id]) => id)).toEqual(all.split(" "));
});

const frame = { title: "t", highlights: [], provenance: [] };

test("warnings stand above the summary, and tables of what was read behind it", () => {
  const sections = frameSections({
    ...frame,
    warnings: ["2 bytes are <b>not</b> UTF-8"],
    summary: [["memory", "10 MB"]],
    tables: [{ id: "inputs", title: "Inputs", head: ["file", "bytes"], rows: [["a<b", "1,000"]] }],
  });
  expect(sections.map(({ id, title }) => [id, title])).toEqual([
    ["summary", "Summary"],
    ["inputs", "Inputs"],
  ]);
  const [summary, inputs] = sections.map(({ html }) => html.text);
  expect(summary).toMatch(
    /<b>Warning:<\/b> 2 bytes are &lt;b&gt;not&lt;\/b&gt; UTF-8<\/p>\s*<dl class="facts pairs"><div><dt>memory<\/dt><dd>10 MB<\/dd>/,
  );
  expect(inputs).toContain('<table class="sortable">');
  expect(inputs).toContain('<th scope="row">a&lt;b</th><td>1,000</td>');
});

test("without anything to say there is no summary", () => {
  expect(frameSections(frame)).toEqual([]);
  expect(frameSections({ ...frame, warnings: ["w"] }).map(({ id }) => id)).toEqual(["summary"]);
});
