import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isShown, play, root, settled } from "./play.ts";

/**
 * Runs the page's examples, and expects that they succeed and print what the page shows. Without `python`, leaves out
 * examples in Python.
 */
export function expectPage(path: string, directory: string, python?: string): void {
  for (const { script, code, printed } of play(readFileSync(join(root, path), "utf8"), directory, python)) {
    const where = `${path}:${script.line}`;
    expect([where, code, printed]).toEqual([where, 0, printed]);
    if (script.output !== undefined && !isShown(script.output, printed)) {
      expect([where, settled(printed)]).toEqual([where, settled(script.output.text)]);
    }
  }
}
