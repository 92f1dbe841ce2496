import { isUtf8 } from "node:buffer";
import { fstatSync, readFileSync } from "node:fs";
import { escapeBytes } from "../bytes/escape.ts";
import { type UserError, usageError } from "../errors.ts";
import { unknownOption } from "./argument-hints.ts";
import { type CommandSpec, usageLine } from "./command-table.ts";
import type { OptionSpec } from "./option-table.ts";
import { TypedOptions } from "./option-values.ts";

/** What a command gets. */
export type Invocation = {
  readonly options: TypedOptions;
  readonly files: readonly string[];
  /** The arguments exactly as typed. */
  readonly typed: readonly string[];
};

/** Reads the arguments of a command. Values are text exactly as typed; a UserError names what is wrong as typed. */
export function parseInvocation(command: CommandSpec, typed: readonly string[]): Invocation {
  const options = new TypedOptions();
  const files: string[] = [];
  /** The option whose values go on. */
  let open: OptionSpec | undefined;
  let mistake: UserError | undefined;

  for (let i = 0; i < typed.length; i++) {
    const argument = typed[i]!;
    if (argument === "--") {
      files.push(...typed.slice(i + 1));
      break;
    }
    if (argument === "-" || !argument.startsWith("-")) {
      if (open === undefined) files.push(argument);
      else options.set(open.name, [...options.get(open.name)!, argument]);
      continue;
    }
    open = undefined;
    for (const { option, shown, attached } of readOption(command, argument)) {
      if (option.value === undefined) {
        if (attached !== undefined) mistake ??= usageError(`${shown} takes no value`);
        options.set(option.name, []);
        continue;
      }
      const value = attached ?? typed[i + 1];
      if (value === undefined || (attached === undefined && looksLikeOption(value))) {
        const hint = value === undefined ? undefined : `a value that begins with a dash: ${shown}=${value}`;
        mistake ??= usageError(`${shown} needs a value (${option.value})`, hint);
        continue;
      }
      if (attached === undefined) {
        i++;
        if (option.many) open = option;
      }
      const before = options.get(option.name) ?? [];
      if (before.length > 0 && !option.repeatable) mistake ??= usageError(`${shown} is given twice`);
      options.set(option.name, [...before, value]);
    }
  }
  // Thrown only now: an unknown option, which is thrown on the way, comes first.
  if (mistake !== undefined) throw mistake;
  return { options, files: readsPipe(command, files, options) ? ["-"] : files, typed };
}

/** Where no file is named, piped data is read, unless an option stands for the files. */
function readsPipe(command: CommandSpec, files: readonly string[], options: Invocation["options"]): boolean {
  if (!command.readsPipe || files.length > 0 || command.filesFrom?.some((name) => options.has(name))) {
    return false;
  }
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isFile();
  } catch {
    return false;
  }
}

/** Refuses an invocation that leaves out what the command cannot do without, all of it in one error, or names too much. */
export function checkComplete(command: CommandSpec, { options, files }: Invocation): void {
  const taken = command.files.split(" ").filter((file) => file !== "");
  const isGivenOtherwise = command.filesFrom?.some((name) => options.has(name));
  const missing = isGivenOtherwise ? [] : taken.slice(files.length).filter((file) => file.startsWith("<"));
  for (const { name, required } of command.options) {
    if (required && !options.has(name)) missing.push(`--${name}`);
  }
  const usage = `usage: ${usageLine(command)}`;
  if (missing.length > 0) {
    const list = missing.join(", ").replace(/, (?=[^,]*$)/, " and ");
    throw usageError(`${list} ${missing.length === 1 ? "is" : "are"} missing`, usage);
  }
  const isEndless = taken.at(-1)?.endsWith("...");
  if (files.length > taken.length && !isEndless) {
    const what = taken.length === 0 ? "no file" : taken.join(" ");
    throw usageError(`${command.name} takes ${what}, and found "${files[taken.length]}"`, usage);
  }
}

/**
 * The runtime replaces bytes that are not UTF-8 by U+FFFD, so a special token or a path would not be what was typed: a
 * UserError. Where the system does not show the bytes of the arguments, nothing is checked.
 */
export function checkValidUtf8(typed: readonly string[]): void {
  if (!typed.some((argument) => argument.includes("\ufffd"))) return;
  const wrong = argumentsOfProcess().find((argument) => !isUtf8(argument));
  if (wrong !== undefined) throw usageError(`the argument "${escapeBytes(wrong)}" is not valid UTF-8`);
}

/** The bytes of each argument, as the system has them. */
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

/** `-`, and a negative number, are values. */
const looksLikeOption = (argument: string) => /^-[^\d]/.test(argument);

type ReadOption = {
  readonly option: OptionSpec;
  /** The option as typed. */
  readonly shown: string;
  /** The value in the same argument, if one is there. */
  readonly attached: string | undefined;
};

/** The option, or several short ones in a row (`-qn300`), that one argument holds. */
function readOption(command: CommandSpec, argument: string): ReadOption[] {
  if (argument.startsWith("--")) {
    const [, name, , attached] = /^--([^=]*)(=(.*))?$/s.exec(argument)!;
    const option = command.options.find((known) => known.name === name);
    if (option === undefined) throw unknownOption(command, `--${name}`);
    return [{ option, shown: `--${name}`, attached }];
  }
  const found: ReadOption[] = [];
  for (let at = 1; at < argument.length; at++) {
    const shown = `-${argument[at]}`;
    const option = command.options.find((known) => known.short === argument[at]);
    if (option === undefined)
      throw unknownOption(command, at === 1 ? argument.replace(/=.*$/s, "") : shown, argument);
    const rest = argument.slice(at + 1);
    if (option.value === undefined && !rest.startsWith("=")) {
      found.push({ option, shown, attached: undefined });
      continue;
    }
    found.push({ option, shown, attached: rest === "" ? undefined : rest.replace(/^=/, "") });
    break;
  }
  return found;
}

/** The value of a long option, on a command line that was not checked; undefined if it cannot be told. */
export function peekOption(typed: readonly string[], name: string): string | undefined {
  const end = typed.indexOf("--");
  const options = end < 0 ? typed : typed.slice(0, end);
  const attached = options.find((argument) => argument.startsWith(`--${name}=`));
  if (attached !== undefined) return attached.slice(name.length + 3);
  const value = options[options.indexOf(`--${name}`) + 1];
  return options.includes(`--${name}`) && value !== undefined && !looksLikeOption(value) ? value : undefined;
}
