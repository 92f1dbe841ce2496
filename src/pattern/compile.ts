import { exitCode, UserError } from "../errors.ts";
import { embeddedDirectory } from "../runtime/embedded.ts";
import { type Automaton, BeyondAutomaton, Unusable } from "./automaton.ts";
import type { CompiledPattern, CompileOptions } from "./compiled-pattern.ts";
import { buildAutomata } from "./determinize.ts";
import { fuseAutomata } from "./fuse-automata.ts";
import { buildProgram } from "./matcher-program.ts";
import { parsePattern } from "./parse-pattern.ts";
import { readReadyMade } from "./ready-made.ts";
import { buildScanTables, type ScanTables } from "./scan-tables.ts";
import { canBeEmpty, type Node } from "./syntax-tree.ts";

/**
 * `sources` are splits in order, each cutting the pieces of the one before. Throws UserError for a pattern that is wrong
 * or no way to cut a text.
 */
export function compilePattern(sources: readonly string[], options: CompileOptions = {}): CompiledPattern {
  const ready = readReadyMade(embeddedDirectory, sources, options);
  if (ready !== undefined) return ready;
  const lineWise = options.lineWise ?? false;
  // Encoding feeds whole texts, so what is trained on lines has to do for them, too: `(?<=\s)^` matches in no line.
  if (lineWise) compilePattern(sources);
  const trees = sources.map((source) => parsePattern(source));
  try {
    return compileTrees(trees, sources, lineWise);
  } catch (error) {
    if (!(error instanceof Unusable || error instanceof BeyondAutomaton)) throw error;
    const hint = error instanceof Unusable ? (error.hint ?? takesNothingHint) : "use smaller counts";
    const what = error instanceof Unusable ? `it ${error.message}` : error.message;
    throw new UserError(`pattern: ${what}: ${sources.join(" , ")}`, { hint, exitCode: exitCode.usage });
  }
}

const takesNothingHint =
  "a pretokenizer matches one character at least: write + where there is *, or name a pattern (`--pattern help`)";

/** Throws Unusable, and BeyondAutomaton where not even the matcher can do it. */
function compileTrees(
  trees: readonly Node[],
  sources: readonly string[],
  lineWise: boolean,
): CompiledPattern {
  try {
    return { kind: "automata", automata: fuse(trees, lineWise) };
  } catch (error) {
    if (!(error instanceof BeyondAutomaton)) throw error;
    if (trees.some(canBeEmpty)) throw new Unusable("can match the empty string");
    const programs = trees.map((tree, i) => buildProgram(tree, sources[i]!));
    return { kind: "programs", programs, lineWise, reason: error.message };
  }
}

/** As few automata as will do: where two fuse, they are one. Throws BeyondAutomaton. */
function fuse(trees: readonly Node[], lineWise: boolean): ScanTables[] {
  const fused: Built[] = [];
  for (const automaton of buildAutomata(trees, { lineWise })) {
    const last = fused.pop();
    const both = last && fusedOf(last.automaton, automaton);
    if (last !== undefined && both === undefined) fused.push(last);
    fused.push(both ?? built(automaton));
  }
  return fused.map(({ tables }) => tables);
}

type Built = { readonly automaton: Automaton; readonly tables: ScanTables };

const built = (automaton: Automaton): Built => ({ automaton, tables: buildScanTables(automaton) });

function fusedOf(first: Automaton, second: Automaton): Built | undefined {
  try {
    return built(fuseAutomata(first, second));
  } catch (error) {
    if (error instanceof BeyondAutomaton) return undefined;
    throw error;
  }
}
