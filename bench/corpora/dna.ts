import { writeFileSync } from "node:fs";
import { randomSource } from "../random.ts";

const bases = Buffer.from("ACGT");
const lineBases = 80;
const repeatBasesMax = 2000;
const basesPerChange = 50;

/** Writes synthetic DNA in lines of 80 bases. The same seed gives the same DNA. */
export function writeDna(path: string, sizeBytes: number, seed = 1): void {
  const random = randomSource(seed);
  const genome = Buffer.alloc(Math.ceil(sizeBytes));
  for (let length = 0; length < genome.length; ) {
    const isRepeat = length > repeatBasesMax && random.below(2) === 0;
    const from = random.below(Math.max(1, length - repeatBasesMax));
    for (
      let left = 1 + random.below(repeatBasesMax), at = 0;
      left > 0 && length < genome.length;
      left--, at++
    ) {
      const isCopied = isRepeat && random.below(basesPerChange) > 0;
      genome[length++] = isCopied ? genome[from + at]! : bases[random.below(4)]!;
    }
  }
  const lines: string[] = [];
  const text = genome.toString("latin1");
  for (let start = 0; start < text.length; start += lineBases)
    lines.push(text.slice(start, start + lineBases));
  writeFileSync(path, `${lines.join("\n")}\n`);
}
