import type { StageProgress } from "../pipeline/stage-progress.ts";
import { bytes, clock, grouped } from "./units.ts";

/** `log` is for a file that is read days later: few lines, without the program's name. */
export type ProgressMode = "bar" | "plain" | "json" | "log" | "none";

/** `auto` is a bar where one can be drawn, plain lines elsewhere. */
export function progressMode(asked: "auto" | ProgressMode, canDraw: () => boolean): ProgressMode {
  return asked === "auto" ? (canDraw() ? "bar" : "plain") : asked;
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
  columns = () => 80,
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
        write(`\r${barLine(progress, figures, columns() - 1)}\x1b[K`);
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

/** What there is to say, each with its number; "" is not known. */
function parts({ unit }: StageProgress, figures: Figures) {
  const { share, done, total, perSecond, secondsLeft, distinctWordCount, memoryBytes } = figures;
  const shown = unit === "bytes" ? bytes : grouped;
  const amount = total === null ? shown(done) : `${shown(done)} of ${shown(total)}`;
  return {
    share: share === null ? "" : `${Math.floor(share * 100)} %`.padStart(5),
    amount: unit === "bytes" ? amount : `${amount} ${unit}`,
    rate: unit === "bytes" ? `${(perSecond / 1e6).toFixed(0)} MB/s` : `${grouped(perSecond)}/s`,
    left: done > 0 && secondsLeft !== null ? `${clock(secondsLeft)} left` : "",
    words: distinctWordCount === undefined ? "" : `${grouped(distinctWordCount)} words`,
    memory: `${bytes(memoryBytes)} memory`,
  };
}

type Part = keyof ReturnType<typeof parts>;

function sentence(
  progress: StageProgress,
  figures: Figures,
  without: readonly Part[] = [],
  separator = ", ",
): string {
  const said = parts(progress, figures);
  for (const part of without) said[part] = "";
  const known = Object.values(said).filter((part) => part !== "");
  return `${figures.stage} ${known.join(separator)}`;
}

/** What a narrow terminal does without, in this order: how far, how fast and how long stay longest. */
const dispensable = ["memory", "words", "amount", "left", "rate"] as const;

const barCells = { least: 2, most: 20 };

/** A bar and the sentence behind it, in at most `width` columns. The bar shrinks and goes before a number is cut. */
export function barLine(progress: StageProgress, figures: Figures, width: number): string {
  const { share } = figures;
  // If nobody knows the end, there is no bar, and the amount is how far it is.
  const spared = dispensable.filter((part) => share !== null || part !== "amount");
  const firstNeeded = spared.indexOf("left");
  for (let count = 0; count <= spared.length; count++) {
    // Time left and rate do not go for the sake of a bar: first the commas do, then the bar.
    for (const separator of count < firstNeeded ? [", "] : [", ", " "]) {
      const text = sentence(progress, figures, spared.slice(0, count), separator);
      const cells = Math.min(barCells.most, width - text.length - "[] ".length);
      if (share !== null && cells >= barCells.least) return `${bar(share, cells)} ${text}`;
    }
    const text = sentence(progress, figures, spared.slice(0, count));
    if (text.length <= width && (share === null || count >= firstNeeded)) return text;
  }
  return figures.stage.slice(0, Math.max(0, width));
}

const bar = (share: number, width: number) => {
  const done = Math.floor(share * width);
  return `[${"#".repeat(done)}${"-".repeat(width - done)}]`;
};
