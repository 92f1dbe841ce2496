import { formatBytes, formatClock, formatSeconds, groupDigits } from "#bytes";
import type { StageProgress } from "#jobs";

// Progress of a long run: a bar on a terminal, lines of text elsewhere, JSON lines for programs.

/**
 * How progress is shown. `log` is for the file of `--log-file`: it writes the lines of `plain` without the program's
 * name.
 */
export type ProgressMode = "bar" | "plain" | "json" | "log" | "none";

/**
 * Shows the progress of the stages of a run, one after another. Its methods may be called at any time, any number of
 * times.
 */
export type ProgressDisplay = {
  update(progress: StageProgress): void;
  /**
   * Ends the stage. Its time counts until now if it has a result or is incomplete, otherwise until its last report.
   *
   * @param how "took" if the stage is complete, "told below" if it is complete and the summary has its time, "stopped
   * after" if it is incomplete
   * @param found the result of the stage
   */
  end(how: "took" | "told below" | "stopped after", found?: string): void;
  /** Removes the bar from the screen, so that other text can be written. */
  clear(): void;
};

/** The milliseconds after which the progress of a stage is shown again. */
const intervalMs = { bar: 100, plain: 600_000, json: 500, log: 600_000 };
/** The milliseconds from a stage's first report until its progress is first shown. */
const silentMs = { bar: 500, plain: 600_000, json: 0, log: 600_000 };
/** The shortest stage, in milliseconds, that gets its own line. */
const lineMsLeast = 1000;

export function createProgress(
  mode: ProgressMode,
  write: (text: string) => void,
  columns = () => 80,
  clockMs = () => performance.now(),
): ProgressDisplay {
  if (mode === "none") return { update() {}, end() {}, clear() {} };
  let last: StageProgress | undefined;
  // A stage begins at the end of the previous one. The first stage begins with its first report.
  let startMs: number | undefined;
  let lastMs = 0;
  let shownMs = 0;
  /** The progress of this stage that was displayed last. */
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
      // Reports to programs that all is done, even if the total was not known (a stream) or not reached (fewer merges
      // than requested).
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
      // The cursor stays at the start of the line. So if the terminal gets narrower and wraps the bar, the next bar
      // erases all of it.
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

/**
 * Whether the bar is suspended because data goes to the same terminal (`isOn`), and how to remove the bar from the
 * terminal (`clear`).
 */
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

/** Computes the figures to show. Without a total, share and remaining time are unknown, too. */
function measure(progress: StageProgress, elapsedSeconds: number) {
  const { stage, total, unit, distinctWordCount } = progress;
  // `progress.done` need not be an integer: for example for compressed files, it is computed from a share.
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

/** Formats each figure, in display order; "" if a figure is unknown. */
function parts({ unit }: StageProgress, figures: Figures) {
  const { stage, share, done, total, perSecond, secondsLeft, distinctWordCount, memoryBytes } = figures;
  const shown = unit === "bytes" ? formatBytes : groupDigits;
  const amount = total === null || total === done ? shown(done) : `${shown(done)} of ${shown(total)}`;
  return {
    stage: stage as string,
    share: share === null ? "" : `${Math.floor(share * 100)} %`.padStart(5),
    amount: unit === "bytes" ? amount : `${amount} ${unit}`,
    rate: `${shown(perSecond)}/s`,
    left: secondsLeft !== null && canEstimateEnd(figures) ? `${formatClock(secondsLeft)} left` : "",
    words: distinctWordCount === undefined ? "" : `${groupDigits(distinctWordCount)} words`,
    memory: `${formatBytes(memoryBytes)} memory`,
  };
}

/**
 * Whether the remaining time can be estimated. The start of a stage says little about its speed, so an estimate is
 * shown only after a tenth of the stage, or after five seconds.
 */
const canEstimateEnd = ({ share, done, perSecond }: Figures) =>
  done > 0 && (share! >= estimateShareMin || done >= estimateSecondsMin * perSecond);

const estimateShareMin = 0.1;
const estimateSecondsMin = 5;

type Parts = ReturnType<typeof parts>;

function sentence({ stage, ...rest }: Parts): string {
  const known = Object.values(rest).filter((part) => part !== "");
  return `${stage} ${known.join(", ")}`.trim();
}

/** Formats a stage that has ended or was stopped: its time and results. */
function stageLine(progress: StageProgress, elapsedSeconds: number, how: string, found = ""): string {
  const { share, amount, rate } = parts(progress, measure(progress, elapsedSeconds));
  const known = [how === "took" ? "" : share.trim(), amount, rate, found].filter((part) => part !== "");
  return `${progress.stage} ${how} ${formatSeconds(elapsedSeconds)}: ${known.join(", ")}`;
}

/**
 * The parts that a narrow terminal leaves out, in this order. The share is never left out, because it can stand for the
 * amount and the bar.
 */
const droppedFirst = ["amount", "memory", "words", "bar", "rate", "left", "stage"] as const;
/**
 * The parts that a narrow terminal leaves out, in this order, if the end of the stage is unknown. There is no bar, and
 * the amount stays, because it shows the progress.
 */
const droppedFirstWithoutShare = ["memory", "words", "rate", "stage"] as const;

const barCells = { least: 5, most: 20 };

/** Formats a bar and a sentence after it in at most `width` columns. Parts that do not fit are left out completely. */
export function barLine(progress: StageProgress, figures: Figures, width: number): string {
  const { share } = figures;
  const said = parts(progress, figures);
  let hasBar = share !== null;
  for (const part of ["", ...(share === null ? droppedFirstWithoutShare : droppedFirst)] as const) {
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
