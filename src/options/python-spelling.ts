import type { messages } from "#runtime";
import type { Option } from "./option.ts";
import { trainingOptions } from "./training-table.ts";

/**
 * Commands whose options have the names of the training parameters in Python. For any other command, Python's parameter
 * is the option's name with `_` for `-`.
 */
const withParameters = ["train", "image"];

const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The parameter of an option in Python; `null` if there is none. */
export const pythonName = (key: string, { python = snakeCase(key) }: Option): string | null => python;

/** Returns how a command's options are written in messages to Python callers. */
export const pythonSpellingFor = (command: string): messages.Spelling =>
  pythonSpelling(withParameters.includes(command));

/** @internal Spells options as Python does: `vocab_size=300`. */
export const pythonSpelling =
  (hasParameters: boolean): messages.Spelling =>
  ({ option, value }) => {
    const found = Object.entries<Option>(trainingOptions).find(
      ([, { name }]) => hasParameters && name === option,
    );
    const name = (found && pythonName(...found)) ?? option.replaceAll("-", "_");
    if (value === undefined) return name;
    const [, text, id] = idForm.exec(value) ?? [];
    if (hasParameters && option === "special-token" && id !== undefined) return `${name}={'${text}': ${id}}`;
    const print = found?.[1].kind.python.print;
    return `${name}=${print === "texts" ? `[${pythonValue(value)}]` : pythonValue(value, print === "languages")}`;
  };

/** A special token with its id, as in the message that a file lacks it: `'<|endoftext|>=100257'`. */
const idForm = /^'(.*)=(\d+)'$/;

/** Writes a value as Python source. */
function pythonValue(value: string, isDict = false): string {
  if (/^(["']|[\d._]+$)/.test(value)) return value;
  return isDict ? `{"${value.replace("=", '": "')}"}` : `"${value}"`;
}
