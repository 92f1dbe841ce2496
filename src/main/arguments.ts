import { isUtf8 } from "node:buffer";
import { fstatSync, lstatSync, readFileSync } from "node:fs";
import { escapeBytes } from "#bytes";
import type { optionTables } from "#options";
import {
  asOption,
  type Message,
  messages,
  phrase,
  shell,
  systemError,
  UserError,
  usageError,
} from "#runtime";
import { type Invocation, TypedOptions } from "#terminal";
import { type CommandSpec, usageLine } from "./command-spec.ts";

/** Parses the arguments of a command; values stay text. Throws an `UnknownOption` or a UserError. */
export function parseInvocation(command: CommandSpec, typed: readonly string[]): Invocation {
  const options = new TypedOptions();
  const files: string[] = [];
  /** The last option, if it accepts more values. */
  let open: optionTables.Option | undefined;
  let mistake: UserError | undefined;

  for (let i = 0; i < typed.length; i++) {
    const argument = typed[i]!;
    if (argument === "--") {
      files.push(...typed.slice(i + 1));
      break;
    }
    if (argument === "-" || !argument.startsWith("-")) {
      if (open === undefined) files.push(argument);
      else options.add(open.name, argument);
      continue;
    }
    open = undefined;
    for (const { option, shown, attached } of readOption(command, argument)) {
      if (option.kind.value === undefined) {
        if (attached !== undefined) mistake ??= usageError(phrase`${named(shown)} takes no value`);
        options.set(option.name, []);
        continue;
      }
      const value = attached ?? typed[i + 1];
      if (value === undefined || (attached === undefined && looksLikeOption(value))) {
        const hint =
          value === undefined ? undefined : phrase`if ${value} is the value, write ${named(shown)}=${value}`;
        mistake ??= usageError(phrase`${named(shown)} needs a value (${option.kind.value})`, hint);
        continue;
      }
      if (attached === undefined) {
        i++;
        if (option.kind.many) open = option;
      }
      if (options.has(option.name) && !option.kind.repeatable)
        mistake ??= usageError(phrase`${named(shown)} is given twice`);
      options.add(option.name, value);
    }
  }
  // This error is thrown only now, because an unknown option, wherever it is typed, is reported instead.
  if (mistake !== undefined) throw mistake;
  return { options, files: readsPipe(command, files, options) ? ["-"] : files, typed };
}

/**
 * Whether the command gets standard input although `-` is not typed. Three conditions must hold: the command reads
 * standard input, or refuses it with an error of its own (its `readsPipe` is set); a file is needed, but none is
 * named; and standard input is a pipe or a file.
 */
function readsPipe(command: CommandSpec, files: readonly string[], options: Invocation["options"]): boolean {
  if (!command.readsPipe || files.length > 0 || needsNoFile(command, options)) return false;
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isFile();
  } catch {
    return false;
  }
}

/**
 * Whether no file is needed: an option takes the place of files, or `--extend` is given without `--vocab-size`, so that
 * nothing is learned.
 */
const needsNoFile = ({ filesFrom = [], options: known }: CommandSpec, options: TypedOptions): boolean =>
  filesFrom.some((name) => options.has(name)) ||
  known.some(
    ({ name, optionalWith }) => optionalWith !== undefined && options.has(optionalWith) && !options.has(name),
  );

/** Refuses an invocation that lacks required arguments, or has too many. The error names everything that is missing. */
export function checkComplete(command: CommandSpec, { options, files }: Invocation): void {
  const taken = command.files.split(" ").filter((file) => file !== "");
  const missing: Message[] = needsNoFile(command, options)
    ? []
    : taken.slice(files.length).filter((file) => file.startsWith("<"));
  for (const { name, required, optionalWith } of command.options) {
    const isOptional = !required || (optionalWith !== undefined && options.has(optionalWith));
    if (!isOptional && !options.has(name)) missing.push(asOption(name));
  }
  const usage = `usage: ${usageLine(command)}`;
  if (missing.length > 0) {
    const [last, others] = [missing.at(-1)!, missing.slice(0, -1)];
    const list = others.length === 0 ? last : phrase`${messages.joined(others, ", ")} and ${last}`;
    throw usageError(phrase`${list} ${missing.length === 1 ? "is" : "are"} missing`, usage);
  }
  const isEndless = taken.at(-1)?.endsWith("...");
  if (files.length > taken.length && !isEndless) {
    const what = taken.length === 0 ? "no file" : taken.join(" ");
    const text = files.slice(taken.length - 1).join(" ");
    const whole = ["bpe", command.name, ...files.slice(0, taken.length - 1), text];
    throw usageError(
      `bpe ${command.name} takes ${what}; "${files[taken.length]}" is one too many`,
      taken.at(-1) === "<text>" ? `quote a text of several words: ${shell.line(whole)}` : usage,
    );
  }
}

/**
 * Throws a UserError for invalid UTF-8. The runtime replaces such bytes by U+FFFD, so a special token or a path would
 * differ from what was typed. If the system does not expose the bytes of the arguments, nothing is checked.
 */
export function checkValidUtf8(typed: readonly string[]): void {
  if (!typed.some((argument) => argument.includes("\ufffd"))) return;
  const wrong = argumentsOfProcess().find((argument) => !isUtf8(argument));
  if (wrong !== undefined)
    throw usageError(
      `the argument "${escapeBytes(wrong)}" is not valid UTF-8`,
      "type it in UTF-8; if it names a file, rename the file",
    );
}

/** Returns the bytes of each argument; an empty list if the system does not expose them. */
function argumentsOfProcess(): Uint8Array[] {
  let bytes: Buffer;
  try {
    bytes = readFileSync("/proc/self/cmdline");
  } catch {
    return [];
  }
  const found: Uint8Array[] = [];
  for (let pos = 0; pos < bytes.length; ) {
    const end = bytes.indexOf(0, pos);
    found.push(bytes.subarray(pos, end));
    pos = end + 1;
  }
  return found;
}

/** Whether an argument looks like an option. `-`, and `-` before a digit, do not. */
const looksLikeOption = (argument: string) => /^-[^\d]/.test(argument);

type ReadOption = {
  readonly option: optionTables.Option;
  /** The option as typed. */
  readonly shown: string;
  /** The value in the same argument, if any. */
  readonly attached: string | undefined;
};

/**
 * Thrown for an unknown option. `shown` is the option as typed, without a value. For a short option, `argument` is the
 * whole argument, which may hold several short options. If the first short option is unknown, the argument may be a
 * long option that was typed with one dash, so `shown` is all of it except its value. For a long option, `argument`
 * equals `shown`.
 */
export class UnknownOption extends Error {
  constructor(
    readonly command: CommandSpec,
    readonly shown: string,
    readonly argument = shown,
  ) {
    super(`unknown option ${shown}`);
  }
}

/** Parses the option in an argument, or several short ones in a row (`-qn300`). */
function readOption(command: CommandSpec, argument: string): ReadOption[] {
  if (argument.startsWith("--")) {
    const [, name, , attached] = /^--([^=]*)(=(.*))?$/s.exec(argument)!;
    const option = command.options.find((known) => known.name === name);
    if (option === undefined) throw new UnknownOption(command, `--${name}`);
    return [{ option, shown: `--${name}`, attached }];
  }
  const found: ReadOption[] = [];
  for (let at = 1; at < argument.length; at++) {
    const shown = `-${argument[at]}`;
    const option = command.options.find((known) => known.short === argument[at]);
    if (option === undefined)
      throw new UnknownOption(command, at === 1 ? argument.replace(/=.*$/s, "") : shown, argument);
    const rest = argument.slice(at + 1);
    if (option.kind.value === undefined && !rest.startsWith("=")) {
      found.push({ option, shown, attached: undefined });
      continue;
    }
    found.push({ option, shown, attached: rest === "" ? undefined : rest.replace(/^=/, "") });
    break;
  }
  return found;
}

/** Returns the value of a long option on an unchecked command line; undefined if it is missing or unclear. */
export function peekOption(typed: readonly string[], name: string): string | undefined {
  const end = typed.indexOf("--");
  const options = end < 0 ? typed : typed.slice(0, end);
  const attached = options.find((argument) => argument.startsWith(`--${name}=`));
  if (attached !== undefined) return attached.slice(name.length + 3);
  const value = options[options.indexOf(`--${name}`) + 1];
  return options.includes(`--${name}`) && value !== undefined && !looksLikeOption(value) ? value : undefined;
}

/** Returns the name of an option for messages: a short name as it was typed, a long one as the caller spells it. */
export const named = (typed: string): Message => (typed.startsWith("--") ? asOption(typed.slice(2)) : typed);

/** Refuses text or ids that were typed in place of a file for encode, tokens or decode. */
export function refuseTypedText({ name }: CommandSpec, { files, options, typed }: Invocation): void {
  if (!options.has("tokenizer") || !["encode", "tokens", "decode"].includes(name)) return;
  const isText = name === "decode" ? /^[\d\s]+$/ : /^[^*?[]*\s[^*?[]*$|^[^./\\*?[-]+$/;
  const text = files.find((file) => isText.test(file) && doesNotExist(file));
  if (text === undefined) return;
  const rest = typed.filter((word) => !files.includes(word));
  // A text that is long, or has several lines, is not repeated in the hint.
  const all = files.join(" ");
  const shown = /^.{1,100}$/.test(all) ? all : "TEXT";
  const explain = ["bpe", "explain", options.text("tokenizer")!, shown];
  const how = name === "encode" ? `; ${shell.line(explain)} shows how it is encoded` : "";
  throw new UserError(`"${text}": no such file`, {
    hint: `to pass ${name === "decode" ? "ids, pipe them" : "a text, pipe it"}: ${shell.line(["echo", shown])} | ${shell.line(["bpe", name, ...rest])}${how}`,
  });
}

function doesNotExist(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch (error) {
    return systemError.codeOf(error) === "ENAMETOOLONG";
  }
}
