/** An axis of a chart, from `first` to `last`, and its tick marks. */
export type Axis = {
  readonly title: string;
  readonly scale: "linear" | "log";
  readonly first: number;
  readonly last: number;
  readonly ticks: readonly number[];
};

/** Returns the position of a value on the axis: 0 at `first`, 1 at `last`. */
export function placeOn({ scale, first, last }: Axis, value: number): number {
  const at = scale === "log" ? Math.log10 : (number: number) => number;
  return last === first ? 0 : (at(value) - at(first)) / (at(last) - at(first));
}

const tickCountMax = 6;

/** Returns an axis with round ticks that covers all values. */
export function linearAxis(title: string, values: readonly number[], floor?: number): Axis {
  const low = Math.min(...values, ...(floor === undefined ? [] : [floor]));
  const high = Math.max(...values, low + 1e-9);
  const step = roundStep((high - low) / (tickCountMax - 1));
  const first = Math.floor(low / step + 1e-9) * step;
  const count = Math.max(1, Math.ceil((high - first) / step - 1e-9));
  const ticks = Array.from({ length: count + 1 }, (_, i) => Number((first + i * step).toPrecision(12)));
  return { title, scale: "linear", first: ticks[0]!, last: ticks.at(-1)!, ticks };
}

/** Rounds a step up to 1, 2 or 5 times a power of ten. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const factor = [1, 2, 5, 10].find((factor) => factor * power >= step * (1 - 1e-9))!;
  return factor * power;
}

/** The smallest tick of a log axis. The next possible ticks are twice this, four times this, and so on. */
const sizeLeast = 250;

/**
 * Returns a log axis of vocabulary sizes with ticks at some of 250, 500, 1k, 2k …. If fewer than two of these are
 * between `first` and `last`, returns a linear axis.
 */
export function sizesAxis(title: string, first: number, last: number): Axis {
  const sizes: number[] = [];
  for (let size = sizeLeast; size <= last; size *= 2) if (size >= first) sizes.push(size);
  if (sizes.length < 2) {
    const { ticks } = linearAxis(title, [first, last]);
    const whole = ticks.filter((tick) => Number.isInteger(tick) && tick >= first && tick <= last);
    return { title, scale: "linear", first, last, ticks: whole };
  }
  const every = Math.ceil(sizes.length / tickCountMax);
  const ticks = sizes.filter((_, i) => (sizes.length - 1 - i) % every === 0);
  return { title, scale: "log", first, last, ticks };
}

/** Abbreviates a number for tick labels: 1500 -> "1.5k", 32000 -> "32k", 2e9 -> "2G". */
export function shortNumber(value: number, digits = 3): string {
  const magnitude = Math.abs(value);
  if (magnitude < 1000) return Number(value.toPrecision(digits)).toString();
  const units = ["", "k", "M", "G", "T"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(magnitude * 1.0005) / 3));
  return `${Number((value / 1000 ** power).toPrecision(digits))}${units[power]}`;
}

/** Labels the ticks of an axis, with enough digits to tell them apart. */
export function tickNames({ ticks }: Axis): string[] {
  for (let digits = 3; ; digits++) {
    const names = ticks.map((tick) => shortNumber(tick, digits));
    if (digits === 12 || new Set(names).size === ticks.length) return names;
  }
}

export const percent = (share: number) =>
  share > 0 && share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)} %`;

/** Keeps a number and its percent sign on one line. */
export const unbroken = (text: string) => text.replaceAll(/(?<=\d) %/g, "\u00a0%");

/** Formats a share as an SVG or CSS length. */
export const lengthOf = (share: number) => `${Math.round(1000 * share) / 10}%`;
