// Generates src/kernel/masks/loops (not in the repository): the kernel's loops over masks.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  boundariesOf,
  type ClassSystem,
  type Contractions,
  type Count,
  type Family,
  families,
  kindsOf,
  type Ops,
} from "../src/pattern/mask-formulas.ts";

/** A mask, as expressions in the code of the loop. It has one bit for each of the 64 bytes of a block. */
type Value = {
  /** An expression for the current block. */
  readonly now: string;
  /** An expression for the next block if the mask depends only on character classes and options; otherwise null. */
  readonly next: string | null;
  /** An expression for the next block that is right for its first character only. */
  readonly nextFirst?: string;
  /** Whether the value is the same at all bytes of a character. If not, only its bits at first bytes are right. */
  readonly isWhole: boolean;
  /** Whether all characters in the mask are known to be ASCII. */
  readonly isAscii: boolean;
};

const none: Value = { now: "0", next: "0", isWhole: true, isAscii: true };

/**
 * The operators of a formula. They append code to `lines`, the body of the loop, instead of computing. Variables in
 * `carried` keep their values from block to block.
 */
class CodeOps implements Ops<Value> {
  readonly none = none;
  readonly lines: string[] = [];
  readonly carried: string[] = [];
  private readonly names = new Map<string, string>();
  private readonly values = new Map<string, Value>();

  and = (...masks: Value[]): Value => {
    if (masks.some(({ now }) => now === "0")) return none;
    const isAscii = masks.some((mask) => mask.isAscii);
    return {
      now: this.joined("&", masks),
      next: this.nextOf("&", masks),
      isWhole: isAscii || masks.every(({ isWhole }) => isWhole),
      isAscii,
    };
  };

  or = (...all: Value[]): Value => {
    const masks = all.filter(({ now }) => now !== "0");
    if (masks.length === 0) return none;
    return {
      now: this.joined("|", masks),
      next: this.nextOf("|", masks),
      isWhole: masks.every(({ isWhole }) => isWhole),
      isAscii: masks.every(({ isAscii }) => isAscii),
    };
  };

  not = ({ now, next, isWhole }: Value): Value => ({
    now: `~${now}`,
    next: next && `~${next}`,
    isWhole,
    isAscii: false,
  });

  prev = (mask: Value): Value => {
    if (mask.now === "0") return none;
    const { now } = this.whole(mask);
    return this.once(`prev ${now}`, () => {
      const carry = this.carry("prev");
      const result = this.name(`${now} << 1 | ${carry}`);
      this.lines.push(`${carry} = ${now} >> 63;`);
      return leads(result);
    });
  };

  span = (start: Value, hold: Value): Value => {
    const { now } = this.whole(hold);
    const seeds = this.whole(this.and(start, hold)).now;
    const carry = this.carry("span");
    const result = this.name(`o.spread(${seeds} | (${now} & ${carry}), ${now})`);
    this.lines.push(`${carry} = ${result} >> 63;`);
    return { ...leads(result), isWhole: true, isAscii: hold.isAscii };
  };

  last = (run: Value): Value =>
    this.once(`last ${run.now}`, () => {
      const { now, next } = this.whole(run);
      const result = this.fresh();
      this.lines.push(
        `let ${result} = ${now} & ~(${now} >> 1 | ${next} << 63);`,
        "if (continuation | nextContinuation) {",
        "  // A character crosses the end of the block: the automaton reads it.",
        `  if (${now} >> 63 & nextContinuation) break;`,
        `  ${result} = o.backToLeads(${result}, continuation);`,
        "}",
      );
      return leads(result);
    });

  follows = (where: Value, target: Value): Value => {
    const next = target.next ?? target.nextFirst;
    if (next === undefined || where.next === null || !where.isWhole)
      throw new Error(
        "`follows` looks ahead, so `where` must be a class, and `target` a class or a `follows`",
      );
    return this.once(`follows ${where.now} ${target.now}`, () => {
      const result = this.fresh();
      this.lines.push(`let ${result} = ${where.now} & (${target.now} >> 1 | ${next} << 63);`);
      if (where.isAscii) return { ...leads(result), isWhole: true, isAscii: true };
      const nextFirst = this.fresh();
      this.lines.push(
        `let ${nextFirst} = ${where.next} & ${next} >> 1;`,
        "if (continuation | nextContinuation) {",
        "  // The next block may begin with the end of a character.",
        `  const following = ${next} >> ctz(~nextContinuation) << 63;`,
        `  ${result} = ${where.now} & ((${target.now} & ~continuation) >> 1 | following);`,
        `  ${result} = o.backToLeads(${result}, continuation);`,
        `  ${nextFirst} = o.backToLeads(${where.next} & (${next} & ~nextContinuation) >> 1, nextContinuation);`,
        "}",
      );
      return { ...leads(result), nextFirst };
    });
  };

  before = (where: Value, run: Value, target: Value): Value => {
    if (where.now === "0") return none;
    if (run.next === null || target.next === null || !run.isWhole || !target.isWhole)
      throw new Error("`before` looks ahead, so it is about classes");
    const result = this.fresh();
    this.lines.push(
      `let ${result}: u64 = 0;`,
      `if (${where.now}) {`,
      `  ${result} = ${run.now} & (${target.now} >> 1 | ${target.next} << 63);`,
      `  if (${run.now} >> 63 & ${run.next}) {`,
      `    const following = ~${run.next};`,
      "    // The run is longer than the next block: the automaton reads it.",
      "    if (following == 0) break;",
      `    ${result} |= ${target.next} >> ctz(following) << 63;`,
      "  }",
      `  ${result} = o.spreadDown(${result}, ${run.now}) & ${where.now};`,
      "}",
    );
    return leads(result);
  };

  every = (count: Count, { now }: Value): Value => {
    const result = this.fresh();
    const runBefore = this.carry("run");
    const firstsBefore = this.carry("firsts");
    this.lines.push(
      `let ${result} = ${now};`,
      `if (${count.name} != 1) {`,
      `  const joined = ${now} & (${now} << 1 | ${runBefore} >> 63);`,
      `  ${result} &= ~joined;`,
      `  if (joined && ${count.name} != 0) {`,
      "    // Groups count bytes, so the automaton reads runs with characters of several bytes.",
      `    const wideRun = ${now} & wide;`,
      `    if (joined & ~continuation & (wide | wideRun << 1 | (${runBefore} & wideBefore) >> 63)) break;`,
      `    ${result} = o.groups(${result}, ${firstsBefore}, ${now}, ${runBefore}, ${count.name});`,
      "  }",
      "}",
      `${runBefore} = ${now};`,
      `${firstsBefore} = ${result};`,
    );
    return leads(result);
  };

  contractions = (apostrophes: Value, fold: Value, apart: Value): Contractions<Value> => {
    const [first, inside, following] = [this.fresh(), this.fresh(), this.fresh()];
    const [insideCarry, followingCarry] = [this.carry("inside"), this.carry("following")];
    const skipIfFollowing =
      apart.now === "0" ? [] : [`    if (${following} & ${apart.now} & left & -left) continue;`];
    this.lines.push(
      `let ${first}: u64 = 0, ${inside} = ${insideCarry}, ${following} = ${followingCarry};`,
      `${insideCarry} = ${followingCarry} = 0;`,
      `if (${apostrophes.now}) {`,
      "  // A non-ASCII character that equals an ASCII letter if case is ignored, like U+017F: the automaton reads it.",
      "  if (contractionLetter | nextContractionLetter) break;",
      `  for (let left = ${apostrophes.now}; left; left &= left - 1) {`,
      ...skipIfFollowing,
      "    const i = ctz(left);",
      `    const size = o.contractionLetters(text + base + <usize>i, <u32>(${fold.now} & 0x20));`,
      "    if (size == 0) continue;",
      `    ${first} |= left & -left;`,
      `    const letters = (<u64>1 << size) - 1, end = <u64>1 << size;`,
      `    ${inside} |= letters << i << 1;`,
      `    ${insideCarry} |= letters >> (63 - i);`,
      `    ${following} |= end << i << 1;`,
      `    ${followingCarry} |= end >> (63 - i);`,
      "  }",
      "}",
    );
    return {
      first: { ...leads(first), isWhole: true, isAscii: true },
      inside: { ...leads(inside), isWhole: true, isAscii: true },
      after: leads(following),
    };
  };

  /** Extends a mask that is right for first bytes to all bytes of each character. */
  private whole(mask: Value): Value {
    if (mask.isWhole) return mask;
    return this.once(`whole ${mask.now}`, () => {
      const carry = this.carry("whole");
      const result = this.fresh();
      this.lines.push(
        `let ${result} = ${mask.now};`,
        `if (continuation) ${result} = o.overCharacters(${result} & ~continuation, ${carry}, continuation);`,
        `${carry} = ${result} >> 63;`,
      );
      return { ...leads(result), isWhole: true };
    });
  }

  private joined(operator: string, masks: readonly Value[]): string {
    const parts = [...new Set(masks.map(({ now }) => now))];
    return parts.length === 1 ? parts[0]! : this.name(parts.join(` ${operator} `));
  }

  private nextOf(operator: string, masks: readonly Value[]): string | null {
    const parts = masks.map(({ next }) => next);
    return parts.includes(null) ? null : `(${parts.join(` ${operator} `)})`;
  }

  /** Emits a constant for an expression, and returns its name. */
  private name(expression: string): string {
    const known = this.names.get(expression);
    if (known !== undefined) return known;
    const name = this.fresh();
    this.names.set(expression, name);
    this.lines.push(`const ${name}: u64 = ${expression};`);
    return name;
  }

  private once(key: string, make: () => Value): Value {
    const value = this.values.get(key) ?? make();
    this.values.set(key, value);
    return value;
  }

  private nameCount = 0;

  private fresh(): string {
    return `m${this.nameCount++}`;
  }

  private carry(what: string): string {
    const name = `${what}${this.carried.length}`;
    this.carried.push(name);
    return name;
  }
}

/** A mask that is defined only for the first byte of each character. */
function leads(now: string): Value {
  return { now, next: null, isWhole: false, isAscii: false };
}

function loopOf(name: string, family: Family, lines: boolean): string {
  const { ascii } = family.classes;
  const ops = new CodeOps();
  const classes = Object.fromEntries(
    Object.keys(ascii).map((name) => [name, classValue(name, family.classes)]),
  );
  const optionNames = Object.keys(family.options);
  const options = Object.fromEntries(
    optionNames.map((name) => [
      name,
      { now: name, next: name, isWhole: true, isAscii: false } satisfies Value,
    ]),
  );
  const { begin, hard } = boundariesOf(family, lines, ops, classes, options, {
    name: "digitCount",
    value: 0,
  });
  const body = ops.lines.join("\n");
  const isUsed = (name: string) => new RegExp(`\\b${name}\\b`).test(body);
  // Small classes come first, because others are built from them.
  const names = Object.keys(ascii)
    .filter(isUsed)
    .sort((a, b) => ascii[a]!.length - ascii[b]!.length);
  const optionLines = optionNames
    .filter(isUsed)
    .map((name) => `const ${name} = isOn(${optionNames.indexOf(name)});`);
  const { kinds } = kindsOf(family.classes);
  const letterKinds = kinds.flatMap(({ isContractionLetter }, id) => (isContractionLetter ? [id] : []));
  const hasLetters = isUsed("contractionLetter");
  const masks = hasLetters ? [...names, "contractionLetter"] : names;
  const wideKinds = (name: string) =>
    name === "contractionLetter"
      ? letterKinds
      : kinds.flatMap(({ classes }, id) => (classes.includes(name) ? [id] : []));
  const wideLines = masks
    .filter((name) => wideKinds(name).length > 0)
    .map(
      (name) =>
        `${nextName(name)} |= ${wideKinds(name)
          .map((id) => `kindMask(${id})`)
          .join(" | ")};`,
    );
  return `// Generated by scripts/generate-mask-loops.ts from src/pattern/mask-formulas.ts.
import { classifyWide, continuationBytes, digitCountOf, forgetSpill${optionLines.length > 0 ? ", isOn" : ""}, kindMask } from "../mask-tables";
import * as o from "../mask-operators";

/** See scanMasks in ../scan-masks. */
export function ${name}(text: usize, start: u32, stop: u32, limit: u32, ends: usize): u32 {
  ${optionLines.join("\n  ")}
  const digitCount = digitCountOf();
  let ${[...masks, "continuation", "wide", "wideBefore", ...ops.carried].map((name) => `${name}: u64 = 0`).join(", ")};
  // No end is written for the start, which is known.
  let kept: u64 = ~1;
  let base = start - 64, reached = start;
  forgetSpill();
  for (let at = start; at + 68 <= limit; at += 64) {
    const bytes = text + at;
    const v0 = v128.load(bytes), v1 = v128.load(bytes, 16), v2 = v128.load(bytes, 32), v3 = v128.load(bytes, 48);
    const nextWide = o.topBits(v0, v1, v2, v3);
    let nextContinuation: u64 = 0;
    ${names.flatMap((name) => asciiLines(name, ascii, names, family.classesOfOptions?.[name])).join("\n    ")}
    ${hasLetters ? `let ${nextName("contractionLetter")}: u64 = 0;` : ""}
    if (nextWide) {
      if (!classifyWide(bytes, nextWide)) break;
      nextContinuation = continuationBytes;
      ${wideLines.join("\n      ")}
    }
    if (at != start) {
      ${body.replaceAll("\n", "\n      ")}
      ${hard.now === "0" ? "" : `if (${hard.now} & ~continuation) break;`}
      ends = o.writeEnds(ends, base, ${begin.now} & kept & ~continuation);
      kept = -1;
      reached = at;
      if (at >= stop) break;
    }
    ${masks.map((name) => `${name} = ${nextName(name)};`).join(" ")}
    wideBefore = wide;
    wide = nextWide;
    continuation = nextContinuation;
    base = at;
  }
  o.leaveEnds(ends);
  return reached;
}
`;
}

function classValue(name: string, { ascii, examples }: ClassSystem): Value {
  const isAscii = !examples.some(({ classes }) => classes.includes(name));
  return ascii[name] === "" && isAscii ? none : { now: name, next: nextName(name), isWhole: true, isAscii };
}

function nextName(name: string): string {
  return `next${name[0]!.toUpperCase()}${name.slice(1)}`;
}

function asciiLines(
  name: string,
  ascii: ClassSystem["ascii"],
  names: readonly string[],
  option: string | undefined,
): string[] {
  const mask = asciiMask(name, ascii, names);
  const result = nextName(name);
  return option === undefined
    ? [`let ${result} = ${mask};`]
    : [`let ${result}: u64 = 0;`, `if (${option}) ${result} = ${mask};`];
}

/**
 * Returns an expression for the mask of a class's ASCII characters. It uses the vectors v0 to v3, and masks of
 * preceding classes.
 */
function asciiMask(name: string, ascii: ClassSystem["ascii"], names: readonly string[]): string {
  const characters = ascii[name]!;
  if (characters === "") return "<u64>0";
  const ofVectors = (test: (v: string) => string) =>
    `o.topBits(${["v0", "v1", "v2", "v3"].map(test).join(", ")})`;
  // For all ASCII letters, one test is enough: it sets the bit of lower case before it compares.
  const ranges = rangesOf(characters);
  if (characters.length === 52 && ranges.length === 2) return ofVectors((v) => `o.letters(${v})`);
  const isRange = (other: string, [first, last]: Range) =>
    other !== name && `${rangesOf(ascii[other]!)}` === `${first},${last}`;
  const known = ranges.map((range) => names.find((other) => isRange(other, range)));
  const tests = ranges
    .filter((_, i) => ranges.length === 1 || known[i] === undefined)
    .map(([first, last]) =>
      first === last
        ? (v: string) => `o.equal(${v}, ${first})`
        : (v: string) => `o.within(${v}, ${first}, ${last - first + 1})`,
    );
  const found = ofVectors((v) => tests.map((test) => test(v)).reduce((a, b) => `v128.or(${a}, ${b})`));
  const others = ranges.length === 1 ? [] : known.filter((other) => other !== undefined);
  return [...others.map(nextName), found].join(" | ");
}

type Range = [first: number, last: number];

function rangesOf(characters: string): Range[] {
  const ranges: Range[] = [];
  for (const byte of Array.from(characters, (character) => character.charCodeAt(0)).sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === byte) last[1] = byte;
    else ranges.push([byte, byte]);
  }
  return ranges;
}

/** Writes all loops into the kernel's sources. */
export function generateMaskLoops(): void {
  const directory = join(import.meta.dir, "../src/kernel/masks/loops");
  mkdirSync(directory, { recursive: true });
  for (const [name, family] of Object.entries(families)) {
    for (const lines of [false, true]) {
      const loopName = lines ? `${name}Lines` : name;
      const fileName = loopName.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      writeFileSync(join(directory, `${fileName}.ts`), loopOf(loopName, family, lines));
    }
  }
}
