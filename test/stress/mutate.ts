import { readFileSync } from "node:fs";
import { join } from "node:path";
import { oneOf, type Random } from "./jobs.ts";

// Mutations of valid data. Most mutations keep the form of the data, and make some values wild.

/**
 * Marks text that goes into the JSON as it is, because `JSON.stringify` could not write it: for example 1e999 or -0.
 */
const raw = (json: string) => `\u0001${json}\u0001`;

/** Values that a reader may not expect. */
const wildValues: readonly unknown[] = [
  ...[null, true, false, "", " ", "x", "\u0000", "Ġ", "\ud800", "x".repeat(10_000), "NaN", "-1", "__proto__"],
  ...[0, 1, -1, 0.5, 255, 65_536, 2 ** 24, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53), 1e308].flatMap((n) => [
    n,
    n,
  ]),
  ...[raw("1e999"), raw("-1e999"), raw("-0"), raw("[".repeat(3000) + "]".repeat(3000))],
  ...[[], {}, [null], [[]], [[[]]], [1, 2, 3], ["a", "b", "c"], { a: 1 }, { type: "x" }, { length: 1e9 }],
];

export const wildNumbers = [
  "0",
  "-1",
  "1e9",
  "65536",
  "4294967296",
  "9007199254740993",
  "99999999999999999999",
  "1e999",
];

type Container = unknown[] | Record<string, unknown>;
const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;

/**
 * Returns a random place in a JSON value: a container, and a key in it. Goes down from the root at random, so that
 * large lists are not chosen more often than small ones.
 */
function randomPlace(root: Container, random: Random): { holder: Container; key: string } | undefined {
  let holder = root;
  for (;;) {
    const keys = Object.keys(holder);
    if (keys.length === 0) return undefined;
    const key = oneOf(random, keys);
    const value = (holder as Record<string, unknown>)[key];
    if (!isContainer(value) || Object.keys(value).length === 0 || random.below(4) === 0)
      return { holder, key };
    holder = value;
  }
}

const changes: readonly ((holder: Container, key: string, root: Container, random: Random) => void)[] = [
  (holder, key, _root, random) =>
    Object.assign(holder, { [key]: structuredClone(oneOf(random, wildValues)) }),
  (holder, key, _root, random) =>
    Object.assign(holder, { [key]: structuredClone(oneOf(random, wildValues)) }),
  (holder, key) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  },
  (holder, key) => {
    const value = (holder as Record<string, unknown>)[key];
    if (Array.isArray(holder)) holder.splice(Number(key), 0, value);
    else holder[`${key}\u200b`] = value;
  },
  (holder, key, root, random) => {
    const other = randomPlace(root, random)!;
    const from = other.holder as Record<string, unknown>;
    Object.assign(holder, { [key]: structuredClone(from[other.key]) });
  },
  (holder, key, _root, random) => {
    const value = (holder as Record<string, unknown>)[key];
    if (typeof value === "number")
      Object.assign(holder, { [key]: value + oneOf(random, [1, -1, 0.5, 1000]) });
    else if (typeof value === "string")
      Object.assign(holder, { [key]: value.slice(random.below(2)) + oneOf(random, ["", "x"]) });
    else Object.assign(holder, { [key]: [value] });
  },
];

/** Returns JSON with one or two changed values or keys. Sometimes it also has a duplicate key, or is truncated. */
export function mutateJson(json: string, random: Random): string {
  const root = { root: JSON.parse(json) as unknown };
  for (let count = 1 + random.below(2); count > 0; count--) {
    const place = randomPlace(root, random);
    if (place !== undefined) oneOf(random, changes)(place.holder, place.key, root, random);
  }
  const text = (JSON.stringify(root.root) ?? "null").replace(
    /"\\u0001(.*?)\\u0001"/g,
    (_, inner: string) => inner,
  );
  const key = /"[^"\\]*":/g;
  switch (random.below(8)) {
    case 0: // A duplicate key: readers may use its first value or its last.
      return text.replace(
        oneOf(random, text.match(key) ?? [""]),
        (found) => `${found}${oneOf(random, ["1", '"x"', "[]", "null"])},${found}`,
      );
    case 1:
      return text.slice(0, random.below(text.length + 1));
    default:
      return text;
  }
}

/** Returns text with one or two changed lines. Sometimes the whole text is truncated, too. */
export function mutateLines(text: string, random: Random): string {
  const lines = text.split("\n");
  for (let count = 1 + random.below(2); count > 0; count--) {
    const at = random.below(lines.length);
    const fields = lines[at]!.split(" ");
    const other = oneOf(random, lines).split(" ");
    switch (random.below(7)) {
      case 0:
        lines.splice(at, 1);
        break;
      case 1:
        lines.splice(random.below(lines.length), 0, lines[at]!);
        break;
      case 2:
        lines[at] = lines[at]!.slice(0, random.below(lines[at]!.length + 1));
        break;
      case 3:
        fields[random.below(fields.length)] = oneOf(random, other);
        lines[at] = fields.join(" ");
        break;
      case 4:
        fields[random.below(fields.length)] = oneOf(random, [
          ...wildNumbers,
          "",
          "\u0000",
          "=",
          "\r",
          "\ufeff",
          "x".repeat(10_000),
        ]);
        lines[at] = fields.join(" ");
        break;
      case 5:
        lines[at] += oneOf(random, [" x", " 1", "\r", "\t"]);
        break;
      default:
        lines[at] = oneOf(random, ["", " ", "x", "#version: 9", "\u0000"]);
    }
    if (lines.length === 0) lines.push("");
  }
  const mutated = lines.join("\n");
  return random.below(8) === 0 ? mutated.slice(0, random.below(mutated.length + 1)) : mutated;
}

/** Mutates the header of a numpy file, and sometimes its length or the data. */
export function mutateNpy(bytes: Uint8Array, random: Random): Uint8Array {
  const headEnd = 10 + bytes[8]! + 256 * bytes[9]!;
  let head = Buffer.from(bytes.subarray(10, headEnd)).toString("latin1");
  const number = () => oneOf(random, [...wildNumbers, "NaN", "None", "'x'", "2", "(1,)"]);
  switch (random.below(6)) {
    case 0:
      head = head.replace(/<u\d/, () =>
        oneOf(random, ["<u1", "<u2", "<u4", "<u8", "<i4", ">u4", "<f8", "|u1", "|u4", "<u3", "O", "<U9", ""]),
      );
      break;
    case 1:
      head = head.replace(/\(.*\)/, () =>
        oneOf(random, ["()", `(${number()},)`, `(${number()}, ${number()})`, `(1, ${number()})`, "(", "(,)"]),
      );
      break;
    case 2:
      head = head.replace("False", () => oneOf(random, ["True", "false", "0", ""]));
      break;
    case 3:
      head = head.replace(/'(descr|fortran_order|shape)'/, () =>
        oneOf(random, ["'x'", "'shape'", "'descr'", '"shape"', "shape"]),
      );
      break;
    case 4:
      head = mutateLines(head, random);
      break;
    default:
  }
  const file = Buffer.concat([bytes.subarray(0, 10), Buffer.from(head, "latin1"), bytes.subarray(headEnd)]);
  if (random.below(3) > 0) file.writeUInt16LE(head.length & 0xffff, 8);
  if (random.below(6) === 0) file[random.below(10)] = random.below(256);
  return random.below(4) === 0 ? file.subarray(0, random.below(file.length + 1)) : file;
}

/** A tokenizer file to mutate. */
export type TokenizerFile = {
  readonly name: string;
  /** The name of the file by which the tokenizer is loaded. */
  readonly loadedBy: string;
  /** The files that must be next to it. */
  readonly companions: readonly string[];
  readonly mutate: (text: string, random: Random) => string;
};

/** Files that `bpe train` writes, and a `tekken.json` made from them. */
export const tokenizerFiles: readonly TokenizerFile[] = [
  { name: "tokenizer.json", loadedBy: "tokenizer.json", companions: [], mutate: mutateJson },
  {
    name: "vocab.json",
    loadedBy: "vocab.json",
    companions: ["merges.txt", "training.json"],
    mutate: mutateJson,
  },
  {
    name: "merges.txt",
    loadedBy: "vocab.json",
    companions: ["vocab.json", "training.json"],
    mutate: mutateLines,
  },
  {
    name: "tokenizer.tiktoken",
    loadedBy: "tokenizer.tiktoken",
    companions: ["training.json"],
    mutate: mutateLines,
  },
  {
    name: "training.json",
    loadedBy: "tokenizer.tiktoken",
    companions: ["tokenizer.tiktoken"],
    mutate: mutateJson,
  },
  { name: "tekken.json", loadedBy: "tekken.json", companions: [], mutate: mutateJson },
];

export function readTokenizerFile(directory: string, name: string): string {
  return name === "tekken.json"
    ? tekkenOf(readFileSync(join(directory, "tokenizer.tiktoken"), "utf8"))
    : readFileSync(join(directory, name), "utf8");
}

const specialCount = 20;

/** Returns a tekken.json with the tokens of a rank file. */
function tekkenOf(ranks: string): string {
  const lines = ranks.split("\n").filter((line) => line !== "");
  const vocab = lines.map((line, rank) => ({ rank, token_bytes: line.split(" ")[0], token_str: null }));
  const config = {
    pattern: "[^\\s\\p{L}]+|\\p{L}+|\\s+",
    default_vocab_size: lines.length + specialCount - 30,
    default_num_special_tokens: specialCount,
    version: "v3",
  };
  return JSON.stringify({ config, vocab });
}
