// Formats numbers with few digits, because they are estimates.

export function short(value: number): string {
  const [unit, suffix] =
    value >= 0.9995e9 ? [1e9, " G"] : value >= 0.9995e6 ? [1e6, " M"] : value >= 9995 ? [1e3, " k"] : [1, ""];
  return `${digits(value / unit!)}${suffix}`;
}

export function sizeText(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(bytes * 1.0005) / 3)));
  return `${digits(bytes / 1000 ** power)} ${units[power]}`;
}

export function durationText(seconds: number): string {
  if (seconds < 1) return `${digits(seconds * 1000)} ms`;
  if (seconds < 120) return `${digits(seconds)} s`;
  if (seconds < 7200) return `${digits(seconds / 60)} min`;
  return `${digits(seconds / 3600)} h`;
}

export function digits(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value >= 9.95 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
}

export const percent = (share: number) => `${(100 * share).toFixed(Math.abs(share) < 0.0995 ? 1 : 0)} %`;
