import { UserError } from "../errors.ts";
import { type CharacterClasses, divideIntoClasses } from "./automaton.ts";
import { buildNfa, nfaOp, SymbolSets } from "./nfa.ts";
import type { Node } from "./parse-pattern.ts";
import { lastCodePoint } from "./unicode.ts";

/**
 * Program: a pattern as the matcher runs it, an Nfa made ready. Written once by the compiler, frozen then; plain data, so
 * that it is posted to workers.
 *
 *   ARRAY        TYPE          LENGTH                        MEANING
 *   ops          Uint8Array    instructionCount              an `nfaOp`, or `span`
 *   first        Int32Array    instructionCount              operand, see `Nfa`
 *   second       Int32Array    instructionCount              operand
 *   memoIds      Int32Array    instructionCount              the column of `Matcher`'s memo that knows whether the instruction fails
 *                                                            at a position; -1: no column
 *   beginnings   Uint32Array   instructionCount * wordCount  a bit a class: whether the instruction can lead to a match where
 *                                                            that class follows (a guess: 1 where nobody knows)
 *   membership   Uint8Array    setCount * symbolCount        1: the set holds the symbol
 *   blockOf      Uint16Array   8704                          for each 128 code points: their block of `classes`
 *   classes      Uint16Array   blockCount * 128              class of each code point; block 0 is ASCII
 *
 * Symbols are the classes, then the edge of the text. A `span` is a greedy loop over one set: first = the set, second =
 * what follows.
 *
 * Columns of the memo stand where ways meet: behind a choice, at the head of a loop. Without them a way that fails is
 * taken again by every way that leads to it, which takes exponential time. Where a program refers back to groups, what
 * fails once may match with other groups: it has no memo.
 */
export type Program = {
  /** The pattern as it was written. */
  readonly source: string;
  readonly ops: Uint8Array;
  readonly first: Int32Array;
  readonly second: Int32Array;
  readonly memoIds: Int32Array;
  readonly memoIdCount: number;
  /** Some look behind has no bound: the memo is kept for the whole text. */
  readonly looksFarBehind: boolean;
  readonly startInstruction: number;
  /** Groups that are referred to are below. */
  readonly groupLimit: number;
  /** Fewer characters are no match. */
  readonly shortestLength: number;
  readonly beginnings: Uint32Array;
  readonly beginningWords: number;
  readonly membership: Uint8Array;
  readonly symbolCount: number;
  readonly blockOf: Uint16Array;
  readonly classes: Uint16Array;
};

/** A pattern asks for more steps or memory than it is given; whoever knows it adds the place in the text. */
export class PatternLimit extends UserError {
  constructor(source: string, what: string) {
    super(`the pattern ${what}: ${source}`, {
      hint: "write it so that it fails sooner: without repeats inside repeats, without references to groups",
    });
  }
}

/** An op beside those of `nfaOp`. */
export const spanOp = 15;

const beginningsMax = 1 << 24;

/** Throws BeyondAutomaton where the program is too long, Unusable. */
export function buildProgram(tree: Node, source: string): Program {
  const sets = new SymbolSets();
  const nfa = buildNfa(tree, sets, "matcher");
  const { classes, membership } = divideIntoClasses(sets.characters);
  const symbolCount = classes.classCount + 1;
  const flat = new Uint8Array(membership.length * symbolCount);
  membership.forEach((members, set) => {
    flat.set(members, set * symbolCount);
    flat[set * symbolCount + symbolCount - 1] = sets.holdsEdge[set] ? 1 : 0;
  });
  const ops = Uint8Array.from(nfa.ops);
  const first = Int32Array.from(nfa.first);
  const second = Int32Array.from(nfa.second);
  joinSpans(ops, first, second);
  let groupLimit = 0;
  ops.forEach((op, i) => {
    if (op === nfaOp.open) groupLimit = Math.max(groupLimit, first[i]! + 1);
  });
  const { memoIds, memoIdCount } = numberMeetings(ops, first, second, nfa.startInstruction, groupLimit > 0);
  return {
    source,
    ops,
    first,
    second,
    memoIds,
    memoIdCount,
    looksFarBehind: looksFarBehind(tree),
    startInstruction: nfa.startInstruction,
    groupLimit,
    shortestLength: shortestLength(tree),
    ...findBeginnings({ ops, first, second }, flat, symbolCount),
    membership: flat,
    symbolCount,
    ...tabulateClasses(classes),
  };
}

type Instructions = { readonly ops: Uint8Array; readonly first: Int32Array; readonly second: Int32Array };

/** A fork whose preferred way takes one character and comes back is a span. */
function joinSpans(ops: Uint8Array, first: Int32Array, second: Int32Array): void {
  for (let i = 0; i < ops.length; i++) {
    const body = first[i]!;
    if (ops[i] !== nfaOp.fork || ops[body] !== nfaOp.take || second[body] !== i) continue;
    ops[i] = spanOp;
    first[i] = first[body]!;
  }
}

/** Gives a column of the memo to every span, and to every instruction that two or more lead to. */
function numberMeetings(
  ops: Uint8Array,
  first: Int32Array,
  second: Int32Array,
  startInstruction: number,
  hasGroups: boolean,
): { memoIds: Int32Array; memoIdCount: number } {
  const memoIds = new Int32Array(ops.length).fill(-1);
  if (hasGroups) return { memoIds, memoIdCount: 0 };
  const waysTo = new Int32Array(ops.length);
  const pending = [startInstruction];
  for (let i = pending.pop(); i !== undefined; i = pending.pop()) {
    if (++waysTo[i]! === 1) pending.push(...followersOf(ops, first, second, i));
  }
  let memoIdCount = 0;
  for (let i = 0; i < ops.length; i++) {
    const isSure = ops[i] === nfaOp.match || ops[i] === nfaOp.found;
    if (waysTo[i]! > 0 && !isSure && (ops[i] === spanOp || waysTo[i]! > 1)) memoIds[i] = memoIdCount++;
  }
  return { memoIds, memoIdCount };
}

function followersOf(ops: Uint8Array, first: Int32Array, second: Int32Array, i: number): number[] {
  switch (ops[i]) {
    case nfaOp.match:
    case nfaOp.found:
      return [];
    case nfaOp.fork:
    case nfaOp.forkBack:
    case nfaOp.look:
    case nfaOp.lookNot:
      return [first[i]!, second[i]!];
    case nfaOp.atomic:
      return [first[i]!];
    default:
      return [second[i]!];
  }
}

/**
 * `beginnings` of all instructions: the least solution, found from below. Instructions mostly lead to earlier ones, so a few
 * rounds are enough. Of an atomic group only the body counts, not what follows it.
 */
function findBeginnings(
  { ops, first, second }: Instructions,
  membership: Uint8Array,
  symbolCount: number,
): { beginnings: Uint32Array; beginningWords: number } {
  const words = Math.ceil(symbolCount / 32);
  if (words * ops.length > beginningsMax) return { beginnings: new Uint32Array(0), beginningWords: 0 };
  const masks = new Uint32Array((membership.length / symbolCount) * words);
  membership.forEach((isMember, entry) => {
    const symbol = entry % symbolCount;
    const set = (entry - symbol) / symbolCount;
    if (isMember) masks[set * words + (symbol >> 5)]! |= 1 << (symbol & 31);
  });
  const beginnings = new Uint32Array(ops.length * words);
  for (let changed = true; changed; ) {
    changed = false;
    for (let i = 0; i < ops.length; i++) {
      for (let word = 0; word < words; word++) {
        const of = (instruction: number) => beginnings[instruction * words + word]!;
        const mask = () => masks[first[i]! * words + word]!;
        let bits = 0xffffffff;
        switch (ops[i]) {
          case nfaOp.take:
            bits = mask();
            break;
          case spanOp:
            bits = mask() | of(second[i]!);
            break;
          case nfaOp.fork:
            bits = of(first[i]!) | of(second[i]!);
            break;
          case nfaOp.lookahead:
            bits = mask() & of(second[i]!);
            break;
          case nfaOp.lookbehind:
          case nfaOp.open:
          case nfaOp.close:
          case nfaOp.look:
          case nfaOp.lookNot:
            bits = of(second[i]!);
            break;
          case nfaOp.atomic:
            bits = of(first[i]!);
        }
        if (beginnings[i * words + word] === bits >>> 0) continue;
        beginnings[i * words + word] = bits;
        changed = true;
      }
    }
  }
  return { beginnings, beginningWords: words };
}

const blockBits = 7;

function tabulateClasses({ runStarts, runClasses }: CharacterClasses): {
  blockOf: Uint16Array;
  classes: Uint16Array;
} {
  const blockSize = 1 << blockBits;
  const blockOf = new Uint16Array((lastCodePoint + 1) >> blockBits);
  const ids = new Map<string, number>();
  const distinct: number[] = [];
  for (let block = 0, run = 0; block < blockOf.length; block++) {
    // Class and length of each run in the block.
    const parts: number[] = [];
    for (let codePoint = block * blockSize; codePoint < (block + 1) * blockSize; ) {
      while ((runStarts[run + 1] ?? Number.POSITIVE_INFINITY) <= codePoint) run++;
      const end = Math.min(runStarts[run + 1] ?? Number.POSITIVE_INFINITY, (block + 1) * blockSize);
      parts.push(runClasses[run]!, end - codePoint);
      codePoint = end;
    }
    const key = parts.join();
    let id = ids.get(key);
    if (id === undefined) {
      id = ids.size;
      ids.set(key, id);
      for (let i = 0; i < parts.length; i += 2) {
        for (let length = parts[i + 1]!; length > 0; length--) distinct.push(parts[i]!);
      }
    }
    blockOf[block] = id;
  }
  return { blockOf, classes: Uint16Array.from(distinct) };
}

/** In characters, what a match takes at least. */
function shortestLength(node: Node): number {
  switch (node.kind) {
    case "set":
      return 1;
    case "sequence":
      return node.items.reduce((sum, item) => sum + shortestLength(item), 0);
    case "choice":
      return Math.min(...node.options.map(shortestLength));
    case "repeat":
      return node.min * shortestLength(node.body);
    case "group":
    case "atomic":
      return shortestLength(node.body);
    default:
      return 0;
  }
}

function looksFarBehind(node: Node): boolean {
  switch (node.kind) {
    case "look":
      return (node.behind && hasNoBound(node.body)) || looksFarBehind(node.body);
    case "sequence":
      return node.items.some(looksFarBehind);
    case "choice":
      return node.options.some(looksFarBehind);
    case "repeat":
    case "group":
    case "atomic":
      return looksFarBehind(node.body);
    default:
      return false;
  }
}

function hasNoBound(node: Node): boolean {
  switch (node.kind) {
    case "repeat":
      return node.max === Number.POSITIVE_INFINITY || hasNoBound(node.body);
    case "sequence":
      return node.items.some(hasNoBound);
    case "choice":
      return node.options.some(hasNoBound);
    case "group":
    case "atomic":
      return hasNoBound(node.body);
    default:
      return false;
  }
}
