import { pick, type Random } from "../../random.ts";

const characters = ["a", "b", "c", " ", "'", "\n", "1", "é", "E", "中"];
const sets = String.raw`a b c é \n ' 中 [ab] [^a] [^bc] [bc] [a-c] [^\sa] [\s'] [\p{L}&&[^b]]
\s \S \w \W \d \p{L} \P{L} . (?s:.) (?i:e) (?i:[a-é])`
  .split(/\s/)
  .concat(" ");
const counts = ["?", "*", "+", "{1,3}", "{2}", "{0,2}", "{2,}"];
const assertions = ["^", "\\A", "$", "\\z", "\\b", "\\B", "(?!\\S)", "(?:\\A|(?<=\\n))", "(?=\\n|\\z)"];

/** Returns a random regular expression, which may have most constructs of the grammar. */
export function randomPattern(random: Random): string {
  const count = () => pick(random, counts) + pick(random, ["", "", "", "", "?", "+"]);
  const atom = (depth: number): string => {
    const kind = random(depth > 0 ? 16 : 9);
    if (kind < 9) return pick(random, sets);
    if (kind < 12) return `(?:${choice(depth - 1)})`;
    if (kind === 12) return `(?>${choice(depth - 1)})`;
    if (kind === 13) return look(depth - 1);
    return `(${pick(random, ["", "?:"])}${sequence(depth - 1)})`;
  };
  const look = (depth: number): string => {
    if (random(3) > 0) return pick(random, assertions);
    const kind = pick(random, ["=", "!", "<=", "<!"]);
    const body = random(2) === 0 ? pick(random, sets) : choice(depth);
    return `(?${kind}${body})`;
  };
  const term = (depth: number): string => {
    const one = atom(depth);
    const isAssertion = /^(?:\^|\$|\\[AzbB]|\(\?<?[=!])/.test(one) || assertions.includes(one);
    return isAssertion || random(2) === 0 ? one : one + count();
  };
  const sequence = (depth: number): string => {
    let text = random(8) === 0 ? look(depth) : "";
    for (let length = 1 + random(3); length > 0; length--) text += term(depth);
    return random(8) === 0 ? text + look(depth) : text;
  };
  const choice = (depth: number): string =>
    Array.from({ length: 1 + random(3) }, () => sequence(depth)).join("|");
  return choice(2) + pick(random, ["", "|.", "|\\w+|\\s+", "|(?s:.)"]);
}

export function randomText(random: Random, lengthMax: number): string {
  let text = "";
  const some = Array.from({ length: 1 + random(characters.length) }, () => pick(random, characters));
  for (let length = 1 + random(lengthMax); length > 0; length--) text += pick(random, some);
  return text;
}

const wideSets = ["\\d", "\\p{L}", "\\s", "[^\\s\\p{L}\\d]", "\\w", "[\\d\\s]", "(?s:.)", "\\S", "\\D"];
const wideCounts = ["", "", "?", "*", "+", "{1,3}", "{2}", "{1,3}?", "*?", "++"];

/** Returns a random pattern of sets that have many characters. */
export function randomLookPattern(random: Random, depth: number): string {
  const sequence = (): string => {
    const kind = random(depth > 0 ? 10 : 6);
    if (kind < 6) return pick(random, wideSets) + pick(random, wideCounts);
    if (kind === 6)
      return `(?:${randomLookPattern(random, depth - 1)})${pick(random, wideCounts.slice(0, 7))}`;
    if (kind === 7) return pick(random, ["\\b", "(?<=\\d)", "(?<!\\s)", "$", "(?!\\S)", "^"]);
    if (kind === 8) return `(?>${randomLookPattern(random, depth - 1)})`;
    return `(?${pick(random, ["=", "!"])}${randomLookPattern(random, depth - 1)})`;
  };
  const options = Array.from({ length: 1 + random(2) }, () =>
    Array.from({ length: 1 + random(3) }, sequence).join(""),
  );
  return options.join("|");
}

const wideCharacters = ["a", "b", "é", "中", "1", "2", "２", " ", "\n", "-", "🙂", "\u3000"];

export const randomLookText = (random: Random) =>
  Array.from({ length: 1 + random(20) }, () => pick(random, wideCharacters)).join("");
