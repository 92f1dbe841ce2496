// Encodes texts with llama.cpp, with the arguments of oracle.py: `node llama.mjs TEXTS OUT GGUF`.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const [textsPath, outPath, modelPath] = process.argv.slice(2);
const home = new URL("../../../dist/real/llama/node_modules/node-llama-cpp/dist/index.js", import.meta.url);
const { getLlama, LlamaLogLevel } = await import(fileURLToPath(home));
// Without this setting, llama.cpp warns that the file has no model.
const llama = await getLlama({ gpu: false, build: "never", logLevel: LlamaLogLevel.disabled });
const model = await llama.loadModel({ modelPath, vocabOnly: true });
const lines = readFileSync(textsPath, "utf8").split("\n").slice(0, -1);
const ids = lines.map((line) => {
  const text = JSON.parse(line);
  // node-llama-cpp does not accept an empty text.
  return text === "" ? "" : model.tokenize(text, true).join(" ");
});
writeFileSync(outPath, ids.map((line) => `${line}\n`).join(""));
process.exit(0);
