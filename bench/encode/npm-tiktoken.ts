// Encodes a file into an .npy with tiktoken's npm package: one thread, and one call for each document:
//
//   node scripts/bun.mjs bench/encode/npm-tiktoken.ts <tokenizer directory> <text> <pattern> <id> <output.npy>
//
// The given id is written between documents. Prints the seconds of the calls alone.
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { Tiktoken } from "tiktoken";
import { npyHead } from "../../src/ids/id-writers.ts";

const [directory, path, pattern, endId, output] = process.argv.slice(2);
const documents = readFileSync(path!, "utf8").split("<|endoftext|>");
const tokens = readFileSync(`${directory}/tokenizer.tiktoken`, "latin1")
  .trimEnd()
  .split("\n")
  .map((line) => line.split(" ")[0]);
const encoder = new Tiktoken(`! 0 ${tokens.join(" ")}`, {}, pattern!);

const startMs = performance.now();
const lists = documents.map((document) => encoder.encode_ordinary(document));
const seconds = (performance.now() - startMs) / 1000;

const idCount = lists.reduce((sum, list) => sum + list.length + 1, -1);
const ids = new Uint16Array(idCount + 1);
let pos = 0;
for (const list of lists) {
  ids.set(list, pos);
  pos += list.length;
  ids[pos++] = Number(endId);
}
const fd = openSync(output!, "w");
writeSync(fd, npyHead("uint16", idCount));
const bytes = new Uint8Array(ids.buffer, 0, 2 * idCount);
for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
closeSync(fd);
console.log(JSON.stringify({ peer: "npm-tiktoken", seconds }));
