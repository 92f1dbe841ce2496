import { exitCode, UserError } from "../errors.ts";
import { embeddedDirectory } from "../runtime/embedded.ts";
import { type Automaton, BeyondAutomaton, fuseAutomata, Unusable } from "./automaton.ts";
import type { CompiledPattern, CompileOptions, PatternTables } from "./compiled-pattern.ts";
import { buildAutomata } from "./determinize.ts";
import { foreseen } from "./foreseen.ts";
import { isLongLook } from "./nfa.ts";
import { canBeEmpty, type Node, nodesIn, parseSplit } from "./parse-pattern.ts";
import { readReadyMade } from "./ready-made.ts";
import { buildScanTables } from "./scan-tables.ts";

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
  const trees = sources.map(parseSplit);
  try {
    return { automata: automataOf(trees, lineWise) };
  } catch (error) {
    if (!(error instanceof Unusable || error instanceof BeyondAutomaton)) throw error;
    throw refusal(error, trees, sources);
  }
}

function refusal(
  error: Unusable | BeyondAutomaton,
  trees: readonly Node[],
  sources: readonly string[],
): UserError {
  const of = sources.join(" , ");
  if (error instanceof Unusable || trees.some(canBeEmpty)) {
    const what = error instanceof Unusable ? error.message : "can match the empty string";
    return new UserError(`pattern: it ${what}: ${of}`, { hint: takesNothingHint, exitCode: exitCode.usage });
  }
  const { message, part, hint = "write it in a simpler way, or with smaller counts" } = error;
  const what =
    part === undefined
      ? message
      : `${message.replace(/\bit\b/, () => `\`${part}\``)}, which is not supported`;
  return new UserError(`pattern: ${what}: ${of}`, { hint, exitCode: exitCode.usage });
}

const takesNothingHint =
  "a pretokenizer matches one character at least: write + where there is *, or name a pattern (`--pattern help`)";

/**
 * As many splits as will do together. Those that look far ahead, or that ask for more than one thread after the other can do,
 * are foreseen, each with the splits behind it. Throws BeyondAutomaton.
 */
function automataOf(trees: readonly Node[], lineWise: boolean): PatternTables[] {
  const [first, ...rest] = trees;
  if (first === undefined) return [];
  const next = trees.findIndex((tree, i) => i > 0 && looksFar(tree));
  const countMax = next < 0 ? trees.length : next;
  for (const make of looksFar(first) ? [foreseenOne] : [fuse, foreseenOne]) {
    for (let count = countMax; count > (make === fuse ? 0 : 1); count--) {
      const automata = tried(() => make(trees.slice(0, count), lineWise));
      if (automata !== undefined) return [...automata, ...automataOf(trees.slice(count), lineWise)];
    }
  }
  return [foreseen([first], lineWise), ...automataOf(rest, lineWise)];
}

/** What is made; undefined where it is more than an automaton can do. */
function tried<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof BeyondAutomaton) return undefined;
    throw error;
  }
}

const foreseenOne = (trees: readonly Node[], lineWise: boolean) => [foreseen(trees, lineWise)];

/** As few automata as will do: where two fuse, they are one. Throws BeyondAutomaton. */
function fuse(trees: readonly Node[], lineWise: boolean): PatternTables[] {
  const fused: Built[] = [];
  for (const automaton of buildAutomata(trees, lineWise)) {
    const last = fused.pop();
    const both = last && tried(() => built(fuseAutomata(last.automaton, automaton)));
    if (last !== undefined && both === undefined) fused.push(last);
    fused.push(both ?? built(automaton));
  }
  return fused.map(({ tables }) => tables);
}

type Built = { readonly automaton: Automaton; readonly tables: PatternTables };

const built = (automaton: Automaton): Built => ({ automaton, tables: buildScanTables(automaton) });

const looksFar = (tree: Node) =>
  [...nodesIn(tree)].some((node) => node.kind === "look" && !node.behind && isLongLook(node));
