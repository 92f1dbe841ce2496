import { expect, test } from "bun:test";
import { frameSections } from "../../src/report/frame-sections.ts";

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
