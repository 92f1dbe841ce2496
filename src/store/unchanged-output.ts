import { lstatSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, listOf, text, tupleOf } from "../bytes/schema.ts";
import { createSha256, xxHash64 } from "../runtime/host.ts";
import type { CacheDirectory } from "./cache-directory.ts";
import { resultName } from "./cache-names.ts";
import { Damaged, parseChecked } from "./checked-files.ts";
import { namesBelow } from "./standing-result.ts";
import { readFound } from "./trusted-files.ts";

/**
 * What an output was made of, noted in the cache by the output's path: a line with the xxHash64 of the rest, then JSON. A
 * run with the same note, which finds the files as they were written, has nothing to do.
 */
export type MadeOf = {
  readonly version: string;
  readonly bunVersion: string;
  /** Which code made it (runtime/version.ts, `codeIdentity`). */
  readonly code: string;
  /** Every option that changes the bytes of the result, or the order of its ids. */
  readonly settings: object;
  /** Path and content of each input, in order. */
  readonly inputs: readonly (readonly [path: string, content: string])[];
  /** Path and SHA-256 of each file of word counts. */
  readonly counts: readonly (readonly [path: string, sha256: string])[];
};

export type Result = { readonly madeOf: MadeOf; readonly files: Files };
/** Path and SHA-256 of each file that was written. */
type Files = readonly (readonly [path: string, sha256: string])[];

/** Notes the files of an output as they are now, and what they were made of. */
export function keepResult(
  cache: CacheDirectory,
  temporaryPath: string,
  place: string,
  otherFiles: readonly string[],
  madeOf: MadeOf,
): void {
  const files = filesOf(place, otherFiles);
  if (files === undefined) return;
  const json = JSON.stringify({ madeOf, files } satisfies Result);
  cache.write(resultName(place), temporaryPath, () => [Buffer.from(`${checksumOf(json)}\n${json}`)]);
}

/** The note of an output; undefined if there is none, or a damaged one, which is a warning. */
export function readResult(cache: CacheDirectory, place: string): Result | undefined {
  const name = resultName(place);
  const content = cache.read(name).toString();
  if (content === "") return undefined;
  const lineEnd = content.indexOf("\n");
  const json = content.slice(lineEnd + 1);
  try {
    if (content.slice(0, Math.max(0, lineEnd)) !== checksumOf(json)) throw new Damaged(name);
    parseChecked(name, json, resultFields);
    // Parsed anew, because the fields keep their order: notes are compared as text.
    return JSON.parse(json) as Result;
  } catch (error) {
    if (!(error instanceof Damaged)) throw error;
    cache.setAside(name, "the output is made again");
    return undefined;
  }
}

const filesCheck = listOf(tupleOf(text, text));
const resultFields = fieldsOf({
  madeOf: fieldsOf({
    version: text,
    bunVersion: text,
    code: text,
    settings: fieldsOf({}),
    inputs: filesCheck,
    counts: filesCheck,
  }),
  files: filesCheck,
});

/** Whether the output is complete and was made of the same. */
export function isUpToDate(
  result: Result,
  place: string,
  otherFiles: readonly string[],
  madeOf: MadeOf,
): boolean {
  if (JSON.stringify(result.madeOf) !== JSON.stringify(madeOf)) return false;
  return JSON.stringify(filesOf(place, otherFiles)) === JSON.stringify(result.files);
}

/** The contents of the inputs that an output was made of. */
export const contentsOf = ({ madeOf }: Result): string[] => madeOf.inputs.map(([, content]) => content);

const checksumOf = (json: string) => xxHash64(json).toString(16);

/** The files of an output. Undefined if one is no regular file in a plain directory, or may be another user's. */
function filesOf(place: string, otherFiles: readonly string[]): Files | undefined {
  try {
    if (!lstatSync(place).isDirectory()) return undefined;
    const paths = [...namesBelow(place).map((name) => join(place, name)), ...otherFiles];
    return paths.map((path) => [path, createSha256().update(readFound(path)).digest("hex")]);
  } catch {
    return undefined;
  }
}
