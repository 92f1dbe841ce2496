import { optionTables } from "#options";
import {
  asOption,
  exitCode,
  kernels,
  messages,
  phrase,
  programVersion,
  shell,
  type UserError,
  usageError,
} from "#runtime";
import { writtenPlaces } from "#store";
import { dataOutput, type Invocation, Output, stopping } from "#terminal";
import {
  checkComplete,
  checkValidUtf8,
  parseInvocation,
  peekOption,
  refuseTypedText,
  UnknownOption,
} from "./arguments.ts";
import type { CommandSpec } from "./command-spec.ts";
import { commandGroups, findCommandIn } from "./command-table.ts";

const codeForCompletions = async () => (await import("./completions-command.ts")).runCompletions;

/** Loads the code that examines paths. It is loaded on demand, because neither help nor the version needs it. */
const codeForPaths = () => import("./run-paths.ts");
const codeForMistakes = () => import("./mistakes.ts");

/**
 * Returns how messages must spell options, and which of them the caller can give. The Python package shows its users
 * the messages of this process, so it gets Python's spelling.
 */
async function spellingFor(
  command: CommandSpec | undefined,
  given: ReadonlyMap<string, unknown> = new Map(),
): Promise<messages.Spelling> {
  const { name = "", options = [], readsPipe } = command ?? {};
  const isPython = process.env.BPE_CALLER === "python";
  const spelling = isPython
    ? (await import("#options/python-spelling")).pythonSpellingFor(name)
    : messages.asTyped;
  const takesText = readsPipe === true && !isPython && !given.has("language");
  return Object.assign((option: messages.NamedOption) => spelling(option), {
    has: (option: string, value?: string) =>
      option === messages.standardInput ? takesText : optionTables.mayGive(option, value, options, given),
  });
}

/** Runs the command that the arguments name, and prints its error if it fails. Returns the exit code. */
export async function run(typed: readonly string[]): Promise<number> {
  const guessed = await guessOutputOptions(typed);
  let output = new Output(guessed);
  try {
    checkValidUtf8(typed);
    const [name, ...rest] = typed;
    if (name === undefined || name === "help" || name === "--help" || name === "-h") {
      const [page] = rest;
      const isPage = name === "help" && page?.startsWith("docs") === true;
      const asked = isPage || page === undefined || isGroup(rest) ? undefined : await findCommand(rest);
      const [topic, extra] = isPage ? [undefined, rest[1]] : (asked?.rest ?? rest.slice(1));
      if (extra !== undefined && name === "help") throw tooMany("help", extra, helpForms);
      if (isPage) return await showPage(page);
      return await showHelp(asked?.command ?? page, topic);
    }
    if (programVersion.isVersionRequest(name)) {
      if (name === "version" && rest[0] !== undefined) throw tooMany("version", rest[0], "bpe version");
      await dataOutput.writeStdout(`${programVersion.versionLine}\n`);
      return exitCode.done;
    }
    if (isGroup(typed)) return await showHelp(name);
    const { command, rest: args } = await findCommand(typed);
    if (asksForHelp(args)) return await showHelp(command, topicAsked(command, args));
    const kernel = command.usesKernel ? kernels.prepare() : undefined;
    const invocation = parseInvocation(command, args);
    const written = (await codeForPaths()).checkRunPaths(command, invocation);
    const spelling = await spellingFor(command, invocation.options);
    const outputOptions = { ...readOutputOptions(invocation, typed), written, spelling };
    // From here on until the log is open, errors are not written to it, because each write would try to open the file
    // again, and might create it.
    output = new Output({ ...guessed, log: undefined });
    const ownOutput = new Output(outputOptions);
    ownOutput.openLog();
    output = ownOutput;
    stopping.serveSignals((how, code) => output.stop(how, code));
    stopping.serveCrashes((error) => output.fail(error));
    if (invocation.options.text("pattern") === "help") {
      const [{ describePatterns }, { nameFor }, { patterns }] = await Promise.all([
        import("./help.ts"),
        import("#pattern/pattern"),
        import("#pattern/named-patterns"),
      ]);
      // The arguments are names of patterns here. `-` is standard input, which is not read.
      const names = invocation.files.filter((file) => file !== "-");
      await dataOutput.writeStdout(describePatterns(patterns, names.map(nameFor)));
      return exitCode.done;
    }
    if (invocation.options.text("input-format") === "ids")
      throw (await codeForMistakes()).idsAsFormat(command, invocation);
    refuseTypedText(command, invocation);
    checkComplete(command, invocation);
    optionTables.checkCombinations(command.options, invocation.options);
    await takeListedTokens(command, invocation, output);
    const [runCommand] = await Promise.all([(command.run ?? codeForCompletions)(), kernel]);
    await runCommand(invocation, output);
    stopping.undoAll();
    output.end();
    return exitCode.done;
  } catch (error) {
    stopping.undoAll();
    if (error instanceof writtenPlaces.MisplacedOutput && error.isOfLog) output.dropLog();
    if (error instanceof dataOutput.ClosedReader) {
      output.endUnread();
      return exitCode.done;
    }
    return output.fail(error instanceof UnknownOption ? await explained(error) : error);
  }
}

async function explained({ command, shown, argument }: UnknownOption): Promise<UserError> {
  const { unknownOption } = await codeForMistakes();
  return unknownOption(command, shown, argument);
}

/** Adds the tokens in the files of `--special-tokens` to the values of `--special-token`. */
async function takeListedTokens(
  command: CommandSpec,
  { options }: Invocation,
  output: Output,
): Promise<void> {
  if (!options.has("special-tokens")) return;
  const { takeSpecialTokens } = await import("#train/token-lists");
  const { kind } = command.options.find(({ name }) => name === "special-token")!;
  const takesIds = kind.value!.includes("=ID") || options.has("tokenizer");
  takeSpecialTokens(options, takesIds, (warning) => output.warn(warning));
}

async function findCommand(typed: readonly string[]) {
  const found = await findCommandIn(typed);
  if (found !== undefined) return found;
  const { unknownCommand } = await codeForMistakes();
  const [first = "", second] = typed;
  throw Object.hasOwn(commandGroups, first) ? unknownCommand(second!, first) : unknownCommand(first);
}

/** Whether only a group is named: `bpe ids`, alone or with `--help`, lists the group's commands. */
const isGroup = ([first = "", second = "--help"]: readonly string[]) =>
  Object.hasOwn(commandGroups, first) && /^(-h|--help)$/.test(second);

/** Whether help is requested. It is shown even if the command line has mistakes. */
const asksForHelp = (typed: readonly string[]): boolean => helpAt(typed) >= 0;

function helpAt(typed: readonly string[]): number {
  const end = typed.indexOf("--");
  return (end < 0 ? typed : typed.slice(0, end)).findIndex((argument) =>
    /^(-h|--help(=.*)?)$/s.test(argument),
  );
}

/** Returns the topic or the option after `--help`. */
function topicAsked({ options }: CommandSpec, typed: readonly string[]): string | undefined {
  const at = helpAt(typed);
  const attached = /^--help=(.*)$/s.exec(typed[at]!)?.[1];
  const next = typed[at + 1];
  // The word after `--help` is a file unless it is a topic or an option.
  const isOption = options.some(
    ({ name }) => name === next || (`--${name}` === next && at + 2 === typed.length),
  );
  return (
    attached ??
    (next !== undefined && (next === "all" || next in optionTables.topics || isOption) ? next : undefined)
  );
}

const helpForms = "bpe help [command] [topic], or bpe help docs/<page>.md";
const tooMany = (name: string, word: string, hint: string) =>
  usageError(`bpe ${name}: "${word}" is one word too many`, `use ${hint}`);

async function showHelp(command?: CommandSpec | string, topic?: string): Promise<number> {
  const { helpText } = await import("./help.ts");
  await dataOutput.writeStdout(helpText(command, topic));
  return exitCode.done;
}

async function showPage(typed: string): Promise<number> {
  const { manualPage } = await import("./manual.ts");
  await dataOutput.writeStdout(manualPage(typed));
  return exitCode.done;
}

function readOutputOptions({ options }: Invocation, typed: readonly string[]) {
  const logPath = options.text("log-file");
  if (logPath === "" || logPath === "-")
    throw usageError(
      phrase`${asOption("log-file")} ${logPath === "" ? "was given an empty name" : '"-" does not name a file'}`,
      phrase`name a file, e.g. ${asOption("log-file", "bpe.log")}`,
    );
  return {
    quiet: options.has("quiet"),
    waits: options.has("wait"),
    progress: options.text("progress") ?? "auto",
    command: shell.line(["bpe", ...typed]),
    log: logPath,
  };
}

/**
 * Reads output options from a command line that has not been checked yet, so that mistakes in it are reported in the
 * requested form and, unless writing to it might do damage, to the requested log.
 */
async function guessOutputOptions(typed: readonly string[]) {
  const command = (await findCommandIn(typed))?.command;
  const isTaken = command?.options.some(({ name }) => name === "log-file");
  const asked = isTaken ? peekOption(typed, "log-file") : undefined;
  const isUsable = asked !== undefined && asked !== "-" && !(await codeForPaths()).mayDamage(asked, typed);
  return {
    quiet: false,
    spelling: await spellingFor(command),
    progress: peekOption(typed, "progress") === "json" ? "json" : "none",
    command: shell.line(["bpe", ...typed]),
    log: isUsable ? asked : undefined,
  };
}
