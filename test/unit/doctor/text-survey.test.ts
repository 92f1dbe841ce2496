import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TextSurvey } from "../../../src/doctor/text-survey.ts";
import * as tokenizerFiles from "../../../src/formats/load-tokenizer.ts";
import * as tokenTables from "../../../src/tokenizer/token-table.ts";
import { findDocumentEndId, type TokenizerParts } from "../../../src/tokenizer/tokenizer-parts.ts";
import { type Random, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { specialTokens, writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 7);
const parts = await tokenizerFiles.load(writeTokenizer("gpt2"));
const endId = findDocumentEndId(parts)!;
const added = new Set(parts.addedTokens.map(({ id }) => id));
const probe = readFileSync(join(import.meta.dir, "../../../docs/probe-1.json"), "utf8");
const characters = [...probe];

/** The ids of single bytes. */
const idOfByte = new Map(
  Array.from({ length: parts.tokens.idLimit }, (_, id) => id)
    .filter((id) => tokenTables.bytesOf(parts.tokens, id).length === 1)
    .map((id) => [tokenTables.bytesOf(parts.tokens, id)[0]!, id]),
);

/** Returns ids of random tokens, and of the bytes of whole characters. */
function randomIds(random: Random): number[] {
  const ids: number[] = [];
  for (let n = random(40); n > 0; n--) {
    if (random(4) === 0) ids.push(random(parts.tokens.idLimit));
    else
      for (const byte of Buffer.from(characters[random(characters.length)]!)) ids.push(idOfByte.get(byte)!);
  }
  return ids;
}

type Input = { readonly isText: boolean; readonly documents: number[][] };

/** Returns random documents. A text is split after each token that ends a document; a record is not split. */
function randomInput(random: Random): Input {
  const isText = random(2) === 0;
  const documents = Array.from({ length: random(6) }, () => randomIds(random));
  if (!isText) return { isText, documents };
  const all = documents.flatMap((ids, i) =>
    i < documents.length - 1 || random(2) === 0 ? [...ids, endId] : ids,
  );
  const split: number[][] = [];
  for (let rest = all; rest.length > 0; ) {
    const at = rest.indexOf(endId);
    const length = at < 0 ? rest.length : at + 1;
    split.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return { isText, documents: split };
}

/** Writes the ids of an input in pieces of random lengths. */
function write(survey: TextSurvey, { isText, documents }: Input, inputIndex: number, random: Random): void {
  const ids = documents.flat();
  let sum = 0;
  const ends = documents.map((document) => (sum += document.length));
  let written = 0;
  for (let pos = 0; pos < ids.length || written < ends.length; ) {
    const to = Math.min(ids.length, pos + random(9));
    const inPiece = ends
      .slice(written)
      .filter((end) => end <= to && (end < to || random(2) === 0 || to === ids.length));
    written += inPiece.length;
    const recordEnds = Uint32Array.from(inPiece.map((end) => end - pos));
    survey.write(Uint32Array.from(ids.slice(pos, to)), isText ? undefined : recordEnds);
    pos = to;
    if (random(3) === 0) survey.endTask({ endsInput: false, inputIndex });
  }
  if (isText) survey.endInput();
  survey.endTask({ endsInput: true, inputIndex });
}

/** Counts naively what a `TextSurvey` counts, from lists of documents. */
function naiveSurvey(inputs: readonly Input[], { tokens }: TokenizerParts) {
  const documents = inputs.flatMap((input) => input.documents);
  const counts = new Array<number>(tokens.idLimit).fill(0);
  const documentCounts = new Array<number>(tokens.idLimit).fill(0);
  const lastDocuments = new Array<number>(tokens.idLimit).fill(0);
  const scripts = new Map<string, { tokens: number; bytes: number }>();
  for (const [number, ids] of documents.entries()) {
    for (const id of ids) counts[id]!++;
    for (const id of new Set(ids)) {
      documentCounts[id]!++;
      lastDocuments[id] = number + 1;
    }
    for (const group of naiveGroups(ids)) {
      const text = Buffer.concat(group.map((id) => tokenTables.bytesOf(tokens, id)));
      const name = naiveScript(text.toString());
      const sum = scripts.get(name) ?? { tokens: 0, bytes: 0 };
      scripts.set(name, { tokens: sum.tokens + group.length, bytes: sum.bytes + text.length });
    }
  }
  return { counts, documentCounts, lastDocuments, scripts };
}

const isWhole = (ids: readonly number[]) => {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(
      Buffer.concat(ids.map((id) => tokenTables.bytesOf(parts.tokens, id))),
    );
    return true;
  } catch {
    return false;
  }
};

/**
 * Returns the shortest runs of tokens that together are whole characters, of at most 64 bytes. Leaves out added tokens,
 * and tokens that are in no such run.
 */
function naiveGroups(ids: readonly number[]): number[][] {
  const groups: number[][] = [];
  let run: number[] = [];
  for (const id of ids) {
    if (isWhole([id])) run = [];
    if (added.has(id)) continue;
    run.push(id);
    const byteCount = run.reduce((sum, each) => sum + tokenTables.bytesOf(parts.tokens, each).length, 0);
    if (byteCount > 64) run = [];
    if (run.length === 0 || !isWhole(run)) continue;
    groups.push(run);
    run = [];
  }
  return groups;
}

const named = ["Latin", "Cyrillic", "Greek", "Han", "Hiragana", "Hangul", "Arabic", "Devanagari", "Thai"];

/**
 * Returns the script of a text's first letter. If a text has no letters, numbers, punctuation, symbols or white space
 * (usually it has only marks), returns the script of its characters. Returns "another" for a script that is not in
 * `named`, and "none" for other texts without letters.
 */
function naiveScript(text: string): string {
  const isMark = !/[\p{L}\p{N}\p{P}\p{S}\p{White_Space}]/u.test(text);
  const letter = isMark ? text : /\p{L}/u.exec(text)?.[0];
  if (letter === undefined) return "none";
  return named.find((name) => new RegExp(`\\p{Script=${name}}`, "u").test(letter)) ?? "another";
}

test("documents, tokens and scripts are counted as by a naive count", () => {
  expect(specialTokens).toContain("<|endoftext|>");
  for (let round = 0; round < rounds(300); round++) {
    const random = randomNumbers(seed * 1000 + round);
    const inputs = Array.from({ length: 1 + random(4) }, () => randomInput(random));
    const survey = new TextSurvey(
      inputs.map((_, i) => ({ path: `${i}.txt` })),
      parts,
    );
    for (const [i, input] of inputs.entries()) write(survey, input, i, random);
    const { scripts, documentCount, idCount, inputs: found, ...counted } = survey.result();
    const naive = naiveSurvey(inputs, parts);
    const lists = Object.fromEntries(Object.entries(counted).map(([name, list]) => [name, [...list]]));
    const { scripts: naiveScripts, ...naiveLists } = naive;
    expect({ round, ...lists }).toEqual({ round, ...naiveLists });
    expect(idCount).toBe(naive.counts.reduce((sum, count) => sum + count));
    expect(documentCount).toBe(
      inputs.flatMap(({ documents }) => documents).filter((ids) => ids.length > 0).length,
    );
    expect(found.map((of) => of.documentCount)).toEqual(inputs.map(({ documents }) => documents.length));
    expect(found.map((of) => of.name)).toEqual(inputs.map((_, i) => `"${i}.txt"`));
    for (const name of named) {
      const script = scripts.find((of) => of.name === name);
      expect({ round, name, ...(script ?? naiveScripts.get(name)) }).toEqual({
        round,
        name,
        ...(naiveScripts.get(name) ?? script!),
      });
      expect(script === undefined).toBe(!naiveScripts.has(name));
    }
  }
});
