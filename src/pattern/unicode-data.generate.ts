// Writes unicode-data.ts from the properties of the running engine:
//   node scripts/bun.mjs run src/pattern/unicode-data.generate.ts
import { lastCodePoint } from "./ranges.ts";
import { encodeCategoryRuns, engineSet, generalCategories } from "./unicode.ts";

const categoryOf = new Uint8Array(lastCodePoint + 1);
generalCategories.forEach((name, category) => {
  const set = engineSet(`\\p{${name}}`)!;
  for (let i = 0; i < set.length; i += 2) categoryOf.fill(category, set[i]!, set[i + 1]! + 1);
});
const base64 = encodeCategoryRuns(categoryOf).toBase64();
const lines = base64.match(/.{1,100}/g)!.map((line) => `  "${line}",`);
await Bun.write(
  new URL("unicode-data.ts", import.meta.url),
  `// Made by unicode-data.generate.ts; the encoding is described in unicode.ts.
export const unicodeVersion = "${process.versions.unicode}";

export const categoryRunsBase64 = [
${lines.join("\n")}
].join("");
`,
);
