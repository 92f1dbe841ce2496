// Encodes a file as tiktoken's npm build does, a document a call in one thread:
//
//   node scripts/bun.mjs bench/encode/npm-tiktoken.ts <tokenizer directory> <text file> <pattern>
//
// Prints seconds and a checksum, as peers.py does. Loading and cutting are not timed.
import { readFileSync } from "node:fs";
import { Tiktoken } from "tiktoken";

const [directory, path, pattern] = process.argv.slice(2);
const documents = readFileSync(path!, "utf8").split("<|endoftext|>");
const tokens = readFileSync(`${directory}/tokenizer.tiktoken`, "latin1")
  .trimEnd()
  .split("\n")
  .map((line) => line.split(" ")[0]);
const encoder = new Tiktoken(`! 0 ${tokens.join(" ")}`, {}, pattern!);

const startMs = performance.now();
const lists = documents.map((document) => encoder.encode_ordinary(document));
const seconds = (performance.now() - startMs) / 1000;

const hasher = new Bun.CryptoHasher("sha256");
for (const ids of lists) hasher.update(ids);
const ids = lists.reduce((sum, list) => sum + list.length, 0);
console.log(JSON.stringify({ peer: "npm-tiktoken", seconds, ids, sha256: hasher.digest("hex") }));
