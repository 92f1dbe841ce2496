import { readFileSync } from "node:fs";
import { isEmbedded } from "#runtime";

// Files that only the command line shows. The executable has them next to its entry; in the source tree the build makes some.

const directoryOf = (inSources: string) =>
  isEmbedded ? import.meta.dir : `${import.meta.dir}/../../${inSources}`;

/** A page of the manual by its name in docs/, such as "eval.md"; null if there is none. */
export const readPage = (name: string): string | null =>
  /^[\w-]+\.md$/.test(name) ? readOrNull(`${directoryOf("docs")}/${name}`) : null;

/** LICENSE: the text that samples of the manual read. */
export const readSample = (): string | null =>
  readOrNull(`${directoryOf(".")}/${isEmbedded ? "LICENSE.txt" : "LICENSE"}`);

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** The page to learn from (scripts/playground.ts). */
export const readPlayground = (): Uint8Array =>
  readFileSync(`${directoryOf("dist/playground")}/playground.html`);

/** The template of the pages that `--report` writes (scripts/pages.ts). */
export const readPageTemplate = (): string =>
  readFileSync(`${directoryOf("dist/pages")}/report.html`, "utf8");
