import {
  type Check,
  checkOr,
  fieldsOf,
  flag,
  listOf,
  Mismatch,
  shown,
  text,
  textLike,
  wholeNumber,
} from "../bytes/schema.ts";
import { UserError } from "../errors.ts";
import { unicodeVersion } from "../pattern/unicode-data.ts";
import type { CountsHeader, CountsOptions } from "./counts-format.ts";

/**
 * The header of a counts file in either form: one JSON object.
 *
 *   KEY             VALUE              MEANING
 *   patterns        list of strings    regular expressions of the pattern's splits, in order
 *   specialTokens   list of strings    where documents ended
 *   isLinewise      boolean            whether documents were cut at the ends of lines, too
 *   unicode         string             version of the tables that say what a letter is
 *
 * The compact form has `wordCount`, `byteCount` and `pretokenCount` as well. An unknown key is an error: it may
 * change the meaning of the others.
 */
export function optionsToState({ patterns, specialTokens, isLinewise }: CountsOptions) {
  return { patterns, specialTokens, isLinewise, unicode: unicodeVersion };
}

const patterns: Check<string[]> = (value, name) => {
  const sources = listOf(text)(value, name);
  if (sources.length === 0) throw new Mismatch(value, name, "no list of at least one");
  return sources;
};

export const optionFields = { patterns, specialTokens: listOf(text), isLinewise: flag };
const headerFields = { ...optionFields, unicode: textLike(/^\d[\d.]{0,19}$/, "no version") };
const totalFields = { wordCount: wholeNumber(), byteCount: wholeNumber(), pretokenCount: wholeNumber() };

/** Parses the JSON object of a header. A UserError if the bytes are none. */
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

/** The options of a header. A UserError for a missing or unknown key, or another Unicode version. */
export function checkHeader(path: string, header: Record<string, unknown>): CountsOptions {
  return checkFields(path, header, headerFields);
}

/** The same with the totals. A UserError, too, if these contradict each other. */
export function checkHeaderWithTotals(path: string, header: Record<string, unknown>): CountsHeader {
  const checked = checkFields(path, header, { ...headerFields, ...totalFields });
  const { wordCount, byteCount, pretokenCount } = checked;
  const isPossible =
    wordCount === 0
      ? byteCount === 0 && pretokenCount === 0
      : Math.min(byteCount, pretokenCount) >= wordCount;
  if (isPossible) return checked;
  throw headerError(
    path,
    `says ${wordCount} words of ${byteCount} bytes that occur ${pretokenCount} times: that cannot be`,
  );
}

function checkFields<F extends { unicode: Check<string> } & Record<string, Check<unknown>>>(
  path: string,
  header: Record<string, unknown>,
  fields: F,
) {
  for (const key of Object.keys(header)) {
    if (!Object.hasOwn(fields, key)) {
      throw headerError(path, `says ${shown(key)}, which this program does not know`);
    }
  }
  const checked = checkOr(fieldsOf(fields), header, (what) => {
    throw headerError(path, `is not right: ${what}`);
  });
  if (checked.unicode !== unicodeVersion) {
    throw new CountsFileError(
      path,
      `${path} was made with the letters of Unicode ${checked.unicode}, and this program has those of ${unicodeVersion}`,
      againHint,
    );
  }
  return checked;
}

/** Thrown for a file of word counts that cannot be used as it is. */
export class CountsFileError extends UserError {
  constructor(
    readonly path: string,
    message: string,
    hint: string,
  ) {
    super(message, { hint });
  }
}

export function headerError(path: string, what: string): CountsFileError {
  return new CountsFileError(path, `${path}: its header ${what}`, againHint);
}

export function otherVersion(path: string, version: unknown, known: number): CountsFileError {
  const found = version === undefined ? "no version" : `version ${shown(version)}`;
  const what = `${path} has ${found} of the counts format; this program reads ${known}`;
  return new CountsFileError(path, what, againHint);
}

/** Room for some hundred thousand special tokens. No header is longer. */
export const headerBytesMax = 1 << 24;

const againHint = "count the corpus again with this version of bpe";
