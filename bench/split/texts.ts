import { randomSource } from "../random.ts";

/** Texts made by seed, for a machine without corpora: not language, but its mix of word lengths, marks and scripts. */
export function madeUpTexts(sizeBytes: number): Record<"english" | "code" | "multilingual", Uint8Array> {
  return { english: english(sizeBytes), code: code(sizeBytes), multilingual: multilingual(sizeBytes) };
}

type Source = ReturnType<typeof randomSource>;

function word(random: Source, first: number, letterCount: number, lengthMax: number): string {
  let text = "";
  for (let length = 1 + random.below(lengthMax); length > 0; length--) {
    text += String.fromCodePoint(first + random.below(letterCount));
  }
  return text;
}

function made(sizeBytes: number, seed: number, part: (random: Source) => string): Uint8Array {
  const random = randomSource(seed);
  const parts: Buffer[] = [];
  for (let size = 0; size < sizeBytes; size += parts.at(-1)!.length) {
    let text = "";
    while (text.length < 4000) text += part(random);
    parts.push(Buffer.from(text));
  }
  return Buffer.concat(parts);
}

function english(sizeBytes: number): Uint8Array {
  return made(sizeBytes, 1, (random) => {
    const chance = random.below(100);
    if (chance < 2) return ".\n\n";
    if (chance < 8) return ".";
    if (chance < 14) return ",";
    if (chance < 15) return "'s";
    if (chance < 17) return ` ${random.below(3000)}`;
    return ` ${word(random, 0x61, 26, 9)}`;
  });
}

function code(sizeBytes: number): Uint8Array {
  const marks = [
    "(",
    ")",
    ";\n",
    " = ",
    "->",
    ", ",
    "[",
    "]",
    " {\n",
    "}\n\n",
    "_",
    " == ",
    "/* ",
    " */\n",
    "\t",
    "0x",
  ];
  return made(sizeBytes, 2, (random) => {
    const chance = random.below(100);
    if (chance < 40) return word(random, 0x61, 26, 10);
    if (chance < 45) return word(random, 0x41, 26, 12);
    if (chance < 52) return `\n${"\t".repeat(1 + random.below(4))}`;
    if (chance < 58) return String(random.below(100));
    return marks[random.below(marks.length)]!;
  });
}

function multilingual(sizeBytes: number): Uint8Array {
  // A few hundred words of one script, then another.
  const scripts: ((random: Source) => string)[] = [
    (random) => ` ${word(random, 0x430, 32, 10)}`,
    (random) => `${word(random, 0x4e00, 3000, 14)}，`,
    (random) => ` ${word(random, 0xac00, 2000, 4)}`,
    (random) => `${word(random, 0x3041, 80, 6)}${word(random, 0x4e00, 1500, 2)}`,
    (random) => ` ${word(random, 0x627, 36, 8)}`,
    (random) => ` ${word(random, 0x61, 26, 7)}${word(random, 0xe0, 20, 1)}`,
    (random) => ` ${word(random, 0x1f600, 40, 2)}`,
  ];
  let left = 1;
  let script = scripts[0]!;
  return made(sizeBytes, 3, (random) => {
    if (left-- === 0) {
      left = 50 + random.below(300);
      script = scripts[random.below(scripts.length)]!;
    }
    return random.below(40) === 0 ? ".\n" : script(random);
  });
}
