import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { exitCode, UserError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { escapeBytes } from "../vocabulary/escape.ts";
import type { CommandSpec, OptionSpec } from "./options.ts";

/**
 * cac reads `007` as the number 7, drops an empty value and `-`, and joins what is given twice. So the arguments are
 * checked against the command's options first, and handed to cac in one canonical form:
 *
 *   typed                      handed on
 *   -s 007, -s007, -s=007      --special-token==007
 *   -q                         --quiet
 *   -, --, 2026                =-, (dropped: the rest are files), =2026
 *
 * The `=` before every value shields it: no value is empty, numeric or begins with a dash. `unshield` takes it off.
 * Files come first, because cac takes what follows a flag with a dash in its name for the flag's value.
 */
export function canonicalArguments(command: CommandSpec, typed: readonly string[]): string[] {
  const options: string[] = [];
  const files: string[] = [];
  const seen = new Map<string, string>();
  let mistake: UserError | undefined;

  for (let i = 0; i < typed.length; i++) {
    const argument = typed[i]!;
    if (argument === "--") {
      files.push(...typed.slice(i + 1));
      break;
    }
    if (argument === "-" || !argument.startsWith("-")) {
      files.push(argument);
      continue;
    }
    for (const { option, shown, value: attached } of readOption(command, argument)) {
      if (option.value === undefined) {
        if (attached !== undefined) mistake ??= usageError(`${shown} takes no value`);
        options.push(`--${option.name}`);
        continue;
      }
      let value = attached;
      if (value === undefined) {
        const next = typed[i + 1];
        if (next === undefined || looksLikeOption(next)) {
          const hint = next === undefined ? undefined : `a value that begins with a dash: ${shown}=${next}`;
          mistake ??= usageError(`${shown} needs a value (${option.value})`, hint);
          continue;
        }
        value = next;
        i++;
      }
      const before = seen.get(option.name);
      if (before !== undefined && !option.repeatable) mistake ??= usageError(`${shown} is given twice`);
      seen.set(option.name, shown);
      options.push(`--${option.name}=${shield(value)}`);
    }
  }
  // Only now, so that an unknown option, thrown on the way, comes first.
  if (mistake !== undefined) throw mistake;
  return [...files.map(shield), ...options];
}

/**
 * The runtime gives bytes that are not UTF-8 as U+FFFD. Then a special token, or a path, is not what was typed: better no
 * run than one with another token. Where the system does not show the bytes, nothing can be told.
 */
export function checkValidUtf8(typed: readonly string[]): void {
  if (!typed.some((argument) => argument.includes("\ufffd"))) return;
  const wrong = argumentsOfProcess().find((argument) => !isUtf8(argument));
  if (wrong !== undefined) throw usageError(`the argument "${escapeBytes(wrong)}" is not valid UTF-8`);
}

/** The bytes of each, as the kernel has them. */
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

const shield = (value: string) => `=${value}`;
export const unshield = (value: string) => value.slice(1);

export function usageError(message: string, hint?: string): UserError {
  return new UserError(message, { exitCode: exitCode.usage, ...(hint !== undefined && { hint }) });
}

/** `-`, and a negative number, are values. */
const looksLikeOption = (argument: string) => /^-[^\d]/.test(argument);

type ReadOption = { option: OptionSpec; shown: string; value: string | undefined };

/** The option, or several short ones in a row (`-qn300`), that one argument holds. */
function readOption(command: CommandSpec, argument: string): ReadOption[] {
  if (argument.startsWith("--")) {
    const [, name, , value] = /^--([^=]*)(=(.*))?$/s.exec(argument)!;
    const option = command.options.find((known) => known.name === name);
    if (option === undefined) throw unknownOption(command, `--${name}`);
    return [{ option, shown: `--${name}`, value }];
  }
  const found: ReadOption[] = [];
  for (let at = 1; at < argument.length; at++) {
    const shown = `-${argument[at]}`;
    const option = command.options.find((known) => known.short === argument[at]);
    if (option === undefined) throw unknownOption(command, at === 1 ? argument.replace(/=.*$/s, "") : shown);
    const rest = argument.slice(at + 1);
    if (option.value === undefined && !rest.startsWith("=")) {
      found.push({ option, shown, value: undefined });
      continue;
    }
    found.push({ option, shown, value: rest === "" ? undefined : rest.replace(/^=/, "") });
    break;
  }
  return found;
}

function unknownOption(command: CommandSpec, shown: string): UserError {
  const name = shown.replace(/^-+/, "");
  const known = command.options.map((option) => `--${option.name}`);
  const near = nearest(`--${name}`, known);
  const hint = near === undefined ? `bpe ${command.name} --help lists the options` : `did you mean ${near}?`;
  return usageError(`unknown option ${shown}`, hint);
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

/** A whole number from `least` on, written in digits. */
export function wholeNumber(option: string, text: string, least: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw usageError(`${option}: "${text}" is not a whole number`);
  if (value < least) throw usageError(`${option}: ${text} is too small, the least is ${least}`);
  return value;
}

/** One of the words listed. */
export function oneOf<const Word extends string>(option: string, text: string, words: readonly Word[]): Word {
  if ((words as readonly string[]).includes(text)) return text as Word;
  const near = nearest(text, words);
  const hint =
    near === undefined
      ? `one of: ${words.join(", ")}`
      : `did you mean ${near}? (one of: ${words.join(", ")})`;
  throw usageError(`${option}: unknown value "${text}"`, hint);
}
