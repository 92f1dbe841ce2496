import { closeSync, readSync, realpathSync } from "node:fs";
import { countNoun, schema } from "#bytes";
import type { CompiledPattern } from "#pattern";
import { asOption, exitCode, files, host, type Message, phrase, UserError, yieldToEventLoop } from "#runtime";
import type { Normalization } from "#text";
import { cutIntoRanges } from "./cut-into-ranges.ts";
import {
  canBeCutByBytes,
  hasFields,
  type Input,
  inputFormats,
  openInput,
  type Range,
  wholeRange,
} from "./input.ts";
import { inspectInput } from "./inspect-input.ts";
import { defaultTextField } from "./json-shape.ts";

/**
 * A line of a plan: a range, as JSON.
 *
 *   FIELD                  MEANING
 *   path                   the file, as typed, or as found in a typed directory or by a glob
 *   start, end             bytes [start, end) of the file
 *   startsInside           the range begins at a safe cut inside a document, not at the edge of one
 *   endsInside             the range ends at a safe cut inside a document, not at the edge of one
 *   index                  0, 1, 2, … through the plan: the order in which the encoded ranges are joined
 *   sizeBytes, modifiedMs  the state of the file when the plan was made: the ranges are valid for that file only
 *   inputFormat            the format of the file, one of `inputFormats`
 *   textField              the field, or column, with the texts; only for formats that have fields
 *   patternDigest          a digest of the patterns
 *   specialTokensDigest    a digest of the special tokens, whatever their order
 *   isLinewise             whether documents also end at the ends of lines
 *   normalization          the normalization of the text, if any
 *   digest                 a digest of the fields above. Whether a cut is valid cannot be checked without reading the
 *                          text, so a changed line is refused
 *
 * The cuts depend on the options from `patternDigest` to `normalization`: with other options, a pretoken may cross the
 * edge of a range. The digest covers the values, not how they are written: any JSON library may rewrite a line, and
 * fields may be added.
 */
export type Line = schema.Checked<typeof planFields>;

const planFields = schema.object({
  path: schema.path,
  start: schema.wholeNumber(),
  end: schema.wholeNumber(),
  startsInside: schema.flag,
  endsInside: schema.flag,
  index: schema.wholeNumber(),
  sizeBytes: schema.wholeNumber(),
  modifiedMs: schema.time,
  inputFormat: schema.oneOf(inputFormats),
  textField: schema.optional(schema.text),
  patternDigest: schema.text,
  specialTokensDigest: schema.text,
  isLinewise: schema.flag,
  normalization: schema.optional(schema.text),
  digest: schema.text,
});

/** The options that decide where a cut is valid. */
export type PlannedCutting = {
  readonly patterns: readonly string[];
  readonly specialTokens: readonly string[];
  /** Whether documents also end at the ends of lines. */
  readonly isLinewise: boolean;
  /** How text is normalized; null or left out: not at all. */
  readonly normalization?: Normalization | null | undefined;
};

/**
 * Returns the options as they are in the lines of a plan: the patterns and the special tokens as digests. Special
 * tokens are sorted, because their order affects ids, not cuts.
 */
const digestOptions = ({ patterns, specialTokens, isLinewise, normalization }: PlannedCutting) => ({
  patternDigest: hexDigest(patterns),
  specialTokensDigest: hexDigest(specialTokens.toSorted()),
  isLinewise,
  normalization: normalization ?? undefined,
});

/** Part of a line's digest, so that lines of another version of the format do not match. */
const formatVersion = 1;

export const digestLine = (line: Partial<Line>) =>
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
    line.patternDigest,
    line.specialTokensDigest,
    line.isLinewise,
    ...(line.textField === undefined ? [] : [line.textField]),
    ...(line.normalization === undefined ? [] : [{ normalization: line.normalization }]),
  ]);

const hexDigest = (content: unknown) => host.xxHash64(JSON.stringify(content)).toString(16).padStart(16, "0");

export type PlanOptions = PlannedCutting & {
  readonly inputs: readonly Input[];
  readonly pattern: CompiledPattern;
  readonly rangeSizeBytes: number;
  readonly keepsTextsWhole: boolean;
};

/**
 * Throws a UserError for a stream, which other machines cannot read, and for a file that is named twice, whose bytes
 * would be counted twice.
 */
export function checkPlannable(inputs: readonly Input[]): void {
  const paths = new Map<string, string>();
  for (const input of inputs) {
    const { path } = input;
    if (input.isStream) throw noFileToPlan(path);
    const file = realpathSync(path);
    const before = paths.get(file);
    if (before !== undefined) {
      const what = before === path ? `"${path}" is named twice` : `"${before}" and "${path}" are one file`;
      throw new UserError(what, { hint: "name each file once: a plan contains each byte only once" });
    }
    paths.set(file, path);
  }
}

export function noFileToPlan(path: string): UserError {
  return new UserError(
    `${path === "-" ? "standard input" : `"${path}" is not a regular file, so it`} cannot be in a plan: runs that read the plan open each file again`,
    {
      hint: "write the text to a file and name that file",
      exitCode: path === "-" ? exitCode.usage : exitCode.failed,
    },
  );
}

/** Yields the ranges of the plan, in order. */
export async function* plannedRanges(options: PlanOptions): AsyncGenerator<Range, void> {
  const { inputs, pattern, normalization = null, rangeSizeBytes, keepsTextsWhole } = options;
  const specialTokens = options.specialTokens.map((token) => new TextEncoder().encode(token));
  for (const [inputIndex, input] of inputs.entries()) {
    const cutting = { pattern, normalization, specialTokens, rangeSizeBytes, keepsTextsWhole };
    const whole = wholeRange(input, inputIndex);
    for (const range of canBeCutByBytes(input) ? cutIntoRanges(input, whole, cutting) : [whole]) {
      await yieldToEventLoop();
      if (range !== undefined) yield range;
    }
  }
}

/**
 * Returns a function that makes the plan's line for a range. It must be called with the ranges in order, because it
 * numbers them.
 */
export function lineMaker(options: PlanOptions): (range: Range) => Line {
  const digests = digestOptions(options);
  let index = 0;
  return ({ inputIndex, startByte, endByte, startsInside, endsInside }) => {
    const { path, sizeBytes, modifiedMs, format, textField } = options.inputs[inputIndex]!;
    const line = {
      path,
      start: startByte,
      end: endByte,
      startsInside,
      endsInside,
      index: index++,
      sizeBytes,
      modifiedMs,
      inputFormat: format,
      textField: hasFields(format) ? textField : undefined,
      ...digests,
    };
    return { ...line, digest: digestLine(line) };
  };
}

export type PlannedRanges = {
  readonly inputs: readonly Input[];
  readonly ranges: readonly Range[];
};

/**
 * Reads lines of plans, and checks them against the files and the options.
 *
 * @param source where the text comes from, as messages name it
 */
export function read(
  text: string,
  source: string,
  options: PlannedCutting & {
    readonly wholeTextsOnly?: boolean;
    readonly textField?: string | undefined;
    /** Whether the lines must be consecutive lines of the plan, in their order. */
    readonly isPart?: boolean;
  },
): PlannedRanges {
  const inputs: Input[] = [];
  const ranges: Range[] = [];
  const lineNumbers: number[] = [];
  const inputIndices = new Map<string, number>();
  let lastIndex: number | undefined;
  const wanted = digestOptions(options);

  for (const [i, json] of text.split("\n").entries()) {
    if (json.trim() === "") continue;
    const fail = (what: Message, hint?: Message): never => {
      throw new UserError(phrase`line ${i + 1} of ${source}: ${what}`, hint === undefined ? {} : { hint });
    };
    const line = parseLine(json, fail);
    checkOptions(line, wanted, options.wholeTextsOnly !== undefined, fail);
    if (options.isPart && line.index !== (lastIndex ?? line.index - 1) + 1)
      fail(
        `this is line ${line.index + 1} of the plan, but the line before it is line ${lastIndex! + 1} of the plan`,
        followHint,
      );
    lastIndex = line.index;
    let inputIndex = inputIndices.get(line.path);
    if (inputIndex === undefined) {
      inputIndex = inputs.length;
      inputIndices.set(line.path, inputIndex);
      inputs.push(inspect(line, fail));
    }
    const input = inputs[inputIndex]!;
    checkFile(line, input, fail);
    checkField(line, input, options.textField, fail);
    if (line.end - line.start < line.sizeBytes) {
      if (!canBeCutByBytes(input))
        fail(`the range is a part of "${line.path}", but this file can only be read whole`, wroteHint);
      if (options.wholeTextsOnly && input.format === "text") {
        fail(
          `the range is a part of a text of "${line.path}", but this tokenizer can only encode whole texts`,
          wholeHint,
        );
      }
    }
    checkEnds(line, input, options, fail);
    const { start: startByte, end: endByte, startsInside, endsInside } = line;
    ranges.push({ inputIndex, startByte, endByte, startsInside, endsInside });
    lineNumbers.push(i + 1);
  }
  if (ranges.length === 0) {
    throw new UserError(`${source} contains no ranges`, {
      hint: "give lines of a file that bpe plan wrote",
    });
  }
  checkOverlaps({ inputs, ranges }, lineNumbers, source);
  return { inputs, ranges };
}

/**
 * Reads the lines of a whole plan, and sorts them by index. Throws a UserError if there is no line, if a line is
 * invalid, or if the indices are not 0, 1, 2, …. Does not notice that lines are missing at the end of the plan, and
 * does not access the files that the plan names.
 */
export function readLines(text: string, source: string): Line[] {
  const lines = text.split("\n").flatMap((json, i) => {
    const fail = (what: Message, hint?: Message): never => {
      throw new UserError(phrase`line ${i + 1} of ${source}: ${what}`, hint === undefined ? {} : { hint });
    };
    return json.trim() === "" ? [] : [parseLine(json, fail)];
  });
  lines.sort((a, b) => a.index - b.index);
  const wrong = lines.findIndex(({ index }, i) => index !== i);
  if (lines.length > 0 && wrong < 0) return lines;
  const { index } = lines[wrong] ?? { index: 0 };
  const fault = wrong > index ? `line ${index + 1} is repeated` : `line ${Math.max(0, wrong) + 1} is missing`;
  throw new UserError(`${source} is not a complete plan: ${fault}`, {
    hint: "pass the whole file that bpe plan wrote, unchanged",
  });
}

/**
 * Refuses a range with impossible marks (`startsInside` and `endsInside` mark edges inside a document). Also refuses a
 * range with an unmarked edge inside the file that is not after a line feed (for records) or before a special token
 * (for a text). The digest alone proves nothing, because it can be forged.
 */
function checkEnds(line: Line, input: Input, { specialTokens }: PlannedCutting, fail: Fail): void {
  const { start, end, sizeBytes, startsInside, endsInside } = line;
  const isText = input.format === "text";
  const isAtEdge = (startsInside && start === 0) || (endsInside && end === sizeBytes);
  if (isAtEdge || ((startsInside || endsInside) && !isText)) {
    fail(
      `the line says that its range begins or ends within a document, which is impossible at that place of "${line.path}"`,
      wroteHint,
    );
  }
  const isCut = (atByte: number, isInside: boolean) => {
    if (atByte === 0 || atByte === sizeBytes || isInside) return true;
    if (!isText) return hasTextAt(input, "\n", atByte - 1);
    return specialTokens.some((token) => hasTextAt(input, token, atByte));
  };
  if (!isCut(start, startsInside) || !isCut(end, endsInside)) {
    fail("the range begins or ends where bpe plan would not split the file", wroteHint);
  }
}

/** Whether the file contains this text at `fromByte`. */
function hasTextAt(input: Input, text: string, fromByte: number): boolean {
  const wanted = new TextEncoder().encode(text);
  const found = new Uint8Array(wanted.length);
  const fd = openInput(input);
  try {
    return readSync(fd, found, 0, found.length, fromByte) > 0 && Buffer.compare(found, wanted) === 0;
  } finally {
    closeSync(fd);
  }
}

export const followHint =
  "give bpe encode consecutive lines of the plan in their order, for example a slice made by split --number=l/N";

const wholeHint = phrase`make a new plan with the same ${asOption("tokenizer")}: it must encode each text as a whole because of its prefix space or added tokens`;

type Fail = (what: Message, hint?: Message) => never;

function parseLine(json: string, fail: Fail): Line {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return fail("the line is not JSON", "give only lines that bpe plan wrote");
  }
  const line = schema.checkOr(planFields, parsed, (what) => fail(what, wroteHint));
  const { start, end, sizeBytes } = line;
  if (start > end || end > sizeBytes) {
    fail(
      `the range, bytes ${start} to ${end}, is not within the file, which has ${sizeBytes} bytes`,
      wroteHint,
    );
  }
  if (line.digest !== digestLine(line)) {
    fail("the line was edited after bpe plan wrote it, or a different version of bpe wrote it", wroteHint);
  }
  return line;
}

const wroteHint = "use the lines as bpe plan wrote them, or make a new plan";

function checkOptions(
  line: Line,
  wanted: ReturnType<typeof digestOptions>,
  isForTokenizer: boolean,
  fail: Fail,
): void {
  const hint = isForTokenizer
    ? phrase`make a new plan with the options of this run, ${asOption("tokenizer")} included`
    : "pass the options that the plan was made with, or make a new plan with the options of this run";
  if (line.patternDigest !== wanted.patternDigest)
    fail("the plan was made with a different pattern than that of this run", hint);
  if (line.specialTokensDigest !== wanted.specialTokensDigest) {
    fail("the plan was made with different special tokens than those of this run", hint);
  }
  if (line.isLinewise !== wanted.isLinewise) {
    fail(
      line.isLinewise
        ? phrase`the plan was made to split text at line ends (${asOption("compat", "huggingface")}), but this run does not`
        : phrase`this run splits text at line ends (${asOption("compat", "huggingface")}), but the plan was made not to`,
      hint,
    );
  }
  if (line.normalization !== wanted.normalization) {
    fail(
      phrase`the plan was made ${line.normalization === undefined ? "without" : "with"} ${asOption("normalize", line.normalization ?? wanted.normalization)}, unlike this run`,
      hint,
    );
  }
}

function checkField(line: Line, input: Input, asked: string | undefined, fail: Fail): void {
  const field = line.textField ?? defaultTextField;
  if (field !== input.textField) {
    fail(
      `this line says that the text of "${line.path}" is in the field "${field}", but an earlier line says "${input.textField}"`,
      wroteHint,
    );
  }
  if (asked !== undefined && input.format !== "text" && field !== asked) {
    fail(
      phrase`the plan was made with the text field "${field}", but ${asOption("text-field")} is "${asked}"`,
      phrase`leave out ${asOption("text-field")}, because the plan states the field; or make a new plan`,
    );
  }
}

function inspect({ path, inputFormat: format, textField }: Line, fail: Fail): Input {
  try {
    // The content was checked when the plan was made, so it is not checked again. `checkFile` then refuses a changed
    // file.
    return inspectInput(path, { inputFormat: format, textField, binary: "text" });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return fail(
      error.parts.message,
      "put the file where the plan says, unchanged, or run where the plan was made, or make a new plan",
    );
  }
}

function checkFile(line: Line, input: Input, fail: Fail): void {
  const hint = "make a new plan, and process all of its ranges again";
  if (line.inputFormat !== input.format) {
    fail(
      `this line says that "${line.path}" is ${line.inputFormat}, but an earlier line says ${input.format}`,
      hint,
    );
  }
  if (line.sizeBytes !== input.sizeBytes) {
    fail(
      `"${line.path}" has ${countNoun(input.sizeBytes, "byte")}, but the plan says ${line.sizeBytes}`,
      hint,
    );
  }
  if (!isSameTime(line.modifiedMs, input.modifiedMs)) {
    const [now, then] = [input.modifiedMs, line.modifiedMs].map((ms) => new Date(ms).toISOString());
    fail(
      `"${line.path}" was changed after the plan was made (modified ${now}; the plan says ${then})`,
      `${hint}; if the file was only copied, copy it with its time (cp -p, rsync -t)`,
    );
  }
}

/**
 * Whether a file and its copy have the same time. scp and tar may truncate a copy's time to whole milliseconds or
 * seconds.
 */
const isSameTime = (originalMs: number, copyMs: number) =>
  Math.abs(originalMs - copyMs) < microsecondsMs ||
  copyMs === Math.floor(originalMs) ||
  copyMs === 1000 * Math.floor(originalMs / 1000);

/**
 * Times that differ by less than this count as equal, because some clocks are coarse, and times are rounded to doubles.
 */
const microsecondsMs = 0.002;

/** Refuses overlapping ranges. Links are followed, because one file may have several paths. */
function checkOverlaps(
  { inputs, ranges }: PlannedRanges,
  lineNumbers: readonly number[],
  source: string,
): void {
  const realPaths = inputs.map(({ path }) => files.tryRead(path, () => realpathSync(path)));
  const byPlace = ranges
    .map((range, i) => ({ ...range, file: realPaths[range.inputIndex]!, lineNumber: lineNumbers[i]! }))
    .filter(({ startByte, endByte }) => startByte < endByte)
    .sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.startByte - b.startByte));
  for (let i = 1; i < byPlace.length; i++) {
    const [before, after] = [byPlace[i - 1]!, byPlace[i]!];
    if (before.file !== after.file || before.endByte <= after.startByte) continue;
    const [first, second] = [before.lineNumber, after.lineNumber].sort((a, b) => a - b);
    const endByte = Math.min(before.endByte, after.endByte);
    throw new UserError(
      `lines ${first} and ${second} of ${source} both contain bytes ${after.startByte} to ${endByte} of "${inputs[after.inputIndex]!.path}"`,
      {
        hint:
          before.startByte === after.startByte && before.endByte === after.endByte
            ? "remove one of the two lines, so that these bytes are not processed twice"
            : "use the lines of one plan only: the lines of two plans overlap",
      },
    );
  }
}
