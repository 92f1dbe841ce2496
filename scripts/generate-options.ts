// `npm run suite options` writes the files that are generated from the tables of options, and Python's probe text.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../package.json";
import { decisiveFileNames } from "../src/formats/load-tokenizer.ts";
import { callOptions, spellInLibrary } from "../src/library/library.ts";
import { makeSentences } from "../src/main/help.ts";
import { inCode } from "../src/options/in-code.ts";
import { nameInLibrary, type Option } from "../src/options/option.ts";
import { pythonName } from "../src/options/python-spelling.ts";
import { trainingOptions } from "../src/options/training-table.ts";
import * as messages from "../src/runtime/message.ts";
import { asOption } from "../src/runtime/message.ts";
import * as probe from "../src/tokenizer/probe.ts";
import { optionsPage } from "./options-page.ts";

const root = join(import.meta.dir, "..");
const columns = 110;

/** Wraps words into lines; the first begins with `first`, the others with `rest`. */
function lines(text: string, first: string, rest = first): string[] {
  const made: string[] = [];
  let line = first;
  for (const word of text.split(" ")) {
    const isEmpty = line === (made.length === 0 ? first : rest);
    if (!isEmpty && line.length + 1 + word.length > columns) {
      made.push(line);
      line = rest + word;
    } else line += isEmpty ? word : ` ${word}`;
  }
  return [...made, line];
}

/**
 * Returns the description of an option for a comment in a generated file. `spelling` returns the name of another option
 * as it is spelled there.
 */
function said(option: Option, spelling: (name: string) => string): string {
  const { name, description, details, kind } = option;
  const named: messages.Spelling = ({ option, value }) =>
    `${spelling(option)}${value === undefined ? "" : ` ${value}`}`;
  const about =
    inCode[name] === undefined
      ? makeSentences(description, details, named)
      : messages.spell(inCode[name], named);
  const least = kind.least && kind.value !== "SIZE" ? ` At least ${kind.least}.` : "";
  const fallback = option.default === undefined ? "" : ` Default: ${messages.spell(option.default, named)}.`;
  return `${about}${least}${fallback}`.replaceAll("*/", "*\\/");
}

// The library.

type Node = { [name: string]: Node | Option };

/** Groups the options into a tree: for example, the options of `model` are in an object named `model`. */
function treeOf(): Node {
  const tree: Node = {};
  for (const [key, option] of Object.entries<Option>(callOptions)) {
    const library = nameInLibrary(key, option);
    if (library === null || library.includes(":")) continue;
    const path = library.split(".");
    const leaf = path.pop()!;
    let node = tree;
    for (const name of path) node = (node[name] ??= {}) as Node;
    node[leaf] = option;
  }
  return tree;
}

const isOption = (node: Node | Option): node is Option => "kind" in node;

function fieldsOf(node: Node, indent: string): string[] {
  return Object.entries(node).flatMap(([name, field]) => {
    if (!isOption(field))
      return [
        ...(name === "model"
          ? [`${indent}/** What \`transformers\` reads in addition to vocabulary and merges. */`]
          : []),
        `${indent}readonly ${name}?:`,
        `${indent}  | {`,
        ...fieldsOf(field, `${indent}      `),
        `${indent}    }`,
        `${indent}  | undefined;`,
      ];
    const comment = lines(
      said(field, (option) => `\`${spellInLibrary(asOption(option))}\``),
      `${indent} * `,
    );
    return [
      `${indent}/**`,
      ...comment,
      `${indent} */`,
      `${indent}readonly ${name}?: ${field.kind.type.includes("=>") ? `(${field.kind.type})` : field.kind.type} | undefined;`,
    ];
  });
}

const libraryType = () =>
  `// Made by \`npm run suite options\` from the tables in src/options.
import type { Texts } from "#corpus";
import type { StageProgress } from "#jobs";
import type { GivenWords } from "#words";

/**
 * What a tokenizer is trained on, and how. The corpus is all that \`files\`, \`texts\`, \`counts\` and
 * \`wordCounts\` have together, or it is in \`languages\`.
 */
export type TrainTokenizerOptions = {
${fieldsOf(treeOf(), "  ").join("\n")}
};
`;

// Python.

const parameters = Object.entries<Option>(trainingOptions).flatMap(([key, option]) => {
  const python = pythonName(key, option);
  return python === null ? [] : [{ ...option, python }];
});
const spellInPython = (option: string) =>
  `\`\`${parameters.find(({ name }) => name === option)?.python ?? option}\`\``;
/** Parameters that Python's `train_with` handles itself, so that PARAMETERS lacks them. */
const own = ["vocab_size", "output"];
const printed = parameters.filter(({ python }) => !own.includes(python));

const quoted = (names: readonly string[]) => names.map((name) => `"${name}",`).join(" ");

/** Returns the lines of a dict's item whose value is a tuple of names. */
function tupleOf(key: string, each: typeof parameters): string[] {
  const names = quoted(each.map(({ python }) => python));
  const line = `    "${key}": (${each.length > 1 ? names.slice(0, -1) : names}),`;
  return line.length <= columns ? [line] : [`    "${key}": (`, ...lines(names, "        "), "    ),"];
}

const pythonModule =
  () => `"""The parameters of \`train\`, and what else is stated in \`src/\`. Made by \`npm run suite options\`."""

from __future__ import annotations

from ._arguments import suggest_parameters
from ._executable import t
from ._training import train_with

__version__ = "${version}"

#: The names of the files in a directory that determine the tokenizer loaded from it.
FILES = (
${lines(quoted(decisiveFileNames), "    ").join("\n")}
)

#: The parameters that are options of \`bpe train\`, except \`vocab_size\` and \`output\`, by how \`_training.py\`
#: writes their values.
PARAMETERS = {
${[...Map.groupBy(printed, ({ kind }) => kind.python.print)].flatMap(([print, each]) => tupleOf(print, each)).join("\n")}
}
#: The options whose parameters have other names.
OPTIONS = {
${printed
  .filter(({ name, python }) => name !== python.replaceAll("_", "-"))
  .map(({ name, python }) => `    "${python}": "${name}",`)
  .join("\n")}
}


@suggest_parameters
def train(
    files: t.Union[t.PathLike, t.Sequence[t.PathLike], t.Texts, None] = None,
    vocab_size: t.Union[int, str, t.Sequence[int], None] = None,
    *,
    texts: t.Union[t.Texts, None] = None,
${parameters
  .filter(({ python }) => python !== "vocab_size")
  .map(({ python, kind }) => `    ${python}: ${kind.python.type} = ${kind.python.none},`)
  .join("\n")}
    progress: t.Union[bool, t.Progress] = False,
) -> t.Tokenizer:
    """Trains a tokenizer and loads it.

    \`\`files\`\` is one path or several: text, JSON lines, Parquet, compressed or not, directories. \`\`texts\`\` is any iterable
    of strings, or of lists of strings, each string a document of its own; it is read once, as fast as words are counted,
    and never held. An iterable that is not a list or tuple may be given as \`\`files\`\`, too, unless it begins with the path
    of a file. For a data set, name the column: \`\`texts=dataset["text"]\`\`.

${parameters.flatMap((option) => lines(`\`\`${option.python}\`\`: ${said(option, spellInPython).replaceAll("\\", "\\\\")}`, "    ", "        ")).join("\n")}

    \`\`progress\`\` is True for a line on stderr, or a function; what the function raises ends the run.

    Warnings of \`\`bpe\`\` become Python warnings. Raises BpeError with the message of \`\`bpe\`\`. On Ctrl-C it ends the run,
    leaves nothing half-written, and raises KeyboardInterrupt.
    """
    return train_with(PARAMETERS, OPTIONS, locals())
`;

const probeModule =
  () => `"""The probe text of fingerprints, docs/probe-1.json. Made by \`npm run suite options\`."""

from __future__ import annotations

VERSION = ${probe.version}

TEXT = (
${probe.parts.map(({ text }) => `    ${pythonText(text)}`).join("\n")}
)
`;

/** Returns a text as a Python literal in ASCII. */
const pythonText = (text: string) =>
  JSON.stringify(text).replace(/[\u007f-\u{10ffff}]/gu, (character) => {
    const digits = character.codePointAt(0)!.toString(16);
    return digits.length > 4 ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
  });

// The record.

export const trainingSchemaPath = join(root, "docs", "training.schema.json");

/**
 * Returns the schema of training.json, in which the settings of a training and of `--extend` are made from the table of
 * options.
 */
export function trainingSchema(): unknown {
  const whole = JSON.parse(readFileSync(trainingSchemaPath, "utf8"));
  for (const record of ["training", "extension"]) {
    const { properties, required } = whole.$defs[record].properties.options;
    for (const [name, option] of Object.entries<Option>(trainingOptions)) {
      const { recorded, kind, description, excludes = [] } = option;
      if (recorded === undefined) continue;
      // Whether the option differs in the schema of an extension, or is missing there.
      const isApart =
        ["compat", "specialTokensAsText"].includes(name) || excludes.some(({ other }) => other === "extend");
      if (record === "extension" && isApart) continue;
      const isAlways = required.includes(name);
      properties[name] = {
        ...(recorded === true ? kind.schema : recorded),
        ...(!isAlways && { description: `only if given: ${messages.spell(description)}` }),
      };
    }
  }
  return whole;
}

/** The generated texts, by the path of their file. */
export const generated = {
  "docs/options.md": optionsPage,
  "src/library/train-tokenizer-options.ts": libraryType,
  "python/bpe_trainer/_options.py": pythonModule,
  "python/bpe_trainer/_probe.py": probeModule,
};

if (import.meta.main) {
  for (const [path, make] of Object.entries(generated)) writeFileSync(join(root, path), make());
  writeFileSync(trainingSchemaPath, `${JSON.stringify(trainingSchema(), null, 2)}\n`);
  const made = [trainingSchemaPath, join(root, "src/library/train-tokenizer-options.ts")];
  Bun.spawnSync(["npx", "biome", "check", "--write", ...made], { cwd: root });
  console.log(`wrote ${[...Object.keys(generated), "docs/training.schema.json"].join(", ")}`);
}
