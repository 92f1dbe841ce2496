import { type Action, type Automaton, here, type SlotWrite, Unusable } from "./automaton.ts";
import { type CharacterClasses, divideIntoClasses } from "./character-classes.ts";
import { codePointRange } from "./code-point-set.ts";
import { exploreSituations } from "./explore-situations.ts";
import { buildNfa, SymbolSets } from "./nfa.ts";
import { freshLevels, type Level, stepLevels } from "./speculation.ts";
import type { Node } from "./syntax-tree.ts";
import { buildThreadTable, type ThreadTable } from "./thread-table.ts";

type AutomatonOptions = {
  /** A document also ends behind every "\n". */
  readonly lineWise: boolean;
};

/**
 * All that matters of what was read up to a position: the levels, the set that a run begins with there, and whether the next
 * symbol begins a document, as it were.
 */
type Situation = {
  readonly levels: readonly Level[];
  /** A set of the ThreadTable. */
  readonly startSet: number;
  /** "invalid byte": the byte is a pretoken that ends here. "line": the document ends here (lineWise). */
  readonly breakBefore: "none" | "invalid byte" | "line";
};

/** An automaton for each split of a sequence, all with the same classes. Throws BeyondAutomaton and Unusable. */
export function buildAutomata(trees: readonly Node[], options: AutomatonOptions): Automaton[] {
  const sets = new SymbolSets();
  const programs = trees.map((tree) => buildNfa(tree, sets, "automaton"));
  // Lines end at a class of its own.
  const newline = options.lineWise ? sets.idOf(codePointRange(10), false) : -1;
  const { classes, membership } = divideIntoClasses(sets.characters);
  const symbolCount = classes.classCount + 2;
  const symbolSets = membership.map((members, set) => {
    const symbols = new Uint8Array(symbolCount);
    symbols.set(members);
    symbols[symbolCount - 1] = sets.holdsEdge[set] ? 1 : 0;
    return symbols;
  });
  const lineEnd = options.lineWise ? membership[newline]!.indexOf(1) : -1;
  return programs.map((program) =>
    explore(classes, symbolCount, lineEnd, buildThreadTable(program, symbolSets, symbolCount)),
  );
}

/** The automaton of one split. */
function explore(
  classes: CharacterClasses,
  symbolCount: number,
  lineEnd: number,
  threads: ThreadTable,
): Automaton {
  const invalid = symbolCount - 2;
  const end = symbolCount - 1;
  const textStartSet = threads.startSets[end]!;
  const start: Situation = {
    levels: freshLevels,
    startSet: textStartSet,
    breakBefore: "none",
  };
  if (!threads.accepts.includes(1)) throw new Unusable("matches no text at all");
  return exploreSituations(classes, symbolCount, start, situationKey, step);

  function step(situation: Situation, symbol: number): { action: Action; next: Situation } {
    const { breakBefore } = situation;
    // What comes before this symbol ends here; INVALID and END come after nothing.
    const endsHere = breakBefore !== "none" || symbol === invalid || symbol === end;
    let { levels, startSet } = situation;
    let settled: readonly number[] = [];
    if (endsHere) {
      settled = breakBefore === "invalid byte" ? [here] : stepLevels(threads, levels, startSet, end).settled;
      levels = freshLevels;
      startSet = textStartSet;
    }
    if (symbol === end) return { action: actionOf(settled, []), next: start };
    if (symbol === invalid) {
      return {
        action: actionOf(settled, []),
        next: { levels: [], startSet: textStartSet, breakBefore: "invalid byte" },
      };
    }
    const result = stepLevels(threads, levels, startSet, symbol);
    if (!endsHere) settled = result.settled;
    return {
      action: actionOf(settled, result.levels),
      next: {
        levels: result.levels.map((level, slot) => ({ ...level, endSlot: slot })),
        startSet: symbol === lineEnd ? textStartSet : threads.startSets[symbol]!,
        breakBefore: symbol === lineEnd ? "line" : "none",
      },
    };
  }
}

/** Slots in the order of the pretokens: the settled ones, then a slot for each level that has accepted. */
function actionOf(settled: readonly number[], levels: readonly Level[]): Action {
  const writes: SlotWrite[] = [];
  settled.forEach((from, slot) => {
    if (from !== slot) writes.push({ slot, from });
  });
  levels.forEach((level, index) => {
    const slot = settled.length + index;
    if (level.accepted !== "not" && level.endSlot !== slot) writes.push({ slot, from: level.endSlot });
  });
  return { commitCount: settled.length, writes };
}

function situationKey({ levels, startSet, breakBefore }: Situation): string {
  let key = `${breakBefore} ${startSet}`;
  for (const { threads, accepted } of levels) key += ` ${threads} ${accepted}`;
  return key;
}
