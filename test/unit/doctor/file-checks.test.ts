import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkFiles } from "../../../src/doctor/file-checks.ts";
import { convertCommand } from "../../../src/doctor/fixing-commands.ts";
import { finishCharacters } from "../../../src/formats/finish-characters.ts";
import * as tokenizerFiles from "../../../src/formats/load-tokenizer.ts";
import { huggingface } from "../../../src/formats/tokenizer-json.ts";
import * as derivation from "../../../src/tokenizer/derivations.ts";
import * as fingerprints from "../../../src/tokenizer/fingerprint.ts";
import { scratch } from "../../binary.ts";
import { cases, modelOf } from "../formats/made-sentencepiece.ts";

async function finish(path: string) {
  const parts = await tokenizerFiles.load(path);
  return finishCharacters(path, parts, derivation.derive(parts));
}

type Root = { model: { vocab: Record<string, number> }; normalizer: object };

/**
 * Writes a tokenizer.model, and a tokenizer.json of the same tokenizer after `change` has modified it. Checks the
 * directory that has both files.
 */
async function checkBoth(change: (root: Root) => void) {
  const directory = scratch();
  const [model, json] = ["tokenizer.model", "tokenizer.json"].map((name) => join(directory, name));
  writeFileSync(model!, modelOf(cases[2]!));
  const file = huggingface
    .writing!.files(await finish(model!))
    .find(({ name }) => name === "tokenizer.json")!;
  const root = JSON.parse(Buffer.concat(Array.from(file.chunks(), (chunk) => chunk.slice())).toString());
  change(root);
  writeFileSync(json!, JSON.stringify(root));
  const parts = await tokenizerFiles.load(json!);
  const loaded = { parts, encode: fingerprints.shortEncoder(parts) };
  return { json: json!, found: await checkFiles({ path: directory, isDirectory: true }, loaded) };
}

test("if files with merges of characters disagree, the proposed command converts the first of them", async () => {
  const { json, found } = await checkBoth(({ model: { vocab } }) => {
    const [a, b] = Object.keys(vocab).filter((token) => /^[a-z]$/.test(token));
    [vocab[a!], vocab[b!]] = [vocab[b!], vocab[a!]];
  });
  expect(found).toEqual([
    expect.objectContaining({ check: "files-disagree", command: convertCommand(json) }),
  ]);
  expect(await finish(json)).toMatchObject({ characters: { jsonObstacle: null } });
});

test("a tokenizer.model is compared with its own normal form, not that of the first file", async () => {
  expect((await checkBoth(() => {})).found).toEqual([]);
  const { found } = await checkBoth((root) => {
    const replacing = { type: "Replace", pattern: { String: " " }, content: "▁" };
    const prepending = { type: "Prepend", prepend: "▁" };
    const hasPrefix = JSON.stringify(root.normalizer).includes("Prepend");
    root.normalizer = hasPrefix ? replacing : { type: "Sequence", normalizers: [prepending, replacing] };
  });
  expect(found).toEqual([expect.objectContaining({ check: "files-disagree" })]);
});
