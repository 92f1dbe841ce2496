import type { Random } from "./naive.ts";

const characters = ["a", "b", "c", " ", "'", "\n", "1", "é", "E", "中"];
const sets = String.raw`a b c é \n ' 中 [ab] [^a] [^bc] [bc] [a-c] [^\sa] [\s'] [\p{L}&&[^b]]
\s \S \w \W \d \p{L} \P{L} . (?s:.) (?i:e) (?i:[a-é])`
  .split(/\s/)
  .concat(" ");
const counts = ["?", "*", "+", "{1,3}", "{2}", "{0,2}", "{2,}"];
const assertions = ["^", "\\A", "$", "\\z", "\\b", "\\B", "(?!\\S)", "(?:\\A|(?<=\\n))", "(?=\\n|\\z)"];

/** A regular expression made of everything that the grammar has. */
export function randomPattern(random: Random): string {
  const count = () => random.pick(counts) + random.pick(["", "", "", "", "?", "+"]);
  const atom = (depth: number): string => {
    const kind = random.below(depth > 0 ? 16 : 9);
    if (kind < 9) return random.pick(sets);
    if (kind < 12) return `(?:${choice(depth - 1)})`;
    if (kind === 12) return `(?>${choice(depth - 1)})`;
    if (kind === 13) return look(depth - 1);
    return `(${random.pick(["", "?:"])}${sequence(depth - 1)})`;
  };
  const look = (depth: number): string => {
    if (random.below(3) > 0) return random.pick(assertions);
    const kind = random.pick(["=", "!", "<=", "<!"]);
    const body = random.below(2) === 0 ? random.pick(sets) : choice(depth);
    return `(?${kind}${body})`;
  };
  const term = (depth: number): string => {
    const one = atom(depth);
    const isAssertion = /^(?:\^|\$|\\[AzbB]|\(\?<?[=!])/.test(one) || assertions.includes(one);
    return isAssertion || random.below(2) === 0 ? one : one + count();
  };
  const sequence = (depth: number): string => {
    let text = random.below(8) === 0 ? look(depth) : "";
    for (let length = 1 + random.below(3); length > 0; length--) text += term(depth);
    return random.below(8) === 0 ? text + look(depth) : text;
  };
  const choice = (depth: number): string =>
    Array.from({ length: 1 + random.below(3) }, () => sequence(depth)).join("|");
  return choice(2) + random.pick(["", "|.", "|\\w+|\\s+", "|(?s:.)"]);
}

export function randomText(random: Random, lengthMax: number): string {
  let text = "";
  const some = Array.from({ length: 1 + random.below(characters.length) }, () => random.pick(characters));
  for (let length = 1 + random.below(lengthMax); length > 0; length--) text += random.pick(some);
  return text;
}

const wideSets = ["\\d", "\\p{L}", "\\s", "[^\\s\\p{L}\\d]", "\\w", "[\\d\\s]", "(?s:.)", "\\S", "\\D"];
const wideCounts = ["", "", "?", "*", "+", "{1,3}", "{2}", "{1,3}?", "*?", "++"];

/** What a look may ask for, of sets with many characters: those have something to stand for what it comes to. */
export function randomLookPattern(random: Random, depth: number): string {
  const sequence = (): string => {
    const kind = random.below(depth > 0 ? 10 : 6);
    if (kind < 6) return random.pick(wideSets) + random.pick(wideCounts);
    if (kind === 6)
      return `(?:${randomLookPattern(random, depth - 1)})${random.pick(wideCounts.slice(0, 7))}`;
    if (kind === 7) return random.pick(["\\b", "(?<=\\d)", "(?<!\\s)", "$", "(?!\\S)", "^"]);
    if (kind === 8) return `(?>${randomLookPattern(random, depth - 1)})`;
    return `(?${random.pick(["=", "!"])}${randomLookPattern(random, depth - 1)})`;
  };
  const options = Array.from({ length: 1 + random.below(2) }, () =>
    Array.from({ length: 1 + random.below(3) }, sequence).join(""),
  );
  return options.join("|");
}

const wideCharacters = ["a", "b", "é", "中", "1", "2", "２", " ", "\n", "-", "🙂", "\u3000"];

export const randomLookText = (random: Random) =>
  Array.from({ length: 1 + random.below(20) }, () => random.pick(wideCharacters)).join("");
