import { kinds, optionTables, trainingOptions } from "#options";
import { messages, UserError, usageError } from "#runtime";
import { isSignal } from "./check-arguments.ts";
import { engineRefusal } from "./engine-errors.ts";

// The options of a library call.

/** Makes the kind of an option that the command line lacks, so that its values are never read from typed text. */
const untypedKind = (
  type: string,
  wanted: string,
  accepts: (value: unknown) => boolean,
): kinds.Kind<unknown> => ({
  read: (typed) => typed,
  wanted,
  take: (value) => (accepts(value) ? value : kinds.wrongKind),
  type,
  schema: {},
  python: { type: "object", none: "None", print: "value" },
});

/** Whether a value is iterable. Strings are excluded, because their characters would become documents. */
const isIterable = (value: unknown): value is object =>
  typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);
const callback = (type: string) => untypedKind(type, "a function", (value) => typeof value === "function");

const isPath = (value: unknown) => typeof value === "string" && value !== "";

const libraryOptions = optionTables.of({
  files: {
    name: "files",
    kind: untypedKind(
      "string | readonly string[]",
      "a path or an array of paths",
      (value) => isPath(value) || (Array.isArray(value) && Array.from(value).every(isPath)),
    ),
    topic: "input",
    description: "paths or globs of the corpus, or directories",
    details: "Text, JSON lines, JSON, Parquet, compressed or not.",
  },
  texts: {
    name: "texts",
    kind: untypedKind("Texts", "an iterable or async iterable of strings", isIterable),
    topic: "input",
    description: "texts in memory, or from an iterator; each is a separate document",
    details: "They are read once, while words are counted, and are not kept in memory.",
  },
  wordCounts: {
    name: "wordCounts",
    kind: untypedKind(
      "GivenWords",
      "a Map, or an iterable of pairs of a word and its count",
      (value) => isIterable(value) && Symbol.iterator in value,
    ),
    topic: "input",
    description: "words, as the pattern cuts them, and how often each occurs: a Map, or pairs",
    details: "The library does not check that the pattern would produce these words.",
  },
});

const hooks = optionTables.of({
  signal: {
    name: "signal",
    kind: untypedKind("AbortSignal", "an AbortSignal", isSignal),
    topic: "general",
    description: "aborts the training: it rejects with the signal's reason, and leaves no files",
  },
  onProgress: {
    name: "onProgress",
    kind: callback("(progress: StageProgress) => void"),
    topic: "general",
    description: "called several times a second; if it throws, the training ends with that error",
  },
  onWarning: {
    name: "onWarning",
    kind: callback("(message: string) => void"),
    topic: "general",
    description: "called with each warning: not an error, but perhaps not what you intended",
  },
});

/** Every option of `trainTokenizer`. */
export const callOptions = { ...libraryOptions, ...trainingOptions, ...hooks };

type AskedCall = optionTables.Requested<typeof callOptions>;

/** Returns the name that the library has for an option of the command line; null if it has none. */
export const parameterOf = (option: string) => {
  const found = Object.entries(callOptions).find(([, { name }]) => name === option);
  return found === undefined ? null : optionTables.nameInLibrary(...found);
};

/** Names options as the library does: `padTo 8` for `--pad-to 8`. */
export const spellInLibrary: messages.Spelling = /* @__PURE__ */ Object.assign(
  (named: messages.NamedOption) => {
    const { option, value } = named;
    const name = parameterOf(option);
    if (name === null) return messages.asTyped(named);
    if (value === undefined) return name;
    return `${name} ${option === "language" ? value.replace(/^([^=]*)=(.*)$/s, '[{ name: "$1", files: "$2" }]') : value}`;
  },
  { has: (option: string) => parameterOf(option) !== null },
);

/** Runs a call of the library. Errors name options by `spelling`. */
export async function runCall<T>(call: () => Promise<T>, spelling = spellInLibrary): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw UserError.respell(engineRefusal(error) ?? error, spelling);
  }
}

/** Checks the options of `trainTokenizer`: each value, and which options are combined. */
export function readCall(options: unknown): AskedCall {
  const call = "trainTokenizer";
  const asked = optionTables.checkGiven(callOptions, options, call);
  const all = Object.entries(callOptions);
  const givenAs = (option: string) =>
    asked[all.find(([, { name }]) => name === option)?.[0] as keyof AskedCall];
  const isGiven = (option: string) => givenAs(option) !== undefined;
  const seen = { has: isGiven, text: (option: string) => String(givenAs(option)) };
  const { vocabSize } = asked;
  if (vocabSize === undefined && asked.extend === undefined) {
    throw usageError(`${call}: vocabSize is missing`, "give the number of tokens, e.g. vocabSize: 32_000");
  }
  optionTables.checkCombinations(Object.values(callOptions), seen);
  return asked;
}
