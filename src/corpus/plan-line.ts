import { xxHash64 } from "../runtime/host.ts";
import { hasFields, type Input, type InputFormat } from "./input.ts";
import type { Range } from "./range.ts";

/**
 * A plan as text: one range a line, as JSON. Each line can be checked by itself, so lines may be shuffled, split among
 * machines, and joined with lines of other plans.
 *
 *   FIELD                  MEANING
 *   path                   the file, as it was typed
 *   start, end             bytes [start, end) of the file
 *   startsInside           the range begins (ends) at a safe cut inside a document, not at the edge of one
 *   endsInside
 *   index                  0, 1, 2, … through the plan: the order in which parts are joined to the whole
 *   sizeBytes, modifiedMs  of the file when the plan was made: the ranges hold for that file only
 *   inputFormat            the format of the file: text, jsonl, json or parquet
 *   textField              of all formats but text: the field, or column, that holds the texts
 *   documents              how many documents begin in the range; only if they were counted
 *   patternDigest          the options that the cuts depend on: with other options a word may cross the edge of a
 *   specialTokensDigest    range
 *   isLinewise
 *   digest                 of all of the above: without reading the text nobody can see whether it may be cut at a
 *                          place, so a line is accepted as it was written or not at all
 *
 * The digest is made of the values, not of the text: any JSON library may rewrite a line, and fields may be added.
 */
export type PlanLine = {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly startsInside: boolean;
  readonly endsInside: boolean;
  readonly index: number;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  readonly inputFormat: InputFormat;
  /** Missing in lines of older versions: then the run's option counts. */
  readonly textField?: string | undefined;
  readonly documents?: number | undefined;
  readonly patternDigest: string;
  readonly specialTokensDigest: string;
  readonly isLinewise: boolean;
  readonly digest: string;
};

/** The options that the cuts of a plan depend on. */
export type CutSettings = {
  /** Sources of the pattern's splits, in order. */
  readonly patterns: readonly string[];
  readonly specialTokens: readonly string[];
  /** Whether documents are cut at ends of lines, too. */
  readonly isLinewise: boolean;
};

/** Equal for equal options only. Special tokens are a set: their order matters for ids, not for cuts. */
export const digestOptions = ({ patterns, specialTokens, isLinewise }: CutSettings) => ({
  patternDigest: hexDigest(patterns),
  specialTokensDigest: hexDigest(specialTokens.toSorted()),
  isLinewise,
});

export function planLine(
  input: Input,
  range: Range,
  index: number,
  options: ReturnType<typeof digestOptions>,
  documents?: number,
): PlanLine {
  const line = {
    path: input.path,
    start: range.startByte,
    end: range.endByte,
    startsInside: range.startsInside,
    endsInside: range.endsInside,
    index,
    sizeBytes: input.sizeBytes,
    modifiedMs: input.modifiedMs,
    inputFormat: input.format,
    ...(hasFields(input.format) && { textField: input.textField }),
    ...(documents !== undefined && { documents }),
    ...options,
  };
  return { ...line, digest: digestLine(line) };
}

/** Part of every digest, so that the digest of a line in another format is wrong. */
const formatVersion = 1;

export const digestLine = (line: Omit<PlanLine, "digest">) =>
  hexDigest([
    formatVersion,
    line.path,
    line.start,
    line.end,
    line.startsInside,
    line.endsInside,
    line.index,
    line.sizeBytes,
    line.modifiedMs,
    line.inputFormat,
    line.documents,
    line.patternDigest,
    line.specialTokensDigest,
    line.isLinewise,
    ...(line.textField === undefined ? [] : [line.textField]),
  ]);

const hexDigest = (content: unknown) => xxHash64(JSON.stringify(content)).toString(16).padStart(16, "0");
