// The frozen answers of the golden tests: what the program must print and write. `frozen.txt` has a line for each case:
// its name, then the checksums of the outputs that are not for people. `frozen/GROUP.txt` has the texts for people, so
// that a diff shows changed words:
//
//     == NAME
//     $ bpe ARGUMENTS
//     stderr:
//         a line of the text
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer } from "./answers.ts";

/** A case in its frozen form: a line of checksums, and lines of texts. */
export type Frozen = { readonly sums: string; readonly texts: string };

const groupOf = (name: string) => name.slice(0, name.indexOf("/"));

export function frozenOf(name: string, { args, outputs }: Answer): Frozen {
  const all = [...outputs];
  const sums = all.filter(([, { forPeople }]) => !forPeople).map(([output, { sum }]) => `${output}=${sum}`);
  const texts = all
    .filter(([, { forPeople }]) => forPeople)
    .map(([output, { sum, text }]) => `${output}:\n${indented(text ?? `${sum}: too long to be shown\n`)}`);
  return { sums: [name, ...sums].join(" "), texts: texts.length === 0 ? "" : `$ ${args}\n${texts.join("")}` };
}

/** Indents the lines that are not empty, and notes a missing newline at the end. */
function indented(text: string): string {
  const ended = text.endsWith("\n") ? text : `${text}⟨no end of line⟩\n`;
  return ended.replace(/^(?=.)/gm, "    ");
}

/**
 * Reads and writes a file of checksums such as `frozen.txt`, and the directory of texts next to it, here `frozen`. Groups
 * are written in the given order.
 */
export class FrozenFiles {
  readonly #path: string;
  readonly #directory: string;

  constructor(path: string) {
    this.#path = path;
    this.#directory = path.replace(/\.txt$/, "");
  }

  read(): Map<string, Frozen> {
    const texts = new Map<string, string>();
    for (const file of existsSync(this.#directory) ? readdirSync(this.#directory) : []) {
      const content = readFileSync(join(this.#directory, file), "utf8");
      for (const part of content.split(/^== /m).slice(1)) {
        const nameEnd = part.indexOf("\n");
        texts.set(`${file.replace(/\.txt$/, "")}/${part.slice(0, nameEnd)}`, part.slice(nameEnd + 1));
      }
    }
    const lines = existsSync(this.#path) ? readFileSync(this.#path, "utf8").trim().split("\n") : [];
    return new Map(
      lines.map((sums) => {
        const name = sums.split(" ")[0]!;
        return [name, { sums, texts: texts.get(name) ?? "" }];
      }),
    );
  }

  write(frozen: ReadonlyMap<string, Frozen>, groups: readonly string[]): void {
    const place = (name: string) => groups.indexOf(groupOf(name)) >>> 0;
    const ordered = [...frozen].sort(([a], [b]) => place(a) - place(b));
    writeFileSync(this.#path, ordered.map(([, { sums }]) => `${sums}\n`).join(""));
    rmSync(this.#directory, { recursive: true, force: true });
    mkdirSync(this.#directory);
    const withTexts = ordered.filter(([, { texts }]) => texts !== "");
    for (const [group, ofGroup] of Map.groupBy(withTexts, ([name]) => groupOf(name))) {
      const parts = ofGroup.map(([name, { texts }]) => `== ${name.slice(group.length + 1)}\n${texts}`);
      writeFileSync(join(this.#directory, `${group}.txt`), parts.join(""));
    }
  }
}
