import { UserError } from "../../errors.ts";
import { type CompiledPattern, compilePattern, type NamedPattern, patterns } from "../../pattern/index.ts";
import { objectAt, refuse } from "./files.ts";

/**
 * Digits and Punctuation ask no regular expression but Rust: Digits its standard library, whose Unicode is 17.0 in HF's
 * build, Punctuation the crate unicode_categories, whose Unicode is 8.0 and which has two letters and symbols of its own.
 */
const numeric = "[\\p{N}\\x{11de0}-\\x{11de9}\\x{16ff4}-\\x{16ff6}]";
const punctuationSince = [
  ...[
    "61d",
    "9fd",
    "a76",
    "c77",
    "c84",
    "1b4e-1b4f",
    "1b7d-1b7f",
    "2e43-2e4f",
    "2e52-2e5d",
    "10d6e",
    "10ead",
  ],
  ...["10f55-10f59", "10f86-10f89", "113d4-113d5", "113d7-113d8", "1144b-1144f", "1145a-1145b", "1145d"],
  ...["11660-1166c", "116b9", "1183b", "11944-11946", "119e2", "11a3f-11a46", "11a9a-11a9c", "11a9e-11aa2"],
  ...["11b00-11b09", "11be1", "11c41-11c45", "11c70-11c71", "11ef7-11ef8", "11f43-11f4f", "11fff"],
  ...["12ff1-12ff2", "16d6d-16d6f", "16e97-16e9a", "16fe2", "1e5ff", "1e95e-1e95f"],
].map((range) => range.replace(/[0-9a-f]+/g, "\\x{$&}"));
const punctuation = `[\\p{P}$+<=>\\^\`|~\\x{166d}\\x{111c9}&&[^${punctuationSince.join("")}]]`;

/** How HF's `pre_tokenizer` cuts text, as a sequence of splits. */
type Splits = { readonly sources: readonly string[]; readonly addsPrefixSpace: boolean };

/** Reads a `pre_tokenizer`: ByteLevel, alone or behind Splits, Digits and Punctuation. */
export function readPreTokenizer(value: unknown, path: string): Splits {
  if (value === null || value === undefined) refuse(path, "it has no pre-tokenizer, so it is not byte-level");
  const steps = flatten(value, path);
  const sources: string[] = [];
  let addsPrefixSpace = false;
  steps.forEach((step, i) => {
    switch (step.type) {
      case "ByteLevel":
        if (i !== steps.length - 1) refuse(path, "its ByteLevel pre-tokenizer is not the last one");
        if (step.use_regex !== false) sources.push(patterns.gpt2.sources[0]!);
        addsPrefixSpace = step.add_prefix_space !== false;
        if (addsPrefixSpace && i > 0) refuse(path, "add_prefix_space behind another pre-tokenizer");
        return;
      case "Split":
        sources.push(readSplit(step, path));
        return;
      case "Digits":
        sources.push(step.individual_digits === true ? numeric : `${numeric}+`);
        return;
      case "Punctuation":
        sources.push(readPunctuation(step, path));
        return;
      default:
        refuse(path, `the pre-tokenizer ${JSON.stringify(step.type)} is not supported`);
    }
  });
  if (steps.at(-1)?.type !== "ByteLevel") refuse(path, "its last pre-tokenizer is not ByteLevel");
  return { sources, addsPrefixSpace };
}

function flatten(value: unknown, path: string): Record<string, unknown>[] {
  const step = objectAt(value, path, "a pre-tokenizer");
  if (step.type !== "Sequence") return [step];
  const inner = step.pretokenizers;
  if (!Array.isArray(inner)) throw new UserError(`"${path}": the pre-tokenizer's sequence is no list`);
  return inner.flatMap((part) => flatten(part, path));
}

function readSplit(step: Record<string, unknown>, path: string): string {
  const pattern = objectAt(step.pattern, path, "the pattern of a Split");
  const source =
    typeof pattern.String === "string" ? escapeLiteral(pattern.String) : fromOniguruma(pattern.Regex, path);
  if (step.behavior === "Isolated") return source;
  // Matches are kept and all else is dropped: the same, if there is nothing else.
  if (step.behavior === "Removed" && step.invert === true && leavesNothing(source)) return source;
  refuse(
    path,
    `a Split with behavior ${JSON.stringify(step.behavior)} and invert ${step.invert} is not supported`,
  );
}

function escapeLiteral(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|&-]/g, "\\$&");
}

/** Patterns by which every character is in some match. */
function leavesNothing(source: string): boolean {
  const single = Object.values(patterns as Record<string, NamedPattern>).filter(
    ({ sources }) => sources.length === 1,
  );
  return single.some((named) => [named.sources[0], named.huggingfaceSources?.[0]].includes(source));
}

function readPunctuation(step: Record<string, unknown>, path: string): string {
  if (step.behavior === "Isolated") return punctuation;
  if (step.behavior === "Contiguous") return `${punctuation}+`;
  refuse(path, `Punctuation with behavior ${JSON.stringify(step.behavior)} is not supported`);
}

/**
 * A regular expression of HF's engine, Oniguruma, in our dialect: `$` and `^` are the ends of lines there, and `{1,3}+`
 * repeats again instead of giving nothing back.
 */
function fromOniguruma(regex: unknown, path: string): string {
  if (typeof regex !== "string") throw new UserError(`"${path}": the pattern of a Split is no text`);
  let source = "";
  let depth = 0;
  for (let i = 0; i < regex.length; i++) {
    const character = regex[i]!;
    if (character === "\\") {
      source += character + (regex[++i] ?? "");
      continue;
    }
    if (character === "[") depth++;
    else if (character === "]" && depth > 0) depth--;
    if (depth === 0 && character === "$") source += "(?=\\n|\\z)";
    else if (depth === 0 && character === "^") source += "(?:\\A|(?<=\\n))";
    else source += character;
    if (depth === 0 && /\{\d+(,\d*)?\}\+$/.test(regex.slice(0, i + 1))) {
      refuse(
        path,
        `the count in ${JSON.stringify(regex)} is repeated again`,
        "write (?:x{1,3})+ for x{1,3}+",
      );
    }
  }
  return source;
}

/** Compiles splits that a file names; what is wrong with them is wrong with the file. */
export function compileSplits(sources: readonly string[], path: string): CompiledPattern {
  try {
    return compilePattern(sources);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(`"${path}": ${error.message}`, error.hint === undefined ? {} : { hint: error.hint });
  }
}

/** The name under which the splits are known, or null. */
export function nameOf(sources: readonly string[]): string | null {
  const same = (others: readonly string[] | undefined) =>
    others?.length === sources.length && others.every((source, i) => source === sources[i]);
  for (const [name, named] of Object.entries(patterns as Record<string, NamedPattern>)) {
    if (same(named.sources) || same(named.huggingfaceSources)) return name;
  }
  return null;
}
