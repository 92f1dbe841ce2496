import { beginText, fixedEnd, layOutEncoding, reserveFixed, textStart } from "../regions";

/**
 * The memory of a thread that encodes. It grows when more is needed:
 *
 *   REGION   CONTENT
 *   fixed    the arrays of regions.ts; the model, the word cache and other tables, which are laid out once
 *   text     the text; the region grows if a pretoken is longer than it
 *   work     the ids of one call, and behind them what merging a long word needs. It is empty between two calls, so it can
 *            move when the text's region grows
 */
let workStart: usize = 0;

/** Room for tables that make scanning faster, which are built after some text was scanned (src/pattern/kernel-scan.ts). */
const spareBytes: usize = 1 << 21;

const pageBytes: u64 = 1 << 16;

/** Lays out the arrays; false without room. */
export function beginRegions(): bool {
  layOutEncoding();
  return reserveTo(fixedEnd);
}

/** Address of so many bytes of the fixed region, a multiple of 64; 0 without room. */
export function reserveTable(byteCount: usize): usize {
  const start = reserveFixed(byteCount);
  return start !== 0 && reserveTo(<u64>start + byteCount) ? start : 0;
}

/** Makes room for so many bytes of text, padding included; false without room. From then on little room is left for tables. */
export function reserveText(byteCount: u32): bool {
  if (workStart === 0) beginText(spareBytes);
  const end = (<u64>textStart + byteCount + 63) & ~63;
  if (!reserveTo(end)) return false;
  workStart = <usize>end;
  return true;
}

/** Address of the work region. */
export function workAddress(): usize {
  return workStart;
}

/** Grows the memory so that it reaches `end`; false if it cannot. */
export function reserveTo(end: u64): bool {
  const sizeBytes = <u64>memory.size() * pageBytes;
  if (end <= sizeBytes) return true;
  if (end > 0xffff0000) return false;
  return memory.grow(<i32>((end - sizeBytes + pageBytes - 1) / pageBytes)) >= 0;
}
