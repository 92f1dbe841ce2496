import { grouped } from "../bytes/quantities.ts";

/** An axis of a chart: from `first` to `last`, with its marks. */
export type Axis = {
  readonly title: string;
  readonly scale: "linear" | "log";
  readonly first: number;
  readonly last: number;
  readonly ticks: readonly number[];
};

/** Where on the axis a value is: 0 at its first end, 1 at its last. */
export function placeOn({ scale, first, last }: Axis, value: number): number {
  const at = scale === "log" ? Math.log10 : (number: number) => number;
  return last === first ? 0 : (at(value) - at(first)) / (at(last) - at(first));
}

const tickCountMax = 6;

/** An axis with round marks that holds all values. */
export function linearAxis(title: string, values: readonly number[], floor?: number): Axis {
  const low = Math.min(...values, ...(floor === undefined ? [] : [floor]));
  const high = Math.max(...values, low + 1e-9);
  const step = roundStep((high - low) / (tickCountMax - 1));
  const first = Math.floor(low / step + 1e-9) * step;
  const count = Math.max(1, Math.ceil((high - first) / step - 1e-9));
  const ticks = Array.from({ length: count + 1 }, (_, i) => Number((first + i * step).toPrecision(12)));
  return { title, scale: "linear", first: ticks[0]!, last: ticks.at(-1)!, ticks };
}

/** The least of 1, 2, 5, 10, 20 … that is not below the step. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const factor = [1, 2, 5, 10].find((factor) => factor * power >= step * (1 - 1e-9))!;
  return factor * power;
}

/** An axis of whole decades that holds all values, which are above 0; marks are at most so many. */
export function decadesAxis(title: string, values: readonly number[]): Axis {
  const first = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  const every = Math.ceil((last - first) / tickCountMax);
  const ticks: number[] = [];
  for (let power = first; power <= last; power += every) ticks.push(10 ** power);
  return { title, scale: "log", first: 10 ** first, last: 10 ** last, ticks };
}

/** An axis whose marks are doublings of the first value. */
export function doublingsAxis(title: string, first: number, last: number): Axis {
  const doublings = Math.max(1, Math.ceil(Math.log2(last / first) - 1e-9));
  const every = Math.ceil(doublings / tickCountMax);
  const ticks: number[] = [];
  for (let value = last; value >= first * 0.999; value /= 2 ** every) ticks.unshift(value);
  return { title, scale: "log", first, last, ticks };
}

/** 1500 -> "1.5k", 32000 -> "32k", 2e9 -> "2G": for marks, where room is little. */
export function shortNumber(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude < 1000) return Number(value.toPrecision(3)).toString();
  const units = ["", "k", "M", "G", "T"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(magnitude * 1.0005) / 3));
  return `${Number((value / 1000 ** power).toPrecision(3))}${units[power]}`;
}

export const percent = (share: number) => `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)} %`;

/** Counts as whole numbers; above 2^53 they are rounded ones. */
export const countText = (count: number) => grouped(count);
