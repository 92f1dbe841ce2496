// Formats numbers for people to read.

/** 1234567 -> "1,234,567" */
export const groupDigits = (value: number) =>
  Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");

/** Formats a number of bytes in decimal units: 100646966 -> "100.6 MB". */
export function formatBytes(value: number): string {
  if (value < 1000) return `${value} B`;
  const units = ["kB", "MB", "GB", "TB", "PB"];
  let scaled = value / 1000;
  let unit = 0;
  for (; scaled >= 999.95 && unit < units.length - 1; unit++) scaled /= 1000;
  return `${scaled.toFixed(1)} ${units[unit]}`;
}

/** 0.0123 -> "12 ms", 1.234 -> "1.23 s", 83 -> "1:23" */
export function formatSeconds(value: number): string {
  if (value < 0.9995) return `${Math.round(value * 1000)} ms`;
  if (value < 60) return `${value.toFixed(2)} s`;
  return formatClock(value);
}

/** Formats a duration in seconds as a clock: 4 -> "0:04", 3683 -> "1:01:23". */
export function formatClock(value: number): string {
  const whole = Math.round(value);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (part: number) => String(part).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** `countNoun(1, "document")` is "1 document". */
export const countNoun = (value: number, noun: string) =>
  `${groupDigits(value)} ${noun}${value === 1 ? "" : "s"}`;

const months = "January February March April May June July August September October November December".split(
  " ",
);

/** Formats a date as "27 November 2026", in UTC. It does not use Intl, which takes 7 ms to load its time zones. */
export function formatDay(date: Date): string {
  const [year, month, day] = date.toISOString().split(/[-T]/);
  return `${Number(day)} ${months[Number(month) - 1]} ${year}`;
}
