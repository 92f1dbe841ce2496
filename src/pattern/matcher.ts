import { grown } from "../bytes/arrays.ts";
import { characterLengthAt, codePointOf, type Text } from "../bytes/text.ts";
import type { CompiledPattern } from "./compiled-pattern.ts";
import { buildProgram, PatternLimit, type Program, spanOp } from "./matcher-program.ts";
import { nfaOp } from "./nfa.ts";
import { parseSplit } from "./parse-pattern.ts";

/**
 * What `Matcher.find` returns where it has found no match: there is none up to the end of the text; or it has done its
 * steps, and is to be called again.
 */
export const noMatch = -1;
export const unfinished = -2;

const stackSizeMax = 1 << 26;

/**
 * The stack holds frames of five numbers; the first is kind | operand << 3.
 *
 *   KIND       OPERAND       1           2           3         4         WHAT IT IS, AND DOES WHEN ALL ABOVE IT HAS FAILED
 *   way        instruction   position                                    another way: take it
 *   meeting    memo id       position                          commits   the way led through here: remember that it fails
 *   span       instruction   start       now         end                 a span that may be shorter: give a character back
 *   spent      instruction   start       now         end       commits   a span of a closed atomic group: it fails
 *   look       instruction   position    marker                          a look is being matched: it has not matched
 *   atomic                               marker                          an atomic group is being matched: it fails
 *   group      group         open        start       end                 the group as it was before: restore it
 *
 * Markers are look and atomic frames; each knows the one below it. `commits` counts the atomic groups around a frame that
 * have been closed since.
 */
const frame = { way: 0, meeting: 1, span: 2, spent: 3, look: 4, atomic: 5, group: 6 } as const;
const frameSize = 5;
const noMarker = -1;
/** In place of an instruction: the way at hand has failed. */
const failing = -1;

/**
 * Runs a program over a text, from match to match, and can stop after any step and go on. The text is valid UTF-8.
 *
 * The memo knows of each place where ways meet, and each position, whether the program fails from there. So everything is done
 * once, and all attempts at a text together take time in proportion to its length and the program's.
 */
export class Matcher {
  matchStart = 0;
  private bytes: Uint8Array = new Uint8Array(0);
  private start = 0;
  private end = 0;
  /** Where the next attempt begins, or the one under way began. */
  private from = 0;
  private isAttempting = false;

  private pc = 0;
  private pos = 0;
  private stack = new Int32Array(1 << 10);
  private stackSize = 0;
  private marker = noMarker;
  /** Where the current span began; -1: there is no span. */
  private spanStart = -1;
  private attemptSteps = 0;
  /** For each group: where it was opened last; start and end of what it took. */
  private readonly groups: Int32Array;

  private readonly memo: MatchMemo;

  /**
   * @param steps are counted down, and may be shared with other matchers
   * @param attemptStepsMax that one attempt may take where there is no memo; so many are some five seconds
   */
  constructor(
    private readonly program: Program,
    private readonly steps: { left: number },
    private readonly attemptStepsMax = 2 ** 30,
  ) {
    this.groups = new Int32Array(3 * program.groupLimit);
    this.memo = new MatchMemo(program);
  }

  /** A text begins: bytes [start, end). */
  begin(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.from = start;
    this.isAttempting = false;
    this.memo.begin(start);
  }

  /**
   * The end of the next match, whose start is then in `matchStart`; or noMatch, or unfinished where no steps are left.
   * Throws PatternLimit.
   */
  find(): number {
    const { program, bytes, end, steps } = this;
    for (;;) {
      if (!this.isAttempting) {
        if (end - this.from < program.shortestLength || this.from >= end) return noMatch;
        const found = symbolAt(program, bytes, this.from);
        if (!canBegin(program, program.startInstruction, found & symbolMask)) {
          this.from += found >> symbolBits;
          if (--steps.left < 0) return unfinished;
          continue;
        }
        this.attempt();
      }
      const before = steps.left;
      this.run();
      if (steps.left < 0) {
        this.attemptSteps += before;
        if (program.groupLimit > 0 && this.attemptSteps > this.attemptStepsMax) {
          this.fail(`takes more than ${this.attemptStepsMax} steps for a match`);
        }
        return unfinished;
      }
      this.isAttempting = false;
      const matchStart = this.from;
      if (this.pc !== failing && this.pos > matchStart) {
        this.from = this.pos;
        this.matchStart = matchStart;
        return this.pos;
      }
      this.from += symbolAt(program, bytes, matchStart) >> symbolBits;
    }
  }

  private attempt(): void {
    const { program } = this;
    this.isAttempting = true;
    this.pc = program.startInstruction;
    this.pos = this.from;
    this.stackSize = 0;
    this.marker = noMarker;
    this.spanStart = -1;
    this.attemptSteps = 0;
    this.groups.fill(-1);
    if (!program.looksFarBehind) this.memo.forgetBefore(this.from);
  }

  /**
   * Runs the attempt under way. It has come to an end where steps are left: then `pos` is where the match ends, or `pc` is
   * `failing`.
   */
  private run(): void {
    const { program, bytes, end, steps, memo } = this;
    const { ops, first, second, memoIds, membership, symbolCount, classes } = program;
    let { pc, pos } = this;
    // The symbol at `pos`, if `symbolPos` says so, and its length in bytes.
    let symbolPos = -1;
    let symbol = 0;
    let length = 0;

    for (;;) {
      if (pc === failing) {
        pc = this.backtrack();
        if (pc === failing) break;
        pos = this.pos;
      }
      if (steps.left < 0) break;
      steps.left--;
      const op = ops[pc]!;
      const memoId = memoIds[pc]!;
      if (memoId >= 0 && this.spanStart < 0) {
        const value = memo.at(memoId, pos);
        if (value !== 0) {
          pc = this.followMemo(value);
          pos = this.pos;
          continue;
        }
        if (op !== spanOp) this.push((memoId << 3) | frame.meeting, pos, 0, 0);
      }
      if (op === spanOp) {
        pc = this.runSpan(pc, pos);
        pos = this.pos;
        continue;
      }
      if (pos !== symbolPos) {
        symbolPos = pos;
        length = 1;
        if (pos >= end) symbol = symbolCount - 1;
        else if (bytes[pos]! < 0x80) symbol = classes[bytes[pos]!]!;
        else {
          const found = symbolAt(program, bytes, pos);
          symbol = found & symbolMask;
          length = found >> symbolBits;
        }
      }
      switch (op) {
        case nfaOp.take:
          if (membership[first[pc]! * symbolCount + symbol] === 1) {
            pos += length;
            pc = second[pc]!;
          } else pc = failing;
          break;
        case nfaOp.fork:
          pc = this.runFork(pc, pos, symbol);
          break;
        case nfaOp.lookahead:
          pc = membership[first[pc]! * symbolCount + symbol] === 1 ? second[pc]! : failing;
          break;
        case nfaOp.match:
          this.keepFailures();
          this.pc = pc;
          this.pos = pos;
          return;
        default:
          pc = this.runRare(op, pc, pos);
          pos = this.pos;
      }
    }
    this.pc = pc;
    this.pos = pos;
  }

  /** The memo knows how it goes on from here. Returns what follows; `pos` is where. */
  private followMemo(value: number): number {
    if (value === memoValue.found) return this.closeLook();
    this.failAtomics(value - memoValue.failed);
    return failing;
  }

  /** Ways that the symbol at hand rules out are not taken. */
  private runFork(pc: number, pos: number, symbol: number): number {
    const { program } = this;
    const preferred = program.first[pc]!;
    const other = program.second[pc]!;
    if (!canBegin(program, preferred, symbol)) return other;
    if (canBegin(program, other, symbol)) this.push((other << 3) | frame.way, pos, 0, 0);
    return preferred;
  }

  /** Takes as many characters as the span's set has, or as there are steps left. Returns what follows; sets `pos`. */
  private runSpan(pc: number, startPos: number): number {
    const { program, bytes, end, steps, memo } = this;
    const { first, second, memoIds, membership, symbolCount, classes } = program;
    const row = first[pc]! * symbolCount;
    const memoId = memoIds[pc]!;
    const spanStart = this.spanStart < 0 ? startPos : this.spanStart;
    let pos = startPos;
    let symbol = symbolCount - 1;
    let stepsLeft = steps.left;
    // What is known of the span from a later position holds for the longer one, too.
    let known = 0;
    for (; known === 0; known = memoId < 0 ? 0 : memo.at(memoId, pos)) {
      let length = 1;
      if (pos >= end) symbol = symbolCount - 1;
      else if (bytes[pos]! < 0x80) symbol = classes[bytes[pos]!]!;
      else {
        const found = symbolAt(program, bytes, pos);
        symbol = found & symbolMask;
        length = found >> symbolBits;
      }
      if (membership[row + symbol] !== 1 || stepsLeft < 0) break;
      pos += length;
      stepsLeft--;
    }
    steps.left = stepsLeft;
    this.pos = pos;
    if (known === 0 && stepsLeft < 0) {
      this.spanStart = spanStart;
      return pc;
    }
    this.spanStart = -1;
    if (known > memoValue.failed || known === memoValue.found) memo.set(memoId, spanStart, pos, known);
    // If a span of this length fails, a shorter one is tried.
    else this.push((pc << 3) | frame.span, spanStart, pos, pos);
    if (known !== 0) return this.followMemo(known);
    return canBegin(program, second[pc]!, symbol) ? second[pc]! : failing;
  }

  /** Returns what follows the instruction; sets `pos`. */
  private runRare(op: number, pc: number, pos: number): number {
    const { program, bytes, start } = this;
    const { first, second, membership, symbolCount } = program;
    const operand = first[pc]!;
    this.pos = pos;
    switch (op) {
      case nfaOp.lookbehind:
      case nfaOp.takeBack: {
        const at = pos > start ? lastCharacterPos(bytes, pos) : -1;
        const before = at < 0 ? symbolCount - 1 : symbolAt(program, bytes, at) & symbolMask;
        const isInside = membership[operand * symbolCount + before] === 1;
        if (op === nfaOp.lookbehind) return isInside ? second[pc]! : failing;
        if (!isInside || at < 0) return failing;
        this.pos = at;
        return second[pc]!;
      }
      case nfaOp.forkBack:
        this.push((second[pc]! << 3) | frame.way, pos, 0, 0);
        return operand;
      case nfaOp.look:
      case nfaOp.lookNot:
        this.pushMarker((pc << 3) | frame.look, pos);
        return operand;
      case nfaOp.found:
        return this.closeLook();
      case nfaOp.atomic:
        this.pushMarker((pc << 3) | frame.atomic, pos);
        return operand;
      case nfaOp.commit:
        this.closeAtomic();
        return second[pc]!;
      case nfaOp.open:
        this.keepGroup(operand);
        this.groups[3 * operand] = pos;
        return second[pc]!;
      case nfaOp.close:
        this.keepGroup(operand);
        this.groups[3 * operand + 1] = this.groups[3 * operand]!;
        this.groups[3 * operand + 2] = pos;
        return second[pc]!;
      default:
        return this.runSame(pc, pos);
    }
  }

  /** Takes what the group took. */
  private runSame(pc: number, pos: number): number {
    const { first, second } = this.program;
    const group = 3 * first[pc]!;
    const behind = this.endOfSame(this.groups[group + 1]!, this.groups[group + 2]!, pos);
    if (behind < 0) return failing;
    this.pos = behind;
    const next = second[pc]!;
    return behind === pos ? first[next]! : second[next]!;
  }

  /**
   * Takes frames off the stack up to the next way; returns its instruction and sets `pos`. Returns `failing` if there is
   * none, or no steps are left.
   */
  private backtrack(): number {
    const { program, stack, bytes, steps } = this;
    const { second, ops } = program;
    while (this.stackSize > 0) {
      const top = this.stackSize - frameSize;
      const operand = stack[top]! >> 3;
      switch (stack[top]! & 7) {
        case frame.way:
          this.stackSize = top;
          this.pos = stack[top + 1]!;
          return operand;
        case frame.meeting:
          this.stackSize = top;
          this.rememberFailure(top, 0);
          break;
        case frame.span: {
          const leave = second[operand]!;
          const spanStart = stack[top + 1]!;
          let now = stack[top + 2]!;
          for (let isHopeless = true; isHopeless && now > spanStart; ) {
            if (--steps.left < 0) {
              stack[top + 2] = now;
              return failing;
            }
            now = lastCharacterPos(bytes, now);
            isHopeless = !canBegin(program, leave, symbolAt(program, bytes, now) & symbolMask);
            if (isHopeless) continue;
            stack[top + 2] = now;
            this.pos = now;
            return leave;
          }
          stack[top + 2] = now;
          this.stackSize = top;
          this.rememberFailure(top, 0);
          break;
        }
        case frame.spent:
          this.stackSize = top;
          this.rememberFailure(top, 0);
          break;
        case frame.look:
          this.stackSize = top;
          this.marker = stack[top + 2]!;
          if (ops[operand] === nfaOp.look) break;
          this.pos = stack[top + 1]!;
          return second[operand]!;
        case frame.atomic:
          this.stackSize = top;
          this.marker = stack[top + 2]!;
          break;
        default:
          this.stackSize = top;
          this.restoreGroup(top);
      }
    }
    return failing;
  }

  /** What the frame stands for has failed, and with it so many atomic groups around. */
  private rememberFailure(at: number, atomicCount: number): void {
    const { stack, program } = this;
    const operand = stack[at]! >> 3;
    const position = stack[at + 1]!;
    const value = memoValue.failed + stack[at + 4]! + atomicCount;
    if ((stack[at]! & 7) === frame.meeting) {
      this.memo.set(operand, position, position, value);
      return;
    }
    // A span that may be shorter fails from each position inside, too; those behind its end have failed before.
    const id = program.memoIds[operand]!;
    if (stack[at + 3]! > stack[at + 2]!) this.memo.set(id, position, stack[at + 3]!, memoValue.failed);
    this.memo.set(id, position, stack[at + 2]!, value);
  }

  /** The innermost atomic groups fail as a whole. */
  private failAtomics(atomicCount: number): void {
    const { stack } = this;
    while (atomicCount > 0) {
      this.stackSize -= frameSize;
      const kind = stack[this.stackSize]! & 7;
      if (kind === frame.meeting || kind === frame.span || kind === frame.spent) {
        this.rememberFailure(this.stackSize, atomicCount);
      } else if (kind === frame.atomic) {
        this.marker = stack[this.stackSize + 2]!;
        atomicCount--;
      }
    }
  }

  /** The body of the innermost look has matched. Returns what follows it, at `pos`. */
  private closeLook(): number {
    const { stack, program } = this;
    let marker = this.marker;
    while ((stack[marker]! & 7) !== frame.look) marker = stack[marker + 2]!;
    const instruction = stack[marker]! >> 3;
    const isNegated = program.ops[instruction] === nfaOp.lookNot;
    this.pos = stack[marker + 1]!;
    this.marker = stack[marker + 2]!;
    // Groups that the body took are kept, over the marker.
    let kept = marker;
    for (let at = marker + frameSize; at < this.stackSize; at += frameSize) {
      const operand = stack[at]! >> 3;
      const position = stack[at + 1]!;
      switch (stack[at]! & 7) {
        case frame.meeting:
          this.memo.set(operand, position, position, memoValue.found);
          break;
        case frame.span:
        case frame.spent:
          this.memo.set(program.memoIds[operand]!, position, stack[at + 3]!, memoValue.failed);
          this.memo.set(program.memoIds[operand]!, position, stack[at + 2]!, memoValue.found);
          break;
        case frame.group:
          if (isNegated) break;
          stack.copyWithin(kept, at, at + frameSize);
          kept += frameSize;
      }
    }
    if (isNegated) {
      for (let at = this.stackSize - frameSize; at > marker; at -= frameSize) {
        if ((stack[at]! & 7) === frame.group) this.restoreGroup(at);
      }
    }
    this.stackSize = kept;
    return isNegated ? failing : program.second[instruction]!;
  }

  /** The body of the innermost atomic group has matched: its other ways are given up. */
  private closeAtomic(): void {
    const { stack, marker } = this;
    this.marker = stack[marker + 2]!;
    let kept = marker;
    for (let at = marker + frameSize; at < this.stackSize; at += frameSize) {
      const kind = stack[at]! & 7;
      if (kind === frame.way) continue;
      stack.copyWithin(kept, at, at + frameSize);
      if (kind === frame.span) stack[kept] = (stack[kept]! & ~7) | frame.spent;
      if (kind !== frame.group) stack[kept + 4]!++;
      kept += frameSize;
    }
    this.stackSize = kept;
  }

  /** Positions that spans of the match have given back: nobody needs to try them again. */
  private keepFailures(): void {
    const { stack, program } = this;
    if (program.memoIdCount === 0) return;
    for (let at = 0; at < this.stackSize; at += frameSize) {
      const now = stack[at + 2]!;
      const spanEnd = stack[at + 3]!;
      if ((stack[at]! & 7) === frame.span && spanEnd > now) {
        this.memo.set(program.memoIds[stack[at]! >> 3]!, now + 1, spanEnd, memoValue.failed);
      }
    }
  }

  private push(head: number, a: number, b: number, c: number): void {
    if (this.stackSize + frameSize > this.stack.length) this.growStack();
    const { stack, stackSize } = this;
    stack[stackSize] = head;
    stack[stackSize + 1] = a;
    stack[stackSize + 2] = b;
    stack[stackSize + 3] = c;
    stack[stackSize + 4] = 0;
    this.stackSize = stackSize + frameSize;
  }

  private growStack(): void {
    if (this.stack.length >= stackSizeMax) this.fail("keeps too many alternatives open at a time");
    this.stack = grown(this.stack);
  }

  private pushMarker(head: number, pos: number): void {
    this.push(head, pos, this.marker, 0);
    this.marker = this.stackSize - frameSize;
  }

  private keepGroup(group: number): void {
    const { groups } = this;
    this.push((group << 3) | frame.group, groups[3 * group]!, groups[3 * group + 1]!, groups[3 * group + 2]!);
  }

  private restoreGroup(at: number): void {
    const group = 3 * (this.stack[at]! >> 3);
    for (let i = 0; i < 3; i++) this.groups[group + i] = this.stack[at + 1 + i]!;
  }

  /** A group took [from, to). If the same text stands at `pos`: where it ends. Else, or if the group took nothing yet: -1. */
  private endOfSame(from: number, to: number, pos: number): number {
    const { bytes, end } = this;
    if (from < 0 || pos + to - from > end) return -1;
    for (let i = from; i < to; i++) if (bytes[i] !== bytes[pos + i - from]) return -1;
    return pos + to - from;
  }

  private fail(what: string): never {
    throw new PatternLimit(this.program.source, what);
  }
}

/** The class of the character at `pos` and its length in bytes: symbol | length << symbolBits. */
function symbolAt({ classes, blockOf }: Program, bytes: Uint8Array, pos: number): number {
  const lead = bytes[pos]!;
  if (lead < 0x80) return classes[lead]! | (1 << symbolBits);
  const codePoint = codePointOf(bytes, pos);
  const symbol = classes[(blockOf[codePoint >> 7]! << 7) | (codePoint & 127)]!;
  return symbol | (characterLength(lead) << symbolBits);
}

/** Whether the instruction can lead to a match where the symbol is next; true where nobody knows. */
function canBegin({ beginnings, beginningWords }: Program, instruction: number, symbol: number): boolean {
  if (beginningWords === 0) return true;
  return ((beginnings[instruction * beginningWords + (symbol >> 5)]! >> (symbol & 31)) & 1) === 1;
}

const symbolBits = 16;
const symbolMask = (1 << symbolBits) - 1;

function lastCharacterPos(bytes: Uint8Array, pos: number): number {
  let at = pos - 1;
  while ((bytes[at]! & 0xc0) === 0x80) at--;
  return at;
}

const characterLength = (lead: number): number => (lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);

const memoBytesMax = 1 << 28;

/**
 * Values of the memo; 0: nothing is known.
 *   failed       no way on from there matches
 *   found        from there the body of the look around matches
 *   failed + n   from there the bodies of n atomic groups around match, and what is behind them fails: so do the n groups,
 *                whatever other ways there are inside
 */
const memoValue = { found: 1, failed: 2 } as const;

/**
 * What the matcher remembers of each place where ways meet (`Program.memoIds`), and each position: a byte, one of
 * `memoValue`, at (position - base) * memoIdCount + id.
 */
class MatchMemo {
  private values = new Uint8Array(1 << 10);
  private base = 0;
  /** All from there on is empty. */
  private end = 0;

  private readonly memoIdCount: number;

  constructor(private readonly program: Program) {
    this.memoIdCount = program.memoIdCount;
  }

  /** A text begins at `pos`. */
  begin(pos: number): void {
    this.forgetBefore(this.end);
    this.base = pos;
    this.end = pos;
  }

  /** 0 where nothing is known. */
  at(id: number, pos: number): number {
    if (pos >= this.end || pos < this.base) return 0;
    return this.values[(pos - this.base) * this.memoIdCount + id]!;
  }

  /** Sets positions [from, to]; those before the base are not kept. An id below 0 does nothing. Throws PatternLimit. */
  set(id: number, from: number, to: number, value: number): void {
    const { memoIdCount } = this;
    if (id < 0) return;
    if (to >= this.end) this.grow(to + 1);
    const { values, base } = this;
    for (let pos = Math.max(from, base); pos <= to; pos++) values[(pos - base) * memoIdCount + id] = value;
  }

  private grow(end: number): void {
    const needed = (end - this.base) * this.memoIdCount;
    if (needed > this.values.length) {
      if (needed > memoBytesMax)
        throw new PatternLimit(
          this.program.source,
          `looks further than ${memoBytesMax} bytes of memory allow`,
        );
      const longer = new Uint8Array(Math.min(2 * needed, memoBytesMax));
      longer.set(this.values);
      this.values = longer;
    }
    this.end = end;
  }

  /** Nobody asks for positions before `pos` any more. */
  forgetBefore(pos: number): void {
    const { values, base, end } = this;
    const { memoIdCount } = this;
    const usedBytes = (end - base) * memoIdCount;
    if (pos >= end) {
      values.fill(0, 0, usedBytes);
      this.base = pos;
      this.end = pos;
      return;
    }
    const forgotten = (pos - base) * memoIdCount;
    if (forgotten < 1 << 12 || forgotten < usedBytes >> 1) return;
    values.copyWithin(0, forgotten, usedBytes);
    values.fill(0, usedBytes - forgotten, usedBytes);
    this.base = pos;
  }
}

const newline = 10;
/** Steps of the matcher in one call: some 10 ms. */
const stepsAtOnce = 1 << 20;

/**
 * Cuts documents into pretokens by the backtracking matcher. It reads a document piece by piece as the bytes arrive and hands
 * out the ends of the pretokens that are settled; positions are offsets into the text it is given.
 *
 *   ends[0]                 start of the first pretoken not yet taken
 *   ends[1 .. endCount)     ends of the settled pretokens, ascending; pretoken i is [ends[i], ends[i + 1])
 *
 * Calls for one document: start, then any number of scan / take / shift, then finish, take, until finish returns true.
 *
 * The matcher may look at a text as far as it goes, so a text is settled when it ends: at an invalid byte, behind a line
 * (lineWise), or in `finish`; until then its bytes are kept. It is settled in portions.
 */
export class MatcherSplitter {
  /** May be replaced by a longer array in `scan` and `finish`: read it anew after each. */
  ends = new Int32Array(1 << 10);
  endCount = 1;
  /** Bytes that were not part of valid UTF-8, each a pretoken of its own, since the splitter was made. */
  invalidByteCount = 0;
  /** Position of the first invalid byte met by the last `scan`, or -1. */
  firstInvalidPos = -1;
  /** Where the next `scan` goes on. */
  pos = 0;
  private readonly matchers: readonly Matcher[];
  private readonly lineWise: boolean;
  private readonly steps = { left: 0 };
  private readonly tail = new DocumentTail();
  /** What is being settled: ends still to come, as offsets from `cuttingPos`. */
  private cutting: Generator<number, void> | null = null;
  private cuttingPos = 0;

  constructor({ programs, lineWise }: CompiledPattern & { kind: "programs" }) {
    this.matchers = programs.map((program) => new Matcher(program, this.steps));
    this.lineWise = lineWise;
  }

  /** A document begins at `pos`. */
  start(pos: number): void {
    this.pos = pos;
    this.ends[0] = pos;
    this.endCount = 1;
    this.tail.clear();
    this.cutting = null;
  }

  /**
   * Reads on up to `stop`; a character that begins before `stop` is read whole. Bytes before `limit` may be looked at.
   * `limit > stop + 3`, or the document ends at `limit`. May return before it is there, with as many ends as are settled at a
   * time: `pos` tells.
   */
  scan({ bytes }: Text, stop: number, limit: number): void {
    this.firstInvalidPos = -1;
    this.steps.left = stepsAtOnce;
    while (this.pos < stop) {
      const pos = this.pos;
      const length = characterLengthAt(bytes, pos, limit);
      const next = pos + Math.max(1, length);
      if (length === 0) {
        if (!this.settle(bytes, pos)) return;
        this.addEnd(next);
        this.invalidByteCount++;
        if (this.firstInvalidPos < 0) this.firstInvalidPos = pos;
      } else if (this.lineWise && bytes[pos] === newline) {
        if (!this.settle(bytes, next)) return;
      }
      this.pos = next;
    }
    this.tail.keep(bytes, this.ends[this.endCount - 1]!, this.pos);
  }

  /**
   * The document ends at `end`, where `scan` has arrived: settles everything, or as much as is settled at a time. Then it
   * returns false: take it, and call again.
   */
  finish(end: number): boolean {
    this.steps.left = stepsAtOnce;
    if (!this.settle(null, end)) return false;
    this.tail.clear();
    return true;
  }

  /** Forgets the settled pretokens: the last end becomes `ends[0]`. */
  take(): void {
    this.ends[0] = this.ends[this.endCount - 1]!;
    this.endCount = 1;
  }

  /** The text was moved: every position kept falls by `deltaBytes`. */
  shift(deltaBytes: number): void {
    this.pos -= deltaBytes;
    this.cuttingPos -= deltaBytes;
    this.tail.shift(deltaBytes);
    for (let i = 0; i < this.endCount; i++) this.ends[i] = this.ends[i]! - deltaBytes;
  }

  /**
   * The text behind the last end is whole and ends at `end`; what is not in the tail yet is in `bytes`. Adds its ends, as
   * far as the steps go: false if there are others, which the next call goes on with.
   */
  private settle(bytes: Uint8Array | null, end: number): boolean {
    if (this.cutting === null) {
      const start = this.ends[this.endCount - 1]!;
      if (start === end) return true;
      if (bytes !== null) this.tail.keep(bytes, start, end);
      this.cutting = pieceEnds(this.tail.bytes, this.matchers, 0, 0, end - start);
      this.cuttingPos = start;
    }
    for (;;) {
      const { done, value } = this.cutting.next();
      if (done) break;
      if (value === unfinished) return false;
      this.addEnd(this.cuttingPos + value);
    }
    this.cutting = null;
    return true;
  }

  private addEnd(pos: number): void {
    if (this.endCount === this.ends.length) this.ends = grown(this.ends);
    this.ends[this.endCount++] = pos;
  }
}

/** Cuts short texts as a pattern of any kind does: gives the ends of the pretokens, in bytes. */
export function textCutter(sources: readonly string[]): (text: string) => number[] {
  const programs = sources.map((source) => buildProgram(parseSplit(source), source));
  const splitter = new MatcherSplitter({ kind: "programs", programs, lineWise: false, reason: "" });
  return (text) => {
    const bytes = Buffer.from(text);
    const ends: number[] = [];
    const takeEnds = () => {
      ends.push(...splitter.ends.subarray(1, splitter.endCount));
      splitter.take();
    };
    splitter.start(0);
    while (splitter.pos < bytes.length) {
      splitter.scan({ bytes, view: new DataView(bytes.buffer) }, bytes.length, bytes.length);
      takeEnds();
    }
    while (!splitter.finish(bytes.length)) takeEnds();
    takeEnds();
    return ends;
  };
}

/**
 * Ends of the pieces that the splits from `level` on cut [start, end) into, what is not matched included; `unfinished` where
 * steps are needed to go on.
 */
function* pieceEnds(
  bytes: Uint8Array,
  matchers: readonly Matcher[],
  level: number,
  start: number,
  end: number,
): Generator<number, void> {
  const matcher = matchers[level]!;
  const isLast = level === matchers.length - 1;
  matcher.begin(bytes, start, end);
  for (let pieceStart = start; pieceStart < end; ) {
    const matchEnd = matcher.find();
    if (matchEnd === unfinished) {
      yield unfinished;
      continue;
    }
    const gapEnd = matchEnd === noMatch ? end : matcher.matchStart;
    if (gapEnd > pieceStart) {
      if (isLast) yield gapEnd;
      else yield* pieceEnds(bytes, matchers, level + 1, pieceStart, gapEnd);
    }
    if (matchEnd === noMatch) return;
    if (isLast) yield matchEnd;
    else yield* pieceEnds(bytes, matchers, level + 1, gapEnd, matchEnd);
    pieceStart = matchEnd;
  }
}

/**
 * The bytes of a document that are read and not settled, in a copy of its own: when `finish` comes, the text that they
 * were read from may have moved elsewhere. Each byte is copied once, however long the tail grows.
 */
class DocumentTail {
  /** Position of the first byte kept; -1 = nothing is kept. */
  startPos = -1;
  private buffer = new Uint8Array(1 << 10);
  private sizeBytes = 0;

  get bytes(): Uint8Array {
    return this.buffer.subarray(0, this.sizeBytes);
  }

  clear(): void {
    this.startPos = -1;
    this.sizeBytes = 0;
  }

  /** Keeps [start, end) of a text; what was kept before from the same start on is not copied again. */
  keep(bytes: Uint8Array, start: number, end: number): void {
    if (start !== this.startPos) {
      this.startPos = start;
      this.sizeBytes = 0;
    }
    const neededBytes = end - start;
    if (neededBytes > this.buffer.length) this.buffer = grown(this.buffer, neededBytes);
    this.buffer.set(bytes.subarray(start + this.sizeBytes, end), this.sizeBytes);
    this.sizeBytes = neededBytes;
  }

  shift(deltaBytes: number): void {
    if (this.startPos >= 0) this.startPos -= deltaBytes;
  }
}
