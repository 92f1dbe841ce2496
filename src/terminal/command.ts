import type { optionTables } from "#options";
import type { Invocation } from "./invocation.ts";
import type { Output } from "./output.ts";

/** A command as data, from which its argument parser, help, completions and man page are made. */
export type Command = {
  readonly name: string;
  /**
   * The command's arguments as help shows them: `<file>...` is required, `[file]` is optional, "" means that there are
   * none.
   */
  readonly files: string;
  /** What an argument may be, as a phrase. */
  readonly filesDescription?: string;
  /** More sentences about the arguments. */
  readonly filesDetails?: string;
  /** What the command reads at the paths that are its arguments, such as a corpus or a tokenizer. */
  readonly reads?: optionTables.PathRead;
  /** The allowed words, if an argument is one of a few. */
  readonly fileWords?: readonly string[];
  /** What the command does, in a line. */
  readonly description: string;
  /** More sentences about the command. */
  readonly details?: string;
  /**
   * Whether the command reads standard input if it needs a file, none is named, and standard input is a pipe or a file.
   * `to refuse`: the command gets standard input in this case, too, but fails with an error of its own.
   */
  readonly readsPipe?: boolean | "to refuse";
  /** Options that take the place of files: with one of them, no file is required, and no pipe is read. */
  readonly filesFrom?: readonly string[];
  /** The options. Help lists those of a topic in this order. */
  readonly options: optionTables.Options;
  /**
   * Examples for help, of which the first is the simplest. A topic of help shows those examples that use one of the
   * topic's options, if there are any.
   */
  readonly examples: readonly Example[];
  /** Loads the code that runs the command. Left out for `completions`, whose code src/main/run.ts loads. */
  readonly run?: () => Promise<Runner>;
  /**
   * Whether nearly every run of the command needs the kernel. If so, it is compiled while the command's code is loaded.
   */
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
