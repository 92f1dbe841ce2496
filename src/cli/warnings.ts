import type { Input } from "../corpus/input.ts";
import type { RangeStatistics } from "../count/range-counter.ts";
import type { ResolvedPattern } from "../pattern/pattern.ts";
import type { CountsRecord } from "../vocabulary/formats/training-json.ts";
import type { Output } from "./output.ts";
import { grouped } from "./units.ts";

// Warnings: the result is what was asked for, but may not be what was meant.

/** Bytes that were not valid UTF-8: how many, and where the first of them is. */
export function warnOfInvalidBytes(
  inputs: readonly Input[],
  statistics: readonly RangeStatistics[],
  output: Output,
): void {
  const count = statistics.reduce((sum, found) => sum + found.invalidByteCount, 0);
  const first = statistics.findIndex((found) => found.invalidByteCount > 0);
  if (first < 0) return;
  const place = `the first at offset ${statistics[first]!.firstInvalidByte} of "${inputs[first]!.path}"`;
  const subject = count === 1 ? "1 byte is" : `${grouped(count)} bytes are`;
  output.warn(`${subject} not valid UTF-8, ${place}; each was counted as a pretoken of its own`);
}

/** A pattern outside the compiler's dialect, which works, but slowly. */
export function warnOfSlowPattern({ compiled }: ResolvedPattern, output: Pick<Output, "warn">): void {
  if (compiled.kind !== "programs") return;
  output.warn(`the pattern runs on a backtracking matcher, many times slower: ${compiled.reason}`);
}

/** A corpus whose pairs are used up before the vocabulary has the size that was asked for. */
export function warnOfEarlyStop(madeCount: number, wantedCount: number, noun: string, output: Output): void {
  if (madeCount >= wantedCount) return;
  const counts = `${grouped(madeCount)} of ${grouped(wantedCount)}`;
  output.warn(`stopped early: the corpus gives no more than ${counts} ${noun}`);
}

/** Files of equal word counts: one part of a corpus may have been counted twice. Its words are added twice. */
export function warnOfEqualCounts(counts: readonly CountsRecord[], output: Output): void {
  const paths = new Map<string, string>();
  for (const { path, sha256 } of counts) {
    if (sha256 === null) continue;
    const before = paths.get(sha256) ?? path;
    if (before !== path) output.warn(`"${before}" and "${path}" hold the same word counts: both are added`);
    paths.set(sha256, before);
  }
}

/** Streams under `--cache`: their contents are unknown before they are read. Warns of the first. */
export function warnOfStreams(inputs: readonly Input[], output: Output): void {
  const stream = inputs.find((input) => input.isStream);
  if (stream === undefined) return;
  output.warn(`--cache keeps nothing of streams: "${stream.path}" is counted anew in each run`);
}
