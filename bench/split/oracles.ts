// Compares our pretokens for named patterns with those of a naive splitter, of HF's tokenizers and of tiktoken:
//
//   node scripts/bun.mjs bench/split/oracles.ts [--length N] [--characters N] [--random N] [--pattern NAME]... [file]...
//
// --length 4 --characters 20 (the default) is 168,420 strings a pattern and takes a few minutes.

import { parseArgs } from "node:util";
import { type NamedPattern, type PatternName, patterns } from "../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../src/pattern/pattern.ts";
import { pick, randomNumbers } from "../../test/random.ts";
import {
  naiveEnds,
  naivePieces,
  naiveRegExp,
  pretokenEnds,
  randomBytes,
  tellingCharacters,
} from "../../test/unit/pattern/naive.ts";
import { huggingfaceOracle, type Oracle, tiktokenOracle } from "../../test/unit/pattern/oracles.ts";

const { values: options, positionals: paths } = parseArgs({
  allowPositionals: true,
  options: {
    length: { type: "string", default: "4" },
    characters: { type: "string", default: "20" },
    random: { type: "string", default: "20000" },
    pattern: { type: "string", multiple: true, default: Object.keys(patterns) },
  },
});
const seed = 20261120;
/**
 * The most bytes of each file that are compared. The file is compared line by line, because only our splitter reads a
 * whole file in bounded time.
 */
const fileSizeBytesMax = 4_000_000;
/** tiktoken gets at most this many random texts, because it is given every substring of its texts as a token. */
const tiktokenTextCount = 20_000;

function stringsOf(characters: readonly string[], lengthMax: number): string[] {
  const strings: string[] = [];
  let longest = [""];
  for (let length = 1; length <= lengthMax; length++) {
    longest = longest.flatMap((start) => characters.map((character) => start + character));
    for (const string of longest) strings.push(string);
  }
  return strings;
}

function naiveOracle(sources: readonly string[]): Oracle {
  const regexps = sources.map(naiveRegExp);
  return (content) => {
    let end = 0;
    return naivePieces(content, regexps).map((piece) => (end += Buffer.byteLength(piece)));
  };
}

let differenceCount = 0;
function countDifferences<T>(
  name: string,
  contents: readonly T[],
  found: (content: T) => number[],
  wanted: (content: T) => number[],
) {
  let differing = 0;
  for (const content of contents) {
    const ours = found(content).join();
    const theirs = wanted(content).join();
    if (ours === theirs) continue;
    if (differing++ < 3)
      console.error(`${name} on ${JSON.stringify(content)}: ${ours}, not ${theirs} (seed ${seed})`);
  }
  differenceCount += differing;
  return `${contents.length.toLocaleString("en")}: ${differing}`;
}

const strings = stringsOf(tellingCharacters.slice(0, Number(options.characters)), Number(options.length));
const random = randomNumbers(seed);
const randomTexts = Array.from({ length: Number(options.random) }, () => {
  let content = "";
  for (let length = 1 + random(12); length > 0; length--) content += pick(random, tellingCharacters);
  return content;
});
const randomByteStrings = Array.from({ length: Number(options.random) }, () =>
  randomBytes(random, 1 + random(16)),
);
const lines: string[] = [];
for (const path of paths) {
  const content = await Bun.file(path).slice(0, fileSizeBytesMax).text();
  // The last line is left out, because it may be cut inside a character.
  lines.push(
    ...content
      .split(/(?<=\n)(?=\S)/)
      .slice(0, -1)
      .filter((line) => line.length < 20_000 && !line.includes("\ufffd")),
  );
}

console.log(
  "| pattern | RegExp: strings | RegExp: random bytes | HF: strings | HF: random | HF: lines of files | tiktoken: random |",
);
console.log("|---|---|---|---|---|---|---|");
for (const name of options.pattern as PatternName[]) {
  const { sources }: NamedPattern = patterns[name];
  const compiled = compiledPatterns.compile(sources);
  const ours = (content: string | Uint8Array) => pretokenEnds(compiled, Buffer.from(content));
  const naive = naiveOracle(sources);
  const regexps = sources.map(naiveRegExp);
  const huggingface = huggingfaceOracle({ name, sources });
  const cells = [
    name,
    countDifferences(name, strings, ours, naive),
    countDifferences(name, randomByteStrings, ours, (bytes) => naiveEnds(bytes, regexps)),
    countDifferences(name, strings, ours, huggingface),
    countDifferences(name, randomTexts, ours, huggingface),
    countDifferences(name, lines, ours, huggingface),
  ];
  if (sources.length > 1) cells.push("-");
  else {
    const texts = randomTexts.slice(0, tiktokenTextCount);
    const { oracle, free } = tiktokenOracle(sources[0]!, texts);
    cells.push(countDifferences(name, texts, ours, oracle));
    free();
  }
  console.log(`| ${cells.join(" | ")} |`);
}
process.exit(differenceCount === 0 ? 0 : 1);
