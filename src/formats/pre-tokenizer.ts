import { json, schema, showValue } from "#bytes";
import {
  type CompiledPattern,
  compiledPatterns,
  loadCompiler,
  namedPatterns,
  patternForms,
  patterns,
} from "#pattern";
import { UserError } from "#runtime";
import { tokenizers } from "#tokenizer";

/** The characters of HF's Digits, by Unicode 17.0. `\p{N}` here is that of 16.0, so newer digits are added. */
const numeric = "[\\p{N}\\x{11de0}-\\x{11de9}\\x{16ff4}-\\x{16ff6}]";
/** Punctuation that HF's Punctuation does not know, because its crate unicode_categories has an older Unicode. */
const punctuationSince = `
  61d 9fd a76 c77 c84 1b4e-1b4f 1b7d-1b7f 2e43-2e4f 2e52-2e5d 10d6e 10ead 10f55-10f59 10f86-10f89
  113d4-113d5 113d7-113d8 1144b-1144f 1145a-1145b 1145d 11660-1166c 116b9 1183b 11944-11946 119e2
  11a3f-11a46 11a9a-11a9c 11a9e-11aa2 11b00-11b09 11be1 11c41-11c45 11c70-11c71 11ef7-11ef8
  11f43-11f4f 11fff 12ff1-12ff2 16d6d-16d6f 16e97-16e9a 16fe2 1e5ff 1e95e-1e95f
`
  .trim()
  .split(/\s+/)
  .map((range) => range.replace(/[0-9a-f]+/g, "\\x{$&}"));
/**
 * The characters of HF's Punctuation: ASCII punctuation, and the punctuation of its crate, which still has U+166D and
 * U+111C9.
 */
const punctuation = `[\\p{P}$+<=>\\^\`|~\\x{166d}\\x{111c9}&&[^${punctuationSince.join("")}]]`;

/** The sequence of splits that is equivalent to HF's `pre_tokenizer`. */
type Splits = {
  /** The splits in the dialect of `--pattern`. For a named pattern, its `sources`. */
  readonly sources: readonly string[];
  readonly name: string | null;
  readonly addsPrefixSpace: boolean;
};

const stepFlags = schema.object({
  add_prefix_space: schema.optional(schema.flag),
  trim_offsets: schema.optional(schema.flag),
  use_regex: schema.optional(schema.flag),
  individual_digits: schema.optional(schema.flag),
  invert: schema.optional(schema.flag),
  length: schema.optional(schema.wholeNumber(1, 1000)),
});

/**
 * Parses a `pre_tokenizer`: ByteLevel, alone or after Split, Digits, FixedLength and Punctuation steps. Regular
 * expressions are read as HF's engine reads them. An expression with which we cannot cut exactly as HF does is refused.
 */
export function readPreTokenizer(value: unknown, path: string): Splits {
  if (value === null || value === undefined)
    tokenizers.refuse(path, "it has no pre-tokenizer, so it is not byte-level");
  const steps = flatten(value, path);
  const sources: string[] = [];
  let addsPrefixSpace = false;
  steps.forEach((step, i) => {
    schema.checkOr(stepFlags, step, (what) => {
      throw new UserError(`"${path}": the pre-tokenizer ${showValue(step.type)} cannot be read: ${what}`, {
        hint: json.correctHint,
      });
    });
    switch (step.type) {
      case "ByteLevel":
        if (i !== steps.length - 1)
          tokenizers.refuse(path, "its ByteLevel pre-tokenizer is not the last one");
        if (step.use_regex !== false) sources.push(patterns.gpt2.sources[0]!);
        addsPrefixSpace = step.add_prefix_space !== false;
        if (addsPrefixSpace && i > 0)
          tokenizers.refuse(
            path,
            "its ByteLevel follows other steps and has add_prefix_space, so it adds a space before each piece that these steps cut",
            "no pattern can do that without changing the text; train the tokenizer again with add_prefix_space false",
          );
        return;
      case "Split":
        sources.push(readSplit(step, path));
        return;
      case "Digits":
        sources.push(step.individual_digits === true ? numeric : `${numeric}+`);
        return;
      case "FixedLength":
        sources.push(`[\\s\\S]{1,${step.length ?? 5}}`);
        return;
      case "Punctuation":
        sources.push(readPunctuation(step, path));
        return;
      default:
        tokenizers.refuse(
          path,
          `the pre-tokenizer ${showValue(step.type)} is not supported`,
          keepingHint(step),
        );
    }
  });
  if (steps.at(-1)?.type !== "ByteLevel") tokenizers.refuse(path, "its last pre-tokenizer is not ByteLevel");
  if (sources.length === 0) return { sources: patterns.none.sources, name: "none", addsPrefixSpace };
  // The form that other programs write comes first. For gpt4, `bpe` writes the expression of llama3, so if `bpe`'s own
  // forms came first, a file with llama3's expression might be read as gpt4.
  const forms = [
    (named: namedPatterns.NamedPattern) => named.foreignSources ?? named.sources,
    patternForms.huggingface,
  ];
  for (const formOf of forms) {
    for (const [name, named] of Object.entries<namedPatterns.NamedPattern>(patterns)) {
      if (namedPatterns.isSame(sources, formOf(named)))
        return { sources: named.sources, name, addsPrefixSpace };
    }
  }
  const portable = inFile(path, () => sources.map(loadCompiler().formOfHuggingface));
  return { sources: portable, name: null, addsPrefixSpace };
}

/**
 * For each type of HF's steps that always drop text, a function that returns a replacement in Python. The replacement
 * cuts in the same places, but keeps the text.
 */
const keepingSplits: Readonly<Record<string, (step: Record<string, unknown>) => string>> = {
  Whitespace: () => 'Split(Regex(r"\\w+|[^\\w\\s]+"), "isolated")',
  WhitespaceSplit: () => 'Split(Regex(r"\\s+"), "isolated")',
  BertPreTokenizer: () => 'Split(Regex(r"\\s+"), "isolated"), then Punctuation(),',
  CharDelimiterSplit: ({ delimiter }) => `Split(${showValue(delimiter)}, "isolated")`,
};

function keepingHint(step: Record<string, unknown>): string | undefined {
  const keeping = Object.hasOwn(keepingSplits, String(step.type))
    ? keepingSplits[String(step.type)]
    : undefined;
  return (
    keeping &&
    `it drops text, which decoding could not restore; ${keeping(step)} cuts in the same places and keeps all text`
  );
}

function flatten(value: unknown, path: string): Record<string, unknown>[] {
  const step = json.objectAt(value, path, "a pre-tokenizer");
  if (step.type !== "Sequence") return [step];
  const inner = step.pretokenizers;
  if (!Array.isArray(inner))
    throw new UserError(
      `"${path}": "pretokenizers" of a Sequence ${schema.describeMismatch(inner, "a list")}`,
      {
        hint: json.correctHint,
      },
    );
  return inner.flatMap((part) => flatten(part, path));
}

function readSplit(step: Record<string, unknown>, path: string): string {
  const pattern = json.objectAt(step.pattern, path, "the pattern of a Split");
  const source = typeof pattern.String === "string" ? escapeLiteral(pattern.String) : pattern.Regex;
  if (typeof source !== "string")
    throw new UserError(
      `"${path}": the pattern of a Split is ${showValue(pattern)}, but must be {"String": "…"} or {"Regex": "…"}`,
      { hint: json.correctHint },
    );
  if (step.behavior === "Isolated") return source;
  const isNullable = inFile(path, () => loadCompiler().canMatchNothing(source));
  const what = `it has a Split with behavior ${showValue(step.behavior)} and invert ${showValue(step.invert)}`;
  if (isNullable) {
    const hint = "write + instead of *, and leave out optional parts; or use behavior Isolated";
    tokenizers.refuse(path, `${what}, whose pattern can match the empty string`, hint);
  }
  // An inverted Split with behavior Removed drops the text between matches. If there can be no such text, it only cuts,
  // like Isolated.
  const takesAll = () => {
    const { formOfHuggingface, mayLeaveGaps } = loadCompiler();
    return !inFile(path, () => mayLeaveGaps(formOfHuggingface(source)));
  };
  if (step.behavior === "Removed" && step.invert === true && takesAll()) return source;
  return (
    merging(step.behavior, step.invert === true, source) ??
    tokenizers.refuse(path, what, step.behavior === "Removed" ? isolatedHint : json.correctHint)
  );
}

const isolatedHint =
  "it drops text, which decoding could not restore; behavior Isolated cuts in the same places and keeps all text";

/**
 * Rewrites an expression for a behavior. With MergedWithNext, a match includes the text up to the next match; with
 * MergedWithPrevious, the text since the previous match. `invert` exchanges these two. With Contiguous, adjacent
 * matches become one. Returns undefined for any other behavior.
 */
function merging(behavior: unknown, invert: boolean, source: string): string | undefined {
  const between = `(?:(?!${source})[\\s\\S])*`;
  switch (behavior) {
    case "MergedWithNext":
      return invert ? `${between}(?:${source})` : `(?:${source})${between}`;
    case "MergedWithPrevious":
      return invert ? `(?:${source})${between}` : `${between}(?:${source})`;
    case "Contiguous":
      return `(?-i:${source})+`;
    default:
      return undefined;
  }
}

function escapeLiteral(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|&-]/g, "\\$&");
}

function readPunctuation(step: Record<string, unknown>, path: string): string {
  if (step.behavior === "Isolated") return punctuation;
  if (step.behavior === "Contiguous") return `${punctuation}+`;
  const merged = merging(step.behavior, false, punctuation);
  if (merged !== undefined) return merged;
  tokenizers.refuse(
    path,
    `Punctuation with behavior ${showValue(step.behavior)} is not supported`,
    isolatedHint,
  );
}

/** Compiles the splits of a file. Errors name the file. */
export function compileSplits(sources: readonly string[], path: string): CompiledPattern {
  return inFile(path, () => compiledPatterns.compile(sources));
}

/** Refuses a pattern that may leave text unmatched, for files that tiktoken reads, because tiktoken drops such text. */
export function checkTakesAll(sources: readonly string[], path: string): void {
  if (!inFile(path, () => patternForms.mayLeaveGaps({ name: namedPatterns.nameOf(sources), sources })))
    return;
  tokenizers.refuse(
    path,
    `the pattern ${sources.join(" , ")} may leave text unmatched, and tiktoken drops it`,
    "add |[\\s\\S] to the end of the pattern, so that it matches every character",
  );
}

function inFile<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(`"${path}": ${error.message}`, error.hint === undefined ? {} : { hint: error.hint });
  }
}
