import type { optionTables } from "#options";
import type { Invocation } from "./invocation.ts";
import type { Output } from "./output.ts";

/** A command as data, for its parser, help, completions and man page. */
export type Command = {
  readonly name: string;
  /** As help shows them: `<file>...` is required, `[file]` is optional, "" means none. */
  readonly files: string;
  /** What an argument may be, as a phrase. */
  readonly filesDescription?: string;
  /** More sentences about the arguments. */
  readonly filesDetails?: string;
  /** What the command reads from its arguments. */
  readonly reads?: optionTables.PathRead;
  /** The allowed words, if an argument is one of a few. */
  readonly fileWords?: readonly string[];
  /** What the command does, in a line. */
  readonly description: string;
  /** More sentences about the command. */
  readonly details?: string;
  /** Whether standard input is read if no file is named and it is a pipe or a file. */
  readonly readsPipe?: boolean;
  /** With one of these options, no file is required, and no pipe is read. */
  readonly filesFrom?: readonly string[];
  /** The options, in the order of help. */
  readonly options: optionTables.Options;
  /** The first example is the simplest. */
  readonly examples: readonly Example[];
  /** Left out for `completions`, whose code needs the list of all commands. */
  readonly run?: () => Promise<Runner>;
  /** The kernel is then compiled while the command's code is loaded. */
  readonly usesKernel?: boolean;
};

export type Runner = (invocation: Invocation, output: Output) => Promise<void>;

/** A command line, and a description of what it does. */
export type Example = { readonly what: string; readonly command: string };

/** The arguments of a command that reads a corpus. */
export const corpusFiles = {
  reads: "corpus",
  filesDescription: "text, JSON lines, Parquet; directories, globs, -",
  filesDetails:
    "Each may be compressed by gzip or zstd. A directory means the files below it, a quoted glob the files that it matches, - standard input. With no file, a pipe on standard input is read.",
} as const;

export const oneTokenizer = {
  reads: "tokenizer",
  filesDescription: "tokenizer directory, or one of its files",
} as const;
