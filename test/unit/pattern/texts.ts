import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import type { ScanTables } from "../../../src/pattern/scan-tables.ts";
import type { Random } from "../../random.ts";

/** Returns the tables of a pattern that compiles to one automaton. */
export function tablesOf(...sources: string[]): ScanTables {
  return compiledTables(sources, false);
}

/**
 * Returns the tables of a pattern that compiles to one automaton. With `lineWise`, a document ends after each line
 * feed.
 */
export function compiledTables(sources: readonly string[], lineWise: boolean): ScanTables {
  const compiled = compiledPatterns.compile(sources, { lineWise });
  if (compiled.automata.length > 1) throw new Error(`not one automaton: ${sources}`);
  return compiled.automata[0]!;
}

/** Characters of every class of every family in src/pattern/mask-formulas.ts. */
const tellingCharacters = Array.from(
  "aelrvsdmtxALRESTZ \n\r\t\f'!/“.129\u0001\u00a0\u3000\u0085\u2028ſKéÉǅʰªÃßا中文々がァー〜・゛\u3040\u3099한글ДяѐЯαΩ" +
    "。，\u0301\u093f²Ⅷ٣３𝟎𝒜𝐚😀❤\ufe0f𐐀𐐨𠀀\ud7ff\ue000\uffff",
);

/** Returns a text of few or many kinds of characters, with runs. */
export function randomText(random: Random, characterCountMax: number): string {
  const kindCount = 2 + random(random(3) > 0 ? 8 : 50);
  const kinds = Array.from({ length: kindCount }, () => tellingCharacters[random(tellingCharacters.length)]!);
  const length = 1 + random(characterCountMax);
  const runMax = random(4) > 0 ? 5 : 90;
  let text = "";
  for (let count = 0; count < length; ) {
    const run = Math.min(random(3) > 0 ? 1 : 1 + random(runMax), length - count);
    text += kinds[random(kindCount)]!.repeat(run);
    count += run;
  }
  return text;
}
