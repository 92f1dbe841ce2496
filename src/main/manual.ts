import { posix } from "node:path";
import { usageError, withForwardSlashes } from "#runtime";
import { isTerminal, plain, readPage, readSample, stylesFor, terminalColumns } from "#terminal";

/**
 * The manual: the pages of docs/, which every executable has. Help and errors name them as they are asked for:
 * `bpe help docs/evaluate.md`.
 */

/**
 * A page with links that can be followed by `bpe help`: laid out for a terminal, elsewhere as it was written. `docs` alone is
 * the list of pages, and `docs/LICENSE` the text that their samples read.
 */
export function manualPage(typed: string): string {
  const path = posix.normalize(withForwardSlashes(typed)).replace(/^docs\/?$/, "docs/README.md");
  const page = pageAt(path);
  const sample = path === "docs/LICENSE" ? readSample() : null;
  if (sample !== null) return sample;
  if (page !== null) {
    const followed = withSample(withPlainLinks(page, "docs"));
    return isTerminal(1) ? laidOut(followed, Math.min(terminalColumns(1), columnsMax)) : followed;
  }
  throw usageError(`there is no page "${typed}"`, "bpe help docs lists the pages");
}

/** A page whose samples read LICENSE says below its title how to get it. */
const withSample = (page: string): string =>
  /^```(?:sh|python) run\n(?:(?!```).*\n)*?.*\bLICENSE\b/m.test(page)
    ? page.replace(
        /^# .*\n/,
        (title) => `${title}\nThe samples read LICENSE: \`bpe help docs/LICENSE > LICENSE\` writes it.\n`,
      )
    : page;

const pageAt = (path: string) => (path.startsWith("docs/") ? readPage(path.slice("docs/".length)) : null);

/** Longer lines are hard to read. */
const columnsMax = 100;

/** Markdown as the runtime shows it on a terminal. What can be pasted has no frame. */
export function laidOut(markdown: string, columns: number, isColoured = stylesFor(1) !== plain): string {
  const within = markdown.replaceAll(/\[([^\]]*)\]\(#[\w-]*\)/g, "$1");
  const shown = Bun.markdown.ansi(within, { columns, colors: isColoured });
  return shown.replaceAll(framed, (_, lines: string) => lines.replaceAll(frame, "    "));
}

/** A block of code, in the characters of a terminal with colours and of one without; tables have longer edges. */
const framed = /^(?:\x1b\[2m)?(?:┌─|\+-)(?: .*)?\n((?:.*\n)*?)(?:\x1b\[2m)?(?:└─|\+-)(?:\x1b\[0m)?(?:\n|$)/gm;
const frame = /^(?:\x1b\[2m)?(?:│|\|) (?:\x1b\[0m)?/gm;

/**
 * A document with text in the place of its links to other files, for where these are not beside it. A page of the manual
 * is named as it is asked for; anything else is in the sources only.
 * @param directory the one of the document, from the root of the sources
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

/** `[text](path.md#part)`, and `!` before it for a picture. */
const relativeLink = /(!?)\[([^\]]*)\]\(((?!\w+:)[\w./-]*(?:\/|\.\w+))(?:#[\w-]*)?\)/g;
