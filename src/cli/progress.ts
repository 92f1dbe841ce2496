import type { StageProgress } from "../pipeline/stage-progress.ts";
import { bytes, clock, grouped } from "./units.ts";

/** `log` is for a file that is read days later: few lines, without the program's name. */
export type ProgressMode = "bar" | "plain" | "json" | "log" | "none";

/** `auto` is a bar on a terminal, plain lines elsewhere. */
export function progressMode(asked: "auto" | ProgressMode, stderr: { isTTY?: boolean }): ProgressMode {
  return asked === "auto" ? (stderr.isTTY ? "bar" : "plain") : asked;
}

/** Shows how far a long stage is. Its methods may be called at any time, any number of times. */
export type ProgressDisplay = {
  update(progress: StageProgress): void;
  /** Removes the bar from the screen, so that other text can be written. */
  clear(): void;
};

const intervalMs = { bar: 100, plain: 2000, json: 500, log: 10_000, none: Number.POSITIVE_INFINITY };
/** A stage that ends sooner is not shown to people. Programs are told of each stage at once. */
const silentMs = { bar: 500, plain: 900, json: 0, log: 0, none: 0 };

export function createProgress(
  mode: ProgressMode,
  write: (text: string) => void,
  columns = 80,
): ProgressDisplay {
  let stage = "";
  let stageStartMs = 0;
  let lastShownMs = 0;
  let barShown = false;

  const clear = () => {
    if (barShown) write("\r\x1b[K");
    barShown = false;
  };
  return {
    clear,
    update(progress) {
      if (mode === "none") return;
      const nowMs = performance.now();
      if (progress.stage !== stage) {
        stage = progress.stage;
        stageStartMs = nowMs;
        lastShownMs = nowMs + silentMs[mode] - intervalMs[mode];
      }
      if (nowMs - lastShownMs < intervalMs[mode]) return;
      lastShownMs = nowMs;
      const figures = measure(progress, (nowMs - stageStartMs) / 1000);
      if (mode === "json") write(`${JSON.stringify({ event: "progress", ...figures })}\n`);
      else if (mode === "log") write(sentence(progress, figures));
      else if (mode === "plain") write(`bpe: ${sentence(progress, figures)}\n`);
      else {
        const shown = `${bar(figures.share ?? 0, 20)} ${sentence(progress, figures)}`;
        write(`\r${shown.slice(0, columns - 1)}\x1b[K`);
        barShown = true;
      }
    },
  };
}

type Figures = {
  stage: string;
  done: number;
  /** Null if unknown; share and time left are then unknown, too. */
  total: number | null;
  unit: string;
  share: number | null;
  perSecond: number;
  secondsLeft: number | null;
  distinctWordCount: number | undefined;
  memoryBytes: number;
};

function measure(progress: StageProgress, elapsedSeconds: number): Figures {
  const { stage, total, unit, distinctWordCount } = progress;
  // For compressed files this is computed from a share, and is no whole number.
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

function sentence({ unit }: StageProgress, figures: Figures): string {
  const { stage, share, done, total, perSecond, secondsLeft, distinctWordCount, memoryBytes } = figures;
  const shown = unit === "bytes" ? bytes : grouped;
  const rate = unit === "bytes" ? `${(perSecond / 1e6).toFixed(0)} MB/s` : `${unit}, ${grouped(perSecond)}/s`;
  const rest = done > 0 && secondsLeft !== null ? `, ${clock(secondsLeft)} left` : "";
  const words = distinctWordCount === undefined ? "" : `, ${grouped(distinctWordCount)} words`;
  const amount =
    total === null || share === null
      ? shown(done)
      : `${`${Math.floor(share * 100)} %`.padStart(5)}, ${shown(done)} of ${shown(total)}`;
  return `${stage} ${amount}${unit === "bytes" ? "," : ""} ${rate}${rest}${words}, ${bytes(memoryBytes)} memory`;
}

const bar = (share: number, width: number) =>
  `[${"#".repeat(Math.floor(share * width))}${"-".repeat(width - Math.floor(share * width))}]`;
