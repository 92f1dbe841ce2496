import { posix } from "node:path";
import { usageError, withForwardSlashes } from "#runtime";
import { embeddedPages, styling } from "#terminal";

// The manual: the pages directly in docs/, embedded in every executable.

/**
 * Returns a page, formatted if it is for a terminal, else as Markdown. If `typed` is `docs`, returns the list of pages;
 * if it is `docs/LICENSE`, the text that examples read.
 */
export function manualPage(typed: string): string {
  const path = posix.normalize(withForwardSlashes(typed)).replace(/^docs\/?$/, "docs/README.md");
  const page = pageAt(path);
  const sample = path === "docs/LICENSE" ? embeddedPages.readSample() : null;
  if (sample !== null) return sample;
  if (page !== null) {
    const followed = withSample(withPlainLinks(page, "docs"));
    return styling.isTerminal(1)
      ? formatMarkdown(followed, Math.min(styling.terminalColumns(1), columnsMax))
      : followed;
  }
  throw usageError(`there is no page "${typed}"`, "bpe help docs lists the pages");
}

/** If a page has examples that read LICENSE, adds a note below its title that says how to get this file. */
const withSample = (page: string): string =>
  /^```(?:sh|python) run\n(?:(?!```).*\n)*?.*\bLICENSE\b/m.test(page)
    ? page.replace(
        /^# .*\n/,
        (title) => `${title}\nThe samples read LICENSE: \`bpe help docs/LICENSE > LICENSE\` writes it.\n`,
      )
    : page;

const pageAt = (path: string) =>
  path.startsWith("docs/") ? embeddedPages.readPage(path.slice("docs/".length)) : null;

/** The maximum width of a page. Longer lines are hard to read. */
const columnsMax = 100;

/** Formats Markdown for a terminal, by the runtime's renderer. Code is shown without a frame, so it can be copied. */
function formatMarkdown(
  markdown: string,
  columns: number,
  isColoured = styling.stylesFor(1) !== styling.plainStyles,
): string {
  const within = markdown.replaceAll(/\[([^\]]*)\]\(#[\w-]*\)/g, "$1");
  const shown = Bun.markdown.ansi(within, { columns, colors: isColoured });
  return shown.replaceAll(framedBlock, (_, lines: string) => lines.replaceAll(frame, "    "));
}

/**
 * Matches a code block in its frame, as it is rendered with or without colours. The first line of that frame is a
 * corner, one dash and perhaps a language; the last one is a corner and one dash. Tables do not match, because the lines
 * of their frames have more dashes.
 */
const framedBlock =
  /^(?:\x1b\[2m)?(?:┌─|\+-)(?: .*)?\n((?:.*\n)*?)(?:\x1b\[2m)?(?:└─|\+-)(?:\x1b\[0m)?(?:\n|$)/gm;
const frame = /^(?:\x1b\[2m)?(?:│|\|) (?:\x1b\[0m)?/gm;

/**
 * Replaces links to files with text. For a page of the manual, the text has the name by which `bpe help` shows that
 * page. For other files, which exist only in the sources, the text says so.
 *
 * @param directory the document's directory, relative to the root of the sources
 */
export function withPlainLinks(markdown: string, directory: string): string {
  return markdown.replaceAll(relativeLink, (_, picture: string, text: string, target: string) => {
    const path = posix.join(directory, target);
    if (picture === "!") return `(picture in the sources: ${text})`;
    if (pageAt(path) === null) return `${text} (in the sources)`;
    const isNamed = posix.basename(path, ".md") === posix.basename(text, ".md");
    return isNamed ? path : `${text} (${path})`;
  });
}

/** Matches `[text](path.md#part)`, with a preceding `!` for an image. */
const relativeLink = /(!?)\[([^\]]*)\]\(((?!\w+:)[\w./-]*(?:\/|\.\w+))(?:#[\w-]*)?\)/g;
