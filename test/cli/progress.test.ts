import { expect, test } from "bun:test";
import { barLine, createProgress } from "../../src/cli/output.ts";
import { binary, put, scratch } from "../binary.ts";
import { onTerminal } from "../pseudo-terminal.ts";

const counting = (done: number) =>
  ({ stage: "counting", done, total: 1000, unit: "bytes", distinctWordCount: 7 }) as const;

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
  const display = createProgress(
    "bar",
    (text) => written.push(text),
    () => 60,
  );
  display.update(counting(0));
  await Bun.sleep(550);
  display.update(counting(500));
  display.clear();
  const [bar, cleared] = written;
  expect(bar).toMatch(/^\r\[###---\] counting {2}50 %, 500 B of 1\.0 kB, 0 MB\/s, \d+:\d\d left\x1b\[K$/);
  expect(Bun.stringWidth(bar!)).toBeLessThan(60);
  expect(cleared).toBe("\r\x1b[K");
});

const words = { stage: "counting", done: 5e8, total: 1e9, unit: "bytes", distinctWordCount: 145269 } as const;
const figures = {
  ...words,
  share: 0.5,
  perSecond: 78e7,
  secondsLeft: 4,
  memoryBytes: 98.8e6,
};
const merging = { stage: "merging", done: 16000, total: 32000, unit: "merges" } as const;

test("a bar's line shrinks with the terminal: the bar, memory, words, amount, commas, time left and rate, in this order", () => {
  expect([111, 87, 79, 52, 45, 39, 37, 29, 22, 17].map((width) => barLine(words, figures, width))).toEqual([
    "[##########----------] counting  50 %, 500.0 MB of 1.0 GB, 780 MB/s, 0:04 left, 145,269 words, 98.8 MB memory",
    "[#######-------] counting  50 %, 500.0 MB of 1.0 GB, 780 MB/s, 0:04 left, 145,269 words",
    "[###---] counting  50 %, 500.0 MB of 1.0 GB, 780 MB/s, 0:04 left, 145,269 words",
    "[#######-------] counting  50 %, 780 MB/s, 0:04 left",
    "[###----] counting  50 %, 780 MB/s, 0:04 left",
    "[#--] counting  50 % 780 MB/s 0:04 left",
    "counting  50 %, 780 MB/s, 0:04 left",
    "[#-] counting  50 %, 780 MB/s",
    "[##---] counting  50 %",
    "counting  50 %",
  ]);
});

test("no width of a terminal is passed, and no number is cut", () => {
  for (const [progress, told] of [
    [words, figures],
    [
      { ...words, total: null },
      { ...figures, total: null, share: null, secondsLeft: null },
    ],
    [merging, { ...figures, ...merging, distinctWordCount: undefined, perSecond: 417671 }],
  ] as const) {
    const whole = barLine(progress, told, 200)
      .replace(/^\[.*?\] /, "")
      .split(", ");
    for (let width = 17; width < 200; width++) {
      const line = barLine(progress, told, width);
      expect(line.length).toBeLessThanOrEqual(width);
      const said = line.replace(/^\[[#-]{2,20}\] /, "");
      const parts = whole.filter((part) => said.includes(part));
      expect([parts.join(", "), parts.join(" ")]).toContain(said);
    }
    for (let width = 0; width < 17; width++) {
      expect(barLine(progress, told, width).length).toBeLessThanOrEqual(width);
    }
  }
});

test("a terminal of 40 columns has a bar, and one that cannot move its cursor has lines", async () => {
  const home = scratch();
  put(home, "text.txt", "some words, some more words. ".repeat(60_000));
  const slow = `(cat text.txt; sleep 1.2; cat text.txt) | "$0" count -w 1 -o counts-$TERM.tsv`;
  const onScreen = (TERM: string) =>
    onTerminal(["bash", "-c", slow, binary], {
      columns: 40,
      cwd: home,
      env: { TERM, PATH: process.env.PATH! },
    });
  const [bar, lines] = await Promise.all(["xterm", "dumb"].map(onScreen));
  expect(bar).toMatch(/\rcounting \d[^\r\n]{0,29}\x1b\[K\r/);
  expect(bar).not.toContain("bpe: counting");
  expect(lines).toMatch(/^bpe: counting \d.*memory\n/);
  expect(lines).not.toMatch(/[\r\x1b]/);
});
