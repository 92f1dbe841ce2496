import type { Text } from "../bytes/text.ts";
import type { CompiledPattern } from "./compiled-pattern.ts";
import { columnAt, noSlot } from "./scan-tables.ts";
import { findScriptCut } from "./script-cut.ts";

/**
 * Safe cuts: places where a document can be divided among readers that know nothing of each other. Position i is one
 * if, whatever was read before `from`, a pretoken ends at i and the automaton goes on as it would from the start of a
 * document. It is found by running the automaton from `from` in every state at once: i is safe if on the character at
 * i every state still alive
 *   - settles everything up to i: its last commit is a slot written right there, and
 *   - goes to the state that the start of a document goes to.
 * Text of one kind (digits only, Han only) may hold none. So the search has an end, and without a cut the parts are joined.
 *
 * The second condition matters for patterns that look left: with (?<=a)bc|[abc], all states settle an end before the "b" of
 * "abc", but behind it the pattern hopes for "bc", and at the start of a document it would not.
 *
 * The reader on the left scans the character *at* the cut as well, which settles its last pretoken, and then forgets
 * its state: at the cut the document goes on, so `finish` would be wrong.
 *
 * In a chain the cut of the first automaton serves: the others never see past a piece of it.
 *
 * Returns the first safe cut in [from, stop), or -1. Only bytes before `limit` are looked at; `limit > stop + 3` or the
 * document ends at `limit`.
 */
export function findSafeCut(
  compiled: CompiledPattern,
  text: Text,
  from: number,
  stop: number,
  limit: number,
): number {
  if (compiled.kind === "programs") return -1;
  if (compiled.kind === "scripts") return findScriptCut(text, from, stop, limit);
  const { stateCount, transitions, columnBlocks, columns } = compiled.automata[0]!;
  const { bytes } = text;
  let pos = from;
  while (pos < stop && (bytes[pos]! & 0xc0) === 0x80) pos++;

  let alive = Array.from({ length: stateCount }, (_, state) => state);
  while (pos < stop) {
    let column = bytes[pos]!;
    let length = 1;
    if (column >= 128) {
      const found = columnAt(bytes, pos, limit, columnBlocks, columns);
      column = found & 255;
      length = found >> 8;
    }
    const freshState = transitions[column]! >>> 16;
    const next = new Set<number>();
    let isSafe = true;
    for (const state of alive) {
      const entry = transitions[(state << 8) + column]!;
      const slot = entry & 15;
      const commitCount = (entry >> 4) & 15;
      next.add(entry >>> 16);
      isSafe &&=
        commitCount > 0 && slot !== noSlot && slot === commitCount - 1 && entry >>> 16 === freshState;
    }
    if (isSafe) return pos;
    alive = [...next];
    pos += length;
  }
  return -1;
}
