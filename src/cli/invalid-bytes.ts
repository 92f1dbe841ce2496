import type { Input } from "../corpus/inputs.ts";
import type { RangeFindings } from "../count/range-counter.ts";
import type { Output } from "./output.ts";
import { grouped } from "./units.ts";

/** Says how many bytes were not valid UTF-8, if there were any, and where the first of them stands. */
export function warnOfInvalidBytes(
  inputs: readonly Input[],
  findings: readonly RangeFindings[],
  output: Output,
): void {
  const count = findings.reduce((sum, found) => sum + found.invalidByteCount, 0);
  const first = findings.findIndex((found) => found.invalidByteCount > 0);
  if (first < 0) return;
  const place = `the first at offset ${findings[first]!.firstInvalidByte} of "${inputs[first]!.path}"`;
  const subject = count === 1 ? "1 byte is" : `${grouped(count)} bytes are`;
  output.warn(`${subject} not valid UTF-8, ${place}; each was counted as a pretoken of its own`);
}
