import { fstatSync } from "node:fs";
import { cac } from "cac";
import { exitCode, type UserError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { isWithin } from "../publish/place.ts";
import { prepareKernel } from "../runtime/kernel.ts";
import { versionLine } from "../runtime/version.ts";
import { shellLine } from "../shell.ts";
import { canonicalArguments, checkValidUtf8, peekOption, unshield, usageError } from "./arguments.ts";
import { LogFile } from "./log-file.ts";
import { type CommandSpec, commands } from "./options.ts";
import { createOutput, type Output, type OutputOptions } from "./output.ts";
import { serveCrashes, serveSignals, undoAll } from "./stop.ts";
import { ReaderGone, writeStdout } from "./streams.ts";

/** What a command gets: its options by name, each with the texts typed for it, and its files. */
export type Invocation = {
  readonly options: ReadonlyMap<string, readonly string[]>;
  readonly files: readonly string[];
  /** The arguments exactly as typed. */
  readonly typed: readonly string[];
};

type Runner = (invocation: Invocation, output: Output) => Promise<void>;

/** The code of a command is loaded when it is asked for: a start takes as long as what it loads. */
const runners: Record<string, () => Promise<Runner>> = {
  train: async () => (await import("./train.ts")).runTrain,
  count: async () => (await import("./count.ts")).runCount,
  plan: async () => (await import("./plan.ts")).runPlan,
  encode: async () => (await import("./encode.ts")).runEncode,
  decode: async () => (await import("./decode.ts")).runDecode,
  inspect: async () => (await import("./inspect.ts")).runInspect,
};

/** Commands that always come to need the kernel: it is compiled while their code is loaded. */
const usesKernel = new Set(["train", "count", "encode"]);

/** Runs the command that the arguments name; its value is the exit code. Never throws. */
export async function run(typed: readonly string[]): Promise<number> {
  const guessed = guessOutputOptions(typed);
  let output = createOutput(guessed);
  try {
    checkValidUtf8(typed);
    const [name, ...rest] = typed;
    if (name === undefined || name === "help" || name === "--help" || name === "-h") return showHelp(rest[0]);
    if (name === "--version" || name === "-V") {
      await writeStdout([Buffer.from(`${versionLine}\n`)]);
      return exitCode.done;
    }
    const command = findCommand(name);
    if (asksForHelp(rest)) return showHelp(name);
    const invocation = parseInvocation(command, rest);
    const misplaced = name === "train" ? optionsWithinOutput(invocation) : [];
    // It would be made there only to hold this error.
    if (misplaced.includes("log-file")) output = createOutput({ ...guessed, log: undefined });
    if (misplaced.length > 0) throw withinOutput(invocation, misplaced[0]!);
    const outputOptions = readOutputOptions(invocation, typed);
    outputOptions.log?.open();
    output = createOutput(outputOptions);
    serveSignals(output.stop);
    serveCrashes(output.fail);
    if (invocation.options.get("pattern")?.[0] === "help") {
      const { describePatterns } = await import("./patterns.ts");
      await writeStdout([Buffer.from(describePatterns())]);
      return exitCode.done;
    }
    const [runCommand] = await Promise.all([runners[name]!(), usesKernel.has(name) && prepareKernel()]);
    await runCommand(invocation, output);
    undoAll();
    output.end();
    return exitCode.done;
  } catch (error) {
    undoAll();
    if (error instanceof ReaderGone) {
      output.endUnread();
      return exitCode.done;
    }
    return output.fail(error);
  }
}

function findCommand(name: string): CommandSpec {
  const command = commands.find((known) => known.name === name);
  if (command !== undefined) return command;
  const near = nearest(
    name,
    commands.map((known) => known.name),
  );
  const hint = near === undefined ? "bpe help lists the commands" : `did you mean bpe ${near}?`;
  const what = name.startsWith("-") ? `the command comes first, found ${name}` : `unknown command "${name}"`;
  throw usageError(what, hint);
}

/** Help is given whatever else is wrong. */
function asksForHelp(typed: readonly string[]): boolean {
  const end = typed.indexOf("--");
  return (end < 0 ? typed : typed.slice(0, end)).some(
    (argument) => argument === "--help" || argument === "-h",
  );
}

function describe(specs: readonly CommandSpec[]): ReturnType<typeof cac> {
  const cli = cac("bpe");
  for (const spec of specs) {
    const command = cli
      .command(`${spec.name} ${spec.files}`, spec.description)
      .usage(`${spec.name} ${spec.files} ${spec.usage}`);
    for (const option of spec.options) {
      const flags = `${option.short === undefined ? "" : `-${option.short}, `}--${option.name}`;
      const value = option.value === undefined ? "" : ` <${option.value}>`;
      const standard = option.default === undefined ? "" : ` (default: ${option.default})`;
      command.option(flags + value, option.description + standard);
    }
    command.example(`  ${spec.example}`);
  }
  cli.usage("<command> [options]");
  cli.globalCommand.option("-V, --version", "show the versions of bpe and Bun, and the commit");
  return cli;
}

function showHelp(name: string | undefined): number {
  const cli = describe(commands);
  if (name !== undefined)
    cli.matchedCommand = cli.commands.find((command) => command.name === findCommand(name).name)!;
  cli.outputHelp();
  return exitCode.done;
}

/** What a command line says, as far as the options of the command go. */
export function parseInvocation(command: CommandSpec, typed: readonly string[]): Invocation {
  const cli = describe([command]);
  const canonical = canonicalArguments(command, typed);
  const { args, options } = cli.parse(["bun", "bpe", command.name, ...canonical], { run: false });
  const byName = new Map<string, readonly string[]>();
  for (const { name, value } of command.options) {
    const found = options[name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    if (found === undefined || found === false) continue;
    byName.set(name, value === undefined ? [] : [found].flat().map((text) => unshield(text)));
  }
  const files = args.map((text) => unshield(text));
  return { options: byName, files: readsPipe(command, files, byName) ? ["-"] : files, typed };
}

/** Where no file is named, what is piped in is read, unless something else stands for the files. */
function readsPipe({ name }: CommandSpec, files: readonly string[], options: Invocation["options"]): boolean {
  const takesFiles = ["train", "count", "encode", "decode"].includes(name) && files.length === 0;
  if (!takesFiles || options.has("counts") || options.has("ranges")) return false;
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isFile();
  } catch {
    return false;
  }
}

const writing = ["log-file", "save-counts", "cache"];

/** Which options name a place in the directory that `train` replaces as a whole. */
function optionsWithinOutput({ options }: Invocation): string[] {
  const output = options.get("output")?.[0];
  return writing.filter((name) => {
    const path = options.get(name)?.[0];
    return path && output && isWithin(path, output);
  });
}

function withinOutput({ options }: Invocation, name: string): UserError {
  const [path, output] = [name, "output"].map((option) => options.get(option)?.[0]);
  return usageError(
    `--${name} "${path}" is in --output "${output}", which is replaced as a whole`,
    "name a place beside it",
  );
}

function readOutputOptions({ options }: Invocation, typed: readonly string[]): OutputOptions {
  const logPath = options.get("log-file")?.[0];
  if (logPath === "") throw usageError("--log-file is empty", "name a file, e.g. --log-file bpe.log");
  return {
    quiet: options.has("quiet"),
    progress: options.get("progress")?.[0] ?? "auto",
    command: shellLine(["bpe", ...typed]),
    log: logPath === undefined ? undefined : new LogFile(logPath),
  };
}

/** What can be read of a command line that may hold mistakes: whoever watches wants to learn of those, too. */
function guessOutputOptions(typed: readonly string[]): OutputOptions {
  const logPath = peekOption(typed, "log-file");
  return {
    quiet: false,
    progress: peekOption(typed, "progress") === "json" ? "json" : "none",
    command: shellLine(["bpe", ...typed]),
    log: logPath === undefined ? undefined : new LogFile(logPath),
  };
}
