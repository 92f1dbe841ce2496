import { readEmbedded } from "#embedded";

// Embedded files that only the command line shows.

/** Returns a page of the manual by its name in docs/, such as "evaluate.md"; null if there is no such page. */
export const readPage = (name: string): string | null =>
  /^[\w-]+\.md$/.test(name) ? readOrNull(`docs/${name}`) : null;

/** Returns LICENSE: the text that examples of the manual read. */
export const readSample = (): string | null => readOrNull("LICENSE");

function readOrNull(path: string): string | null {
  try {
    return readText(path);
  } catch {
    return null;
  }
}

/** Returns the playground page (scripts/playground.ts). */
export const readPlayground = (): Uint8Array => readEmbedded("dist/playground/playground.html");

/** Returns the template of the pages that `--report` writes (scripts/pages.ts). */
export const readPageTemplate = (): string => readText("dist/pages/report.html");

const readText = (path: string) => new TextDecoder().decode(readEmbedded(path));
