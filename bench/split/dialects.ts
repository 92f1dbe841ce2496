// Checks that we cut random texts by random patterns as the engines of HF and of tiktoken do:
//
//   node scripts/bun.mjs bench/split/dialects.ts [--python PATH] [--patterns N] [--seed N]
//
// A pattern is in the dialect of one engine, and is rewritten for our compiler and the other engine. Exits with 1 if
// there is a difference.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import type { CompiledPattern } from "../../src/pattern/compiled-pattern.ts";
import { type Dialect, fancyRegex, oniguruma } from "../../src/pattern/dialect.ts";
import * as compiledPatterns from "../../src/pattern/pattern.ts";
import { portableForm } from "../../src/pattern/portable-source.ts";
import { pick, randomNumbers } from "../../test/random.ts";
import { pretokenEnds } from "../../test/unit/pattern/naive.ts";

const { values: options } = parseArgs({
  options: {
    python: { type: "string", default: "dist/peers/bin/python" },
    patterns: { type: "string", default: "5000" },
    seed: { type: "string", default: "1" },
  },
});
const random = randomNumbers(Number(options.seed));

type Answer = { pieces?: string[][]; error?: string };

const server = spawn(options.python, [new URL("engines.py", import.meta.url).pathname], {
  stdio: ["pipe", "pipe", "ignore"],
});
const answers = createInterface({ input: server.stdout })[Symbol.asyncIterator]();

async function ask(engine: "huggingface" | "tiktoken", pattern: string, texts: string[]): Promise<Answer> {
  server.stdin.write(`${JSON.stringify({ engine, pattern, texts })}\n`);
  return JSON.parse((await answers.next()).value!);
}

const characters = [
  ...[
    "a",
    "b",
    "A",
    "s",
    "S",
    "ſ",
    "ß",
    "ẞ",
    "t",
    "f",
    "i",
    "I",
    "ﬁ",
    "ﬆ",
    "İ",
    "ı",
    "k",
    "K",
    "\u212a",
    "ŉ",
    "ʼ",
    "n",
  ],
  ...[
    "1",
    "2",
    "²",
    "½",
    "٣",
    "_",
    "-",
    "'",
    " ",
    "\n",
    "\r",
    "\t",
    "\u00a0",
    "\u0085",
    "\u200d",
    "\u0301",
    "\u0307",
  ],
  ...["é", "É", "中", "😀", "Σ", "ς", "σ", "ǆ", "ǅ", ".", "!", "\v", "\u2028"],
];
const plainCharacters = ["a", "b", "s", "S", "1", " ", "\n", "'"];

const repeated = (most: number, make: () => string) =>
  Array.from({ length: 1 + random(most) }, make).join("");
const someText = () => {
  const from = random(3) === 0 ? characters : plainCharacters;
  return repeated(9, () => pick(random, random(4) === 0 ? characters : from));
};

const escapes = [
  ...[
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "\\d",
    "\\D",
    "\\h",
    "\\H",
    "\\p{L}",
    "\\p{Lu}",
    "\\P{Ll}",
    "\\p{N}",
    "\\p{^M}",
  ],
  ...["\\n", "\\x{e9}", "\\x41", "\\u00df", "\\p{Han}", "\\p{Alphabetic}", "\\p{M}", "\\r", "\\t", "\\v"],
];
const literal = () => {
  const character = pick(random, random(3) === 0 ? characters : plainCharacters);
  return /[.!'_-]/.test(character) ? `\\${character}` : character;
};
const posix = [
  "alpha",
  "alnum",
  "upper",
  "lower",
  "punct",
  "space",
  "digit",
  "word",
  "cntrl",
  "graph",
  "print",
];
const classItem = (depth: number): string => {
  const kind = random(14);
  if (kind < 6) return literal();
  if (kind < 8) return pick(random, ["a-z", "A-Z", "0-9", "s-t", "é-ÿ", "\\x{0}-\\x{40}"]);
  if (kind < 11) return pick(random, escapes);
  if (kind === 11 && depth > 0) return aClass(depth - 1);
  if (kind === 12)
    return `[:${random(4) === 0 ? "^" : ""}${pick(random, [...posix, "blank", "xdigit", "ascii"])}:]`;
  return "-";
};
const aClass = (depth: number): string => {
  const items = () => repeated(3, () => classItem(depth));
  return `[${random(4) === 0 ? "^" : ""}${items()}${random(6) === 0 ? `&&${items()}` : ""}]`;
};
const counts = ["?", "*", "+", "{1,3}", "{2}", "{0,2}", "{,2}", "{2,}"];
const count = () => {
  if (random(3) > 0) return "";
  return (
    pick(random, counts) +
    pick(random, ["", "", "", "?", "+"]) +
    (random(25) === 0 ? pick(random, counts) : "")
  );
};
const assertions = [
  ...[
    "^",
    "$",
    "\\b",
    "\\B",
    "\\A",
    "\\z",
    "\\Z",
    "(?!\\S)",
    "(?=a)",
    "(?!a)",
    "(?<=a)",
    "(?<!\\s)",
    "(?=\\s|$)",
  ],
  ...["(?<=^|b)", "(?=ab)", "(?<![ab])", "(?!$)"],
];
const flags = ["i", "i", "i", "m", "s", "-i", "im", "i-m"];
const term = (depth: number): string => {
  const kind = random(24);
  if (kind < 9) return literal() + count();
  if (kind < 12) return pick(random, [...escapes, "."]) + count();
  if (kind < 16) return aClass(1) + count();
  if (kind < 18) return pick(random, assertions);
  if (depth === 0) return literal();
  if (kind < 20) return `(?:${choice(depth - 1)})${count()}`;
  if (kind === 20) return `(?${pick(random, flags)}:${choice(depth - 1)})${count()}`;
  if (kind === 21)
    return pick(random, ["(?i)", "(?i)", "(?m)", "(?>", "("]).replace(
      /^(\(\?>|\()$/,
      (open) => `${open}${choice(depth - 1)})`,
    );
  if (kind === 22)
    return pick(random, [
      "(a|b)\\1",
      "(?<x>\\w)\\k<x>",
      "(?i:s)s",
      "(?i:st)",
      "(?i:ss?)",
      "(?i:fi)",
      "(?i:k)",
    ]);
  return `(?i:${choice(depth - 1)})`;
};
const sequence = (depth: number) => repeated(3, () => term(depth));
const choice = (depth: number): string =>
  Array.from({ length: 1 + random(3) }, () => sequence(depth)).join("|");

function pieces(compiled: CompiledPattern, text: string): string[] {
  const bytes = Buffer.from(text);
  let start = 0;
  return pretokenEnds(compiled, bytes).map((end) => {
    const piece = bytes.toString("utf8", start, end);
    start = end;
    return piece;
  });
}

const tally = new Map<string, number>();
const note = (what: string) => tally.set(what, (tally.get(what) ?? 0) + 1);
let texts: string[] = [];
let differenceCount = 0;

/** Returns a pattern that matches every character, because tiktoken drops text that a pattern does not match. */
const whole = (pattern: string) => `(?:${pattern})|[\\s\\S]`;

async function compare(pattern: string, form: string, engine: "huggingface" | "tiktoken", label: string) {
  const answer = await ask(engine, engine === "tiktoken" ? whole(pattern) : pattern, texts);
  if (answer.pieces === undefined) {
    note(`${label}: the engine refuses what we read: ${answer.error!.slice(0, 90)}`);
    if (tally.get(`${label}: the engine refuses what we read: ${answer.error!.slice(0, 90)}`)! <= 2)
      console.log("  engine refuses", engine, JSON.stringify(pattern), answer.error!.slice(0, 120));
    return;
  }
  const compiled = compiledPatterns.compile([engine === "tiktoken" ? whole(form) : form]);
  for (const [i, text] of texts.entries()) {
    const ours = pieces(compiled, text);
    if (Bun.deepEquals(ours, answer.pieces[i])) continue;
    differenceCount++;
    const said = [text, ours, answer.pieces[i]].map((value) => JSON.stringify(value)).join(" ");
    console.log(`${label} ${engine} ${JSON.stringify(pattern)} form ${JSON.stringify(form)} on ${said}`);
    note(`${label}: different`);
    return;
  }
  note(`${label}: equal`);
}

for (let number = 0; number < Number(options.patterns); number++) {
  if (number % 50 === 0) texts = Array.from({ length: 40 }, someText);
  const pattern = choice(2);
  const [dialect, engine, other]: [Dialect, "huggingface" | "tiktoken", "huggingface" | "tiktoken"] =
    random(2) === 0 ? [oniguruma, "huggingface", "tiktoken"] : [fancyRegex, "tiktoken", "huggingface"];
  let form: string;
  try {
    form = portableForm(pattern, dialect);
    compiledPatterns.compile([form]);
  } catch (error) {
    note(
      `${engine}: we refuse: ${(error as Error).message
        .replace(/^pattern: /, "")
        .replace(/(, at character|: ).*/s, "")
        .slice(0, 60)}`,
    );
    continue;
  }
  await compare(pattern, form, engine, "read as");
  await compare(form, form, other, "portable");
}
server.stdin.end();
for (const [what, times] of [...tally].sort((a, b) => b[1] - a[1])) console.log(`${times}\t${what}`);
console.log(`${differenceCount} differences (seed ${options.seed})`);
process.exitCode = differenceCount === 0 ? 0 : 1;
