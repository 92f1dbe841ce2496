import { expect, test } from "bun:test";
import { createProgress, progressMode } from "../../src/cli/progress.ts";

const counting = (done: number) =>
  ({ stage: "counting", done, total: 1000, unit: "bytes", distinctWordCount: 7 }) as const;

test("auto is a bar on a terminal and plain lines elsewhere", () => {
  expect([progressMode("auto", { isTTY: true }), progressMode("auto", {}), progressMode("none", {})]).toEqual(
    ["bar", "plain", "none"],
  );
});

test("json tells of every stage at once, one object a line", () => {
  let shown = "";
  const display = createProgress("json", (text) => (shown += text));
  display.update(counting(250));
  display.update(counting(500));
  display.update({ ...counting(0), stage: "merging", unit: "merges" });
  const events = shown
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.map(({ event, stage, done, share }) => [event, stage, done, share])).toEqual([
    ["progress", "counting", 250, 0.25],
    ["progress", "merging", 0, 0],
  ]);
});

test("a stage that ends at once is not worth a plain line or a bar", () => {
  let shown = "";
  for (const mode of ["plain", "bar", "none"] as const) {
    const display = createProgress(mode, (text) => (shown += text));
    display.update(counting(500));
    display.clear();
  }
  expect(shown).toBe("");
});

test("a bar fits its line and is taken off the screen", async () => {
  const written: string[] = [];
  const display = createProgress("bar", (text) => written.push(text), 60);
  display.update(counting(0));
  await Bun.sleep(550);
  display.update(counting(500));
  display.clear();
  const [bar, cleared] = written;
  expect(bar).toMatch(/^\r\[#{10}-{10}\] counting {2}50 %/);
  expect(Bun.stringWidth(bar!)).toBeLessThan(60);
  expect(cleared).toBe("\r\x1b[K");
});
