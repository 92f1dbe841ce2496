import { UserError } from "../errors.ts";
import { unicodeVersion } from "../pattern/unicode-data.ts";
import type { CountsHeader, CountsOptions, CountsTotals } from "./counts-format.ts";

/**
 * The header of a counts file in either form: one JSON object.
 *
 *   KEY             VALUE              MEANING
 *   patterns        list of strings    regular expressions of the pattern's splits, in order
 *   specialTokens   list of strings    where documents ended
 *   isLinewise      boolean            whether documents were cut at the ends of lines, too
 *   unicode         string             version of the tables that say what a letter is
 *
 * The compact form has `wordCount`, `byteCount` and `pretokenCount` as well. An unknown key is an error: it may say that
 * the words are not what these keys say.
 */
export function optionsToState({ patterns, specialTokens, isLinewise }: CountsOptions) {
  return { patterns, specialTokens, isLinewise, unicode: unicodeVersion };
}

const isText = (value: unknown) => typeof value === "string";
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;

const optionKeys = {
  patterns: (value: unknown) => isTexts(value) && (value as string[]).length > 0,
  specialTokens: isTexts,
  isLinewise: (value: unknown) => typeof value === "boolean",
  unicode: isText,
};
const totalKeys = { wordCount: isCount, byteCount: isCount, pretokenCount: isCount } satisfies Record<
  keyof CountsTotals,
  unknown
>;

/** The object that the bytes are the JSON of; a UserError if they are none. */
export function parseHeader(path: string, bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {}
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw headerError(path, "is no JSON object");
}

/** The options that a header states; a UserError if it lacks one, has more, or this program takes other letters. */
export function checkHeader(path: string, header: Record<string, unknown>): CountsOptions;
export function checkHeader(path: string, header: Record<string, unknown>, hasTotals: true): CountsHeader;
export function checkHeader(path: string, header: Record<string, unknown>, hasTotals = false): CountsOptions {
  const keys = hasTotals ? { ...optionKeys, ...totalKeys } : optionKeys;
  for (const key of Object.keys(header)) {
    if (!Object.hasOwn(keys, key)) throw headerError(path, `says "${key}", which this program does not know`);
  }
  for (const [key, isFit] of Object.entries(keys)) {
    if (!Object.hasOwn(header, key)) throw headerError(path, `does not say "${key}"`);
    if (!isFit(header[key])) {
      const shown = JSON.stringify(header[key]).slice(0, shownCharacters);
      throw headerError(path, `says that "${key}" is ${shown}`);
    }
  }
  if (header.unicode !== unicodeVersion) {
    throw new UserError(
      `${path} was made with the letters of Unicode ${header.unicode}, and this program has those of ${unicodeVersion}`,
      { hint: againHint },
    );
  }
  return header as CountsOptions;
}

const shownCharacters = 80;

export function headerError(path: string, what: string): UserError {
  return new UserError(`${path}: its header ${what}`, { hint: againHint });
}

export function otherVersion(path: string, version: unknown, known: number): UserError {
  const shown = String(JSON.stringify(version)).slice(0, shownCharacters);
  return new UserError(`${path} has version ${shown} of the counts format; this program reads ${known}`, {
    hint: againHint,
  });
}

/** Room for some hundred thousand special tokens; a header that says it is longer is none. */
export const headerBytesMax = 1 << 24;

const againHint = "count the corpus again with this version of bpe";
