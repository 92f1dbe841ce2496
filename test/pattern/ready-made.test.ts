import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildFourByteTables } from "../../src/pattern/four-byte-tables.ts";
import { compilePattern, type NamedPattern, patterns } from "../../src/pattern/pattern.ts";
import { readReadyMade, readyMadeFile } from "../../src/pattern/ready-made.ts";

test("a pattern compiled ahead is the pattern compiled now, its four-byte tables included", () => {
  const directory = mkdtempSync(join(tmpdir(), "bpe-ready-made-"));
  try {
    for (const { sources } of Object.values<NamedPattern>(patterns)) {
      for (const lineWise of [false, true]) {
        const compiled = compilePattern(sources, { lineWise });
        if (compiled.kind !== "automata") throw new Error("every named pattern is made of automata");
        const file = readyMadeFile(sources, { lineWise }, compiled);
        writeFileSync(join(directory, file.name), file.bytes);
        const automata = compiled.automata.map((tables) => ({
          ...tables,
          fourBytes: buildFourByteTables(tables) ?? null,
        }));
        expect(readReadyMade(directory, sources, { lineWise })).toEqual({ kind: "automata", automata });
      }
    }
    expect(readReadyMade(directory, ["a+"], {})).toBeUndefined();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
