import { beginText, fixedEnd, layOutEncoding, reserveFixed, textStart } from "../regions";

/**
 * The memory of a thread that encodes, which grows as it is needed:
 *
 *   REGION   WHAT STANDS THERE
 *   fixed    the arrays of regions.ts; the model, the word cache and other tables, which are laid out once
 *   text     the text at hand; its region becomes larger where a pretoken asks for it
 *   work     the ids that one call makes, and behind them what merging a long word needs. Between two calls there is nothing
 *            in it, so it begins elsewhere when the text's region has grown
 */
let workStart: usize = 0;

/** Tables that make a scan faster may be built when some text was seen (src/pattern/kernel-scan.ts): so large at most. */
const spareBytes: usize = 1 << 21;

const pageBytes: u64 = 1 << 16;

/** Lays out the arrays; false if there is no room. */
export function beginRegions(): bool {
  layOutEncoding();
  return reserveTo(fixedEnd);
}

/** Address of so many bytes for what is set up once, a multiple of 64; 0 where there is no room. */
export function reserveTable(byteCount: usize): usize {
  const start = reserveFixed(byteCount);
  return start !== 0 && reserveTo(<u64>start + byteCount) ? start : 0;
}

/** Makes room for so many bytes of text, padding included; false if there is none. From then on hardly anything is set up. */
export function reserveText(byteCount: u32): bool {
  if (workStart === 0) beginText(spareBytes);
  const end = (<u64>textStart + byteCount + 63) & ~63;
  if (!reserveTo(end)) return false;
  workStart = <usize>end;
  return true;
}

/** Where the work region begins. */
export function workAddress(): usize {
  return workStart;
}

/** Grows the memory until there is room up to `end`; false if that is not to be had. */
export function reserveTo(end: u64): bool {
  const sizeBytes = <u64>memory.size() * pageBytes;
  if (end <= sizeBytes) return true;
  if (end > 0xffff0000) return false;
  return memory.grow(<i32>((end - sizeBytes + pageBytes - 1) / pageBytes)) >= 0;
}
