import { expect, test } from "bun:test";
import type { StageProgress } from "../../src/jobs/stage-progress.ts";
import { barLine, createProgress, withoutBar } from "../../src/terminal/progress.ts";
import { binary, put, scratch } from "../binary.ts";
import { onTerminal } from "../pseudo-terminal.ts";

const counting = (done: number) =>
  ({ stage: "counting", done, total: 1000, unit: "bytes", distinctWordCount: 7 }) as const;

test("json reports every stage at once, one object a line", () => {
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
    ["progress", "counting", 1000, 1],
    ["progress", "merging", 0, 0],
  ]);
});

test("the last object of each stage that ends has the final amounts", () => {
  const { time, written, update, end } = displayOf("json");
  update(counting(250));
  update(counting(1000));
  end("took", "7 distinct pretokens");
  update({ ...counting(0.4), stage: "hashing", total: null });
  update({ ...counting(99.6), stage: "hashing", total: null });
  update(merged(0));
  time.ms = 1000;
  // The training ends with fewer merges than requested, because the corpus has no more.
  update(merged(390));
  end("took");
  end("took");
  update({ ...counting(1000), stage: "lifting" });
  end("took");
  update({ ...counting(5), stage: "encoding" });
  update({ ...counting(10), stage: "encoding" });
  end("stopped after");
  const said = written.map((line) => JSON.parse(line));
  expect(said.map(({ stage, done, total }) => `${stage} ${done} of ${total}`)).toEqual([
    "counting 250 of 1000",
    "counting 1000 of 1000",
    "hashing 0 of null",
    "hashing 100 of 100",
    "merging 0 of 400",
    "merging 390 of 400",
    "merging 390 of 390",
    "lifting 1000 of 1000",
    "encoding 5 of 1000",
  ]);
});

/** Returns a display, the list of its writes, and a clock that the test sets. */
function displayOf(mode: Parameters<typeof createProgress>[0], columns = 80) {
  const time = { ms: 0 };
  const written: string[] = [];
  const display = createProgress(
    mode,
    (text) => written.push(text),
    () => columns,
    () => time.ms,
  );
  return { time, written, ...display };
}

const merged = (done: number) => ({ stage: "merging", done, total: 400, unit: "merges" }) as const;

test("without a terminal, each stage of a second or more has one line, at its end", () => {
  for (const [mode, name] of [
    ["plain", "bpe: "],
    ["log", ""],
  ] as const) {
    const end = mode === "plain" ? "\n" : "";
    const { time, written, update, end: endStage } = displayOf(mode);
    endStage("took");
    for (; time.ms < 20_000; time.ms += 100) update(counting(time.ms / 20));
    update(counting(1000));
    time.ms = 20_100;
    endStage("took", "7 distinct pretokens");
    update(merged(0));
    time.ms = 21_100;
    update(merged(390));
    update({ ...counting(0), stage: "lifting" });
    time.ms = 22_099;
    update({ ...counting(1000), stage: "lifting" });
    endStage("took");
    endStage("took");
    expect(written).toEqual([
      `${name}counting took 20.10 s: 1.0 kB, 50 B/s, 7 distinct pretokens${end}`,
      `${name}merging took 1.00 s: 390 of 400 merges, 390/s${end}`,
    ]);
  }
});

test("a stage begins where the previous one ended, whenever it is first reported", () => {
  const { time, written, update, end } = displayOf("log");
  end("took");
  time.ms = 500;
  update(counting(500));
  time.ms = 1000;
  end("took", "all");
  expect(written).toEqual(["counting took 1.00 s: 500 B of 1.0 kB, 500 B/s, all"]);
});

test("a stage that was stopped reports how far it came, and one of more than ten minutes prints a sign of life", () => {
  const { time, written, update, end } = displayOf("plain");
  for (; time.ms <= 1_500_000; time.ms += 50_000) update(counting(time.ms / 2000));
  end("stopped after");
  const memory = /, \d+\.\d MB memory\n$/;
  expect(written.map((line) => line.replace(memory, ""))).toEqual([
    "bpe: counting  30 %, 300 B of 1.0 kB, 1 B/s, 23:20 left, 7 words",
    "bpe: counting  60 %, 600 B of 1.0 kB, 1 B/s, 13:20 left, 7 words",
    "bpe: counting stopped after 25:50: 75 %, 750 B of 1.0 kB, 0 B/s\n",
  ]);
});

test("the end of a stream is unknown: lines have the bytes read", () => {
  const { time, written, update, end } = displayOf("log");
  update({ ...counting(0), total: null });
  time.ms = 2000;
  update({ ...counting(5000), total: null });
  end("took");
  update({ ...counting(0), total: null });
  time.ms = 4000;
  end("stopped after");
  expect(written).toEqual([
    "counting took 2.00 s: 5.0 kB, 2.5 kB/s",
    "counting stopped after 2.00 s: 0 B, 0 B/s",
  ]);
});

test("a stage that ends at once is not worth a line or a bar", () => {
  for (const mode of ["plain", "log", "bar", "none"] as const) {
    const { time, written, update, end, clear } = displayOf(mode);
    update(counting(500));
    time.ms = 499;
    update(counting(1000));
    end("took");
    clear();
    expect(written).toEqual([]);
  }
});

test("a bar fits its line, leaves the cursor at the line's begin, and is erased at the end", () => {
  const { time, written, update, clear } = displayOf("bar", 60);
  update(counting(0));
  time.ms = 500;
  update(counting(500));
  time.ms = 599;
  update(counting(510));
  clear();
  clear();
  expect(written).toEqual(["[######------] counting  50 %, 1.0 kB/s, 0:01 left, 7 words\x1b[J\r", "\x1b[J"]);
});

test("the first instants of a stage have no estimate of its end, and a summary may report its time", () => {
  const { time, written, update, end } = displayOf("bar", 30);
  update(counting(0));
  for (const [ms, done] of [
    [500, 20],
    [4000, 90],
    [5000, 90],
    [5100, 100],
  ] as const) {
    time.ms = ms;
    update(counting(done));
  }
  expect(written.map((line) => line.includes("left"))).toEqual([false, false, true, true]);
  const log = displayOf("log");
  log.update(counting(0));
  log.time.ms = 2000;
  log.update(counting(1000));
  end("told below");
  log.end("told below");
  expect(log.written).toEqual([]);
});

test("no bar is drawn while data go to the terminal", async () => {
  const { time, written, update } = displayOf("bar", 30);
  update(counting(0));
  time.ms = 500;
  update(counting(500));
  await withoutBar(async () => {
    time.ms = 1000;
    update(counting(600));
  });
  time.ms = 2000;
  update(counting(700));
  expect(written).toEqual([
    "counting  50 %, 0:01 left\x1b[J\r",
    "\x1b[J",
    "counting  70 %, 0:01 left\x1b[J\r",
  ]);
});

const words = { stage: "counting", done: 5e8, total: 1e9, unit: "bytes", distinctWordCount: 145269 } as const;
const figures = {
  ...words,
  share: 0.5,
  perSecond: 78e7,
  secondsLeft: 4,
  memoryBytes: 98.8e6,
};
const endless: [StageProgress, Parameters<typeof barLine>[1]] = [
  { ...words, total: null },
  { ...figures, total: null, share: null, secondsLeft: null },
];
const merging = { stage: "merging", done: 16000, total: 32000, unit: "merges" } as const;

test("a line shrinks with the terminal: amount, memory, words, bar, rate, time left and stage go, in this order", () => {
  const linesAt = (widths: number[], ...[progress, told]: [StageProgress, Parameters<typeof barLine>[1]]) =>
    widths.map((width) => barLine(progress, told, width));
  expect(linesAt([111, 95, 79, 59, 49, 39, 36, 24, 13, 3], words, figures)).toEqual([
    "[##########----------] counting  50 %, 500.0 MB of 1.0 GB, 780.0 MB/s, 0:04 left, 145,269 words, 98.8 MB memory",
    "[##########----------] counting  50 %, 780.0 MB/s, 0:04 left, 145,269 words, 98.8 MB memory",
    "[####----] counting  50 %, 780.0 MB/s, 0:04 left, 145,269 words, 98.8 MB memory",
    "[#########----------] counting  50 %, 780.0 MB/s, 0:04 left",
    "[####-----] counting  50 %, 780.0 MB/s, 0:04 left",
    "counting  50 %, 780.0 MB/s, 0:04 left",
    "counting  50 %, 0:04 left",
    "counting  50 %",
    "50 %",
    "",
  ]);
  expect(linesAt([79, 59, 39, 19, 16, 7], ...endless)).toEqual([
    "counting 500.0 MB, 780.0 MB/s, 145,269 words, 98.8 MB memory",
    "counting 500.0 MB, 780.0 MB/s, 145,269 words",
    "counting 500.0 MB, 780.0 MB/s",
    "counting 500.0 MB",
    "500.0 MB",
    "",
  ]);
});

test("no line is wider than the terminal, and no number is cut", () => {
  for (const [progress, told] of [
    [words, figures],
    endless,
    [merging, { ...figures, ...merging, distinctWordCount: undefined, perSecond: 417671 }],
  ] as const) {
    const said = (line: string) => line.replace(/^\[[#-]{5,20}\] /, "").replace(/^(counting|merging) +/, "");
    const whole = said(barLine(progress, told, 200)).split(", ");
    for (let width = 0; width < 200; width++) {
      const line = barLine(progress, told, width);
      expect(line.length).toBeLessThanOrEqual(width);
      const kept = said(line).split(", ");
      if (line !== "") expect(whole.filter((part) => kept.includes(part))).toEqual(kept);
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
  expect(bar).toMatch(/(^|\r)counting \d[^\r\n]{0,29}\x1b\[J\r/);
  expect(bar).not.toContain("bpe: counting");
  expect(lines).toMatch(/^bpe: counting took 1\.\d\d s: 3\.5 MB, \d\.\d MB\/s\ncounted /);
  expect(lines).not.toMatch(/[\r\x1b]/);
});

/** Returns what a screen shows after this output. Lines do not wrap. */
function leftOn(shown: string): string {
  const lines = [""];
  let column = 0;
  for (const [part] of shown.matchAll(/\x1b\[J|\r|\n|[^\x1b\r\n]+/g)) {
    const line = lines.at(-1)!;
    if (part === "\n") lines.push("");
    if (part === "\x1b[J") lines[lines.length - 1] = line.slice(0, column);
    if (/^[^\x1b\r\n]/.test(part)) {
      lines[lines.length - 1] = line.slice(0, column) + part + line.slice(column + part.length);
      column += part.length;
    } else if (part !== "\x1b[J") column = 0;
  }
  return lines.join("\n");
}

test("a bar is removed before a table, an error or the next prompt", async () => {
  const home = scratch();
  put(home, "text.txt", "some words, some more words. ".repeat(60_000));
  const slow = "(cat text.txt; sleep 0.8; cat text.txt)";
  const scripts = [
    `${slow} | "$0" count -w 1 | cat; echo prompt`,
    `${slow} | "$0" count -w 1; echo prompt`,
    `(${slow}; printf '\\0\\0\\0') | "$0" count -w 1 --input-format jsonl; echo prompt`,
    `${slow} | "$0" count -w 1 | true; echo prompt`,
  ];
  const shown = await Promise.all(
    scripts.map((script) => onTerminal(["bash", "-c", script, binary], { cwd: home })),
  );
  for (const all of shown) expect(all).toMatch(/\rcounting |^counting /);
  const [piped, table, error, unread] = shown.map((all) => leftOn(all.replace(/\x1b\[[\d;]*m/g, "")));
  const counted = /counted 840,001 pretokens.*\n/;
  const whole = /^#bpe-counts.*\nĠwords\t240000\n(.*\n){6}prompt\n$/;
  expect(table).toMatch(/\ncounted 840,001 pretokens.*\nprompt\n$/);
  // If the table goes through `cat`, the summary may be shown before, within or after the table.
  expect(piped).toMatch(counted);
  for (const all of [piped!, table!]) expect(all.replace(counted, "")).toMatch(whole);
  expect(error).toMatch(/^bpe: error: .*\nhint: .*\nprompt\n$/);
  expect(unread).toBe("prompt\n");
}, 15_000);
