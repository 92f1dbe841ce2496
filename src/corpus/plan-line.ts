import type { Input, InputFormat } from "./input.ts";
import type { Range } from "./range.ts";

/**
 * A plan as text: one range a line, as JSON. Each line can be checked by itself, so lines may be shuffled, split among
 * machines and joined with those of other plans.
 *
 *   FIELD                  MEANING
 *   path                   the file, as it was typed
 *   start, end             bytes [start, end) of it
 *   startsInside           the range begins (ends) at a safe cut inside a document, not at the edge of one
 *   endsInside
 *   index                  0, 1, 2, … through the plan: parts that are joined in this order are the whole
 *   sizeBytes, modifiedMs  of the file when the plan was made; of another one the ranges are not
 *   inputFormat            as what the file is read: text, jsonl, which is cut at ends of lines, or parquet
 *   textField              of jsonl and parquet: the field, or column, that holds the texts
 *   documents              that begin in the range; only if they were counted
 *   patternDigest          what the cuts depend on: ranges that were made for other options
 *   specialTokensDigest    are cut where words may cross
 *   isLinewise
 *   digest                 of all of the above: whether a place is a good one to cut cannot be seen without reading
 *                          what stands there, so a line is taken as it was written or not at all
 *
 * The digest is over values, not over text: a line may be read and written anew by any JSON library, and fields may be
 * added.
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
  /** Not there in lines of older versions: then it is for the run to say. */
  readonly textField?: string | undefined;
  readonly documents?: number | undefined;
  readonly patternDigest: string;
  readonly specialTokensDigest: string;
  readonly isLinewise: boolean;
  readonly digest: string;
};

/** What the cuts of a plan depend on. */
export type CutSettings = {
  /** Sources of the pattern's splits, in order. */
  readonly patterns: readonly string[];
  readonly specialTokens: readonly string[];
  /** Whether documents are cut at the ends of lines, too. */
  readonly isLinewise: boolean;
};

/** The same for equal options only. Special tokens are a set: their order is a matter of ids, not of cuts. */
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
    ...(input.format !== "text" && { textField: input.textField }),
    ...(documents !== undefined && { documents }),
    ...options,
  };
  return { ...line, digest: digestLine(line) };
}

/** Goes into every digest: lines of another format have no right one. */
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

const hexDigest = (content: unknown) =>
  Bun.hash.xxHash64(JSON.stringify(content)).toString(16).padStart(16, "0");
