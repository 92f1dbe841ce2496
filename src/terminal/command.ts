import type { Option, Options, PathRead } from "#options";
import type { Invocation } from "./invocation.ts";
import type { Output } from "./output.ts";

/** A command as data: what is typed is read by it; help, completions and the man page are made of it. */
export type Command = {
  readonly name: string;
  /** What it takes, as help shows it: `<file>...` must be given, `[file]` may be, "" is nothing. */
  readonly files: string;
  /** What that may be, as a phrase. */
  readonly filesDescription?: string;
  /** The sentences behind it. */
  readonly filesDetails?: string;
  /** What is read there. */
  readonly reads?: PathRead;
  /** The words that it may be, if it is one of a few. */
  readonly fileWords?: readonly string[];
  /** What it does, in a line. */
  readonly description: string;
  /** The sentences behind it. */
  readonly details?: string;
  /** Whether what is piped in is read where no file is named. */
  readonly readsPipe?: boolean;
  /** The options that stand for files: with one of them none has to be named, and no pipe is read. */
  readonly filesFrom?: readonly string[];
  /** In the order of help. */
  readonly options: Options;
  /** The first is the simplest. Each topic of help shows those with an option of it. */
  readonly examples: readonly Example[];
  /** Loads the code that runs it. `completions` has none here: its code needs the list of all commands. */
  readonly run?: () => Promise<Runner>;
  /** Whether it always needs the kernel, which is then compiled while its code is loaded. */
  readonly usesKernel?: boolean;
};

/** A command with its options as a list. */
export type CommandSpec = Omit<Command, "options"> & { readonly options: readonly Option[] };

export type Runner = (invocation: Invocation, output: Output) => Promise<void>;

/** A command that does something, and what that is. */
export type Example = { readonly what: string; readonly command: string };

/** What can be read as text. */
export const corpusFiles = {
  reads: "corpus",
  filesDescription: "text, JSON lines, Parquet; directories, globs, -",
  filesDetails:
    "Each may be compressed by gzip or zstd. A directory stands for the files below it, a glob in quotes for the files that it matches, - for standard input. A pipe is also read if nothing is named.",
} as const;

export const oneTokenizer = {
  reads: "tokenizer",
  filesDescription: "tokenizer directory, or one of its files",
} as const;

/** Whether its output is a directory, which is replaced as a whole. */
export const replacesDirectory = ({ options }: CommandSpec) =>
  options.some(({ writes }) => writes === "directory");

/** The command as it is typed, with all that it cannot do without. */
export function usageLine({ name, files, options }: CommandSpec): string {
  const required = options
    .filter((option) => option.required)
    .map(({ name, short, kind }) => `${short === undefined ? `--${name}` : `-${short}`} ${kind.value}`);
  return ["bpe", name, files, ...required, "[options]"].filter((part) => part !== "").join(" ");
}
