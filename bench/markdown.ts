/** The maximum line width of paragraphs in the Markdown that benchmarks write into pages. */

const width = 110;

/** Wraps a text into lines of at most 110 columns, without breaking code spans. */
export function paragraph(text: string, indent = ""): string {
  const words = text.replace(/\s+/g, " ").match(/(?:`[^`]*`|\S)+/g) ?? [];
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    const longer = `${line} ${word}`;
    if (line === undefined || longer.length > width) lines.push(line === undefined ? word : indent + word);
    else lines[lines.length - 1] = longer;
  }
  return lines.join("\n");
}

/** Formats a list of paragraphs, each with its mark ("-" or "1."). */
export const list = (items: readonly (readonly [mark: string, text: string])[]) =>
  items.map(([mark, text]) => paragraph(`${mark} ${text}`, " ".repeat(mark.length + 1))).join("\n");

export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(header), `|${"---|".repeat(header.length)}`, ...rows.map(line)].join("\n");
}
