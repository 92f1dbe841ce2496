import { expect, test } from "bun:test";
import { normalizationTables } from "../../src/bytes/normalization-tables.ts";
import { sha256Of } from "../../src/formats/output-file.ts";

/** Of the tables that a walk over each of the 1.1 million characters gives. */
const frozen: Readonly<Record<string, string>> = {
  NFC: "a3274d4cc06f25bf",
  NFD: "fa358207e86b0602",
  NFKC: "2c9f10b1859c85fb",
  NFKD: "16f6c37b12c4813f",
  lowercase: "36e031f8e396067d",
  "NFKC,lowercase": "4f2be7720adc3257",
};

test("the tables of each normal form have every character that changes", () => {
  for (const [normalization, digest] of Object.entries(frozen)) {
    const { buffer } = normalizationTables(normalization);
    expect([normalization, sha256Of([new Uint8Array(buffer)]).slice(0, 16)]).toEqual([normalization, digest]);
  }
});
