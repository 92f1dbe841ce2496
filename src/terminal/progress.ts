import { formatBytes, formatClock, formatSeconds, groupDigits } from "#bytes";
import type { StageProgress } from "#jobs";

// How far a long run is: a bar on a terminal, a line for each stage elsewhere, an object a line for programs.

/** `log` is the file of `--log-file`: the lines of `plain` without the program's name. */
export type ProgressMode = "bar" | "plain" | "json" | "log" | "none";

/** Shows how far a stage is. Its methods may be called at any time, any number of times. */
export type ProgressDisplay = {
  update(progress: StageProgress): void;
  /** The stage ends now, and found this; it ended with its last report, whose time may be told in a summary; or it is stopped. */
  end(how: "took" | "told below" | "stopped after", found?: string): void;
  /** Removes the bar from the screen, so that other text can be written. */
  clear(): void;
};

/** How often a stage is shown. Lines are for logs: each stage has one, and a very long one a sign of life. */
const intervalMs = { bar: 100, plain: 600_000, json: 500, log: 600_000 };
/** A stage that ends sooner is not shown to people. Programs are told of each stage at once. */
const silentMs = { bar: 500, plain: 600_000, json: 0, log: 600_000 };
/** The shortest stage that is worth a line. The summary has the times of all. */
const lineMsLeast = 1000;

export function createProgress(
  mode: ProgressMode,
  write: (text: string) => void,
  columns = () => 80,
  clockMs = () => performance.now(),
): ProgressDisplay {
  if (mode === "none") return { update() {}, end() {}, clear() {} };
  let last: StageProgress | undefined;
  // A stage begins where the one before it ended; the first one, with its first report.
  let startMs: number | undefined;
  let lastMs = 0;
  let shownMs = 0;
  /** What was shown last of this stage. */
  let shown: StageProgress | undefined;
  let barShown = false;

  const line = (text: string) => write(mode === "log" ? text : `bpe: ${text}\n`);
  const clear = () => {
    if (barShown) write("\x1b[J");
    barShown = false;
  };
  const end: ProgressDisplay["end"] = (how, found) => {
    const isToldNow = last === undefined || found !== undefined || how === "stopped after";
    const endMs = isToldNow ? clockMs() : lastMs;
    const elapsedMs = endMs - (startMs ?? endMs);
    const hasLine = (mode === "plain" || mode === "log") && how !== "told below";
    if (mode === "json" && last !== undefined && how !== "stopped after") {
      // Programs are told that all is done, of a stream and of fewer merges than asked, too.
      const done = (last.unit === "bytes" && last.total) || Math.round(last.done);
      const whole = { ...last, done, total: done };
      if (shown?.done !== done || shown.total !== done) show(whole, measure(whole, elapsedMs / 1000));
    }
    shown = undefined;
    if (last !== undefined && hasLine && elapsedMs >= lineMsLeast)
      line(stageLine(last, elapsedMs / 1000, how, found));
    last = undefined;
    startMs = endMs;
  };
  const show = (progress: StageProgress, figures: Figures) => {
    if (mode === "json") write(`${JSON.stringify({ event: "progress", ...figures })}\n`);
    else if (mode !== "bar") line(sentence(parts(progress, figures)));
    else if (!pause.isOn) {
      // The cursor stays at the start of the line: if the terminal is made narrower, it wraps what is there, and the
      // next bar takes all of it away.
      write(`${barLine(progress, figures, columns() - 1)}\x1b[J\r`);
      barShown = true;
      pause.clear = clear;
    }
  };
  return {
    clear,
    end,
    update(progress) {
      const nowMs = clockMs();
      if (progress.stage !== last?.stage) {
        if (last !== undefined) end("took");
        shownMs = nowMs + silentMs[mode] - intervalMs[mode];
      }
      startMs ??= nowMs;
      last = progress;
      lastMs = nowMs;
      if (nowMs - shownMs < intervalMs[mode]) return;
      shownMs = nowMs;
      shown = progress;
      show(progress, measure(progress, (nowMs - startMs) / 1000));
    },
  };
}

/** No bar is drawn while data go to the terminal that it is on. */
const pause = { isOn: false, clear: () => {} };

export async function withoutBar<T>(work: () => Promise<T>): Promise<T> {
  pause.clear();
  pause.isOn = true;
  try {
    return await work();
  } finally {
    pause.isOn = false;
  }
}

type Figures = ReturnType<typeof measure>;

/** Where the total is unknown, share and time left are, too. */
function measure(progress: StageProgress, elapsedSeconds: number) {
  const { stage, total, unit, distinctWordCount } = progress;
  // For compressed files this is computed from a share, and is not a whole number.
  const done = Math.round(progress.done);
  const perSecond = elapsedSeconds > 0 ? done / elapsedSeconds : 0;
  return {
    stage,
    done,
    total,
    unit,
    share: total === null ? null : total > 0 ? Number(Math.min(1, done / total).toFixed(4)) : 0,
    perSecond: Math.round(perSecond),
    secondsLeft: total === null ? null : perSecond > 0 ? Number(((total - done) / perSecond).toFixed(1)) : 0,
    distinctWordCount,
    memoryBytes: process.memoryUsage.rss(),
  };
}

/** What there is to say, in its order, each with its number; "" is not known. */
function parts({ unit }: StageProgress, figures: Figures) {
  const { stage, share, done, total, perSecond, secondsLeft, distinctWordCount, memoryBytes } = figures;
  const shown = unit === "bytes" ? formatBytes : groupDigits;
  const amount = total === null || total === done ? shown(done) : `${shown(done)} of ${shown(total)}`;
  return {
    stage: stage as string,
    share: share === null ? "" : `${Math.floor(share * 100)} %`.padStart(5),
    amount: unit === "bytes" ? amount : `${amount} ${unit}`,
    rate: `${shown(perSecond)}/s`,
    left: secondsLeft !== null && isForeseen(figures) ? `${formatClock(secondsLeft)} left` : "",
    words: distinctWordCount === undefined ? "" : `${groupDigits(distinctWordCount)} words`,
    memory: `${formatBytes(memoryBytes)} memory`,
  };
}

/** The start of a stage says little of its speed: the rest is estimated after a part of it, or after some seconds. */
const isForeseen = ({ share, done, perSecond }: Figures) =>
  done > 0 && (share! >= foreseenShare || done >= foreseenSeconds * perSecond);

const foreseenShare = 0.1;
const foreseenSeconds = 5;

type Parts = ReturnType<typeof parts>;

function sentence({ stage, ...rest }: Parts): string {
  const known = Object.values(rest).filter((part) => part !== "");
  return `${stage} ${known.join(", ")}`.trim();
}

/** A stage that has ended, or was stopped: how long it took, and what is known of it. */
function stageLine(progress: StageProgress, elapsedSeconds: number, how: string, found = ""): string {
  const { share, amount, rate } = parts(progress, measure(progress, elapsedSeconds));
  const known = [how === "took" ? "" : share.trim(), amount, rate, found].filter((part) => part !== "");
  return `${progress.stage} ${how} ${formatSeconds(elapsedSeconds)}: ${known.join(", ")}`;
}

/**
 * What a narrow terminal does without, in this order: the amount and the bar say what the share says; the stage goes before
 * the share, because only the share moves.
 */
const dispensable = ["amount", "memory", "words", "bar", "rate", "left", "stage"] as const;
/** Where nobody knows the end, there is no bar, and the amount is how far it is. */
const dispensableWithoutShare = ["memory", "words", "rate", "stage"] as const;

const barCells = { least: 5, most: 20 };

/** A bar and the sentence behind it, in at most `width` columns. A part is there as a whole or not at all. */
export function barLine(progress: StageProgress, figures: Figures, width: number): string {
  const { share } = figures;
  const said = parts(progress, figures);
  let hasBar = share !== null;
  for (const part of ["", ...(share === null ? dispensableWithoutShare : dispensable)] as const) {
    if (part === "bar") hasBar = false;
    else if (part !== "") said[part] = "";
    const text = sentence(said);
    const cells = Math.min(barCells.most, width - text.length - "[] ".length);
    if (hasBar && cells >= barCells.least) return `${bar(share!, cells)} ${text}`;
    if (!hasBar && text.length <= width) return text;
  }
  return "";
}

const bar = (share: number, width: number) => {
  const done = Math.floor(share * width);
  return `[${"#".repeat(done)}${"-".repeat(width - done)}]`;
};
