import { scriptRunsBase64 } from "./script-data.ts";
import { decodeNumbers } from "./unicode.ts";

/*
 * The scripts of characters, as BoundlessBPE's pretokenizer knows them: of Unicode 17.0, while the classes of regular
 * expressions are of the version of HF's engine (unicode.ts).
 */

/** Scripts as numbers. What is Common and what has no script is one: neither begins a run of a script. */
export const scriptNumbers = { common: 0, inherited: 1, firstReal: 2 } as const;

/** The scripts that have the first numbers of all: their text is cut letter by letter. */
export const letterwiseScripts = ["Han", "Hiragana", "Katakana", "Thai", "Myanmar", "Khmer", "Lao"] as const;

export const isRealScript = (script: number): boolean => script >= scriptNumbers.firstReal;

export const isLetterwise = (script: number): boolean =>
  isRealScript(script) && script < scriptNumbers.firstReal + letterwiseScripts.length;

/**
 * The script of every code point, in blocks of 64.
 *
 *   ARRAY     TYPE          LENGTH   MEANING
 *   blocks    Uint16Array   17408    where the block of code points 64 b .. 64 b + 63 begins in `scripts`
 *   scripts   Uint8Array    varies   blocks end to end, equal ones once
 */
export type ScriptTable = { readonly blocks: Uint16Array; readonly scripts: Uint8Array };

let table: ScriptTable | undefined;

/** The table, made when it is first asked for: some milliseconds. */
export function scriptTable(): ScriptTable {
  table ??= buildTable();
  return table;
}

export function scriptOf({ blocks, scripts }: ScriptTable, codePoint: number): number {
  return scripts[blocks[codePoint >> blockBits]! + (codePoint & (blockSize - 1))]!;
}

const blockBits = 6;
const blockSize = 1 << blockBits;
const codePointCount = 0x110000;

function buildTable(): ScriptTable {
  const all = Buffer.alloc(codePointCount);
  const runs = decodeNumbers(scriptRunsBase64);
  for (let i = 0, first = 0; i < runs.length; i += 2) {
    all.fill(runs[i]!, first, first + runs[i + 1]!);
    first += runs[i + 1]!;
  }
  const blocks = new Uint16Array(codePointCount >> blockBits);
  const starts = new Map<string, number>();
  const kept: Buffer[] = [];
  for (let b = 0; b < blocks.length; b++) {
    const block = all.subarray(b << blockBits, (b + 1) << blockBits);
    const key = block.toString("latin1");
    let start = starts.get(key);
    if (start === undefined) {
      start = kept.length << blockBits;
      starts.set(key, start);
      kept.push(block);
    }
    blocks[b] = start;
  }
  return { blocks, scripts: new Uint8Array(Buffer.concat(kept)) };
}
