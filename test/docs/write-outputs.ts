// `npm run suite examples -- docs/nightly.md` runs the examples of the page. If an output differs from its output
// block, it is written into the block. If no page is named, this is done for all pages with examples.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isShown, play, playedPages, root } from "./play.ts";

const columns = 110;
/** Formats an output for a page: a line that is too long is cut, after a blank if it has one, and ends in `…`. */
const shown = (printed: string) =>
  printed
    .replaceAll(/[ \t]+$/gm, "")
    .replaceAll(/[^\n]+/g, (line) =>
      line.length > columns ? `${line.slice(0, columns - 1).replace(/(?<=\s)\S*$/, "")}…` : line,
    );

const named = process.argv.slice(2);
const python = join(root, "dist/python/bin/python");
for (const path of named.length > 0 ? named : playedPages()) {
  const directory = mkdtempSync(join(tmpdir(), "bpe-page-"));
  const lines = readFileSync(join(root, path), "utf8").split("\n");
  const played = play(lines.join("\n"), directory, existsSync(python) ? python : undefined);
  // Goes from the last block to the first, so that the line numbers of preceding blocks stay valid.
  for (const { script, code, printed } of played.toReversed()) {
    if (code !== 0) {
      console.error(`${path}:${script.line}: exit code ${code}\n${printed}`);
      process.exitCode = 1;
      continue;
    }
    const { output } = script;
    if (output === undefined || isShown(output, printed)) continue;
    const oldCount = output.text.split("\n").length - 1;
    lines.splice(output.line - 1, oldCount, ...shown(printed).split("\n").slice(0, -1));
    console.log(`${path}:${output.line} is new`);
  }
  writeFileSync(join(root, path), lines.join("\n"));
  rmSync(directory, { recursive: true });
}
