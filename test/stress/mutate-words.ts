import * as host from "../../src/runtime/host.ts";
import * as countsFormat from "../../src/words/counts-format.ts";
import { oneOf, type Random } from "./jobs.ts";
import { mutateJson, mutateLines, wildNumbers } from "./mutate.ts";

// Mutations of counts files and of cache files, with right checksums.

const headBytes = countsFormat.magic.length + 4;

/** Returns the payloads of the frames of a counts file. The first is the header, the last is empty. */
function framesOf(file: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let pos = headBytes; pos < file.length; ) {
    const start = pos + countsFormat.frameHeadBytes;
    pos = start + file.readUInt32LE(pos);
    frames.push(file.subarray(start, pos));
  }
  return frames;
}

function fileOf(head: Buffer, frames: readonly Buffer[]): Buffer {
  let checksum = 0n;
  const parts = frames.map((payload, i) => {
    const part = Buffer.alloc(countsFormat.frameHeadBytes + payload.length);
    part.writeUInt32LE(payload.length);
    checksum = host.xxHash64(payload, i === 1 ? 0n : checksum);
    part.writeBigUInt64LE(checksum, 4);
    payload.copy(part, countsFormat.frameHeadBytes);
    return part;
  });
  return Buffer.concat([head, ...parts]);
}

/** Wild varints: small ones, one that is far too large, and one without an end. */
const wildVarints = [
  [0],
  [1],
  [127],
  [0xff, 0x7f],
  [...Array<number>(9).fill(0xff), 1],
  Array(200).fill(0xff),
];

function mutateBytes(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1);
  const wild = Buffer.from(oneOf(random, wildVarints));
  switch (random.below(4)) {
    case 0:
      return Buffer.concat([bytes.subarray(0, at), wild, bytes.subarray(at)]);
    case 1:
      return Buffer.concat([
        bytes.subarray(0, at),
        wild,
        bytes.subarray(Math.min(at + wild.length, bytes.length)),
      ]);
    case 2:
      return bytes.subarray(0, at);
    default:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(8))]);
  }
}

/** Mutates the header, the words or the frames of a counts file in compact form. */
export function mutateCounts(file: Buffer, random: Random): Buffer {
  const frames = framesOf(file);
  const at = random.below(frames.length);
  switch (random.below(6)) {
    case 0:
      frames.splice(at, 1);
      break;
    case 1:
      frames.splice(at, 0, oneOf(random, frames));
      break;
    case 2:
    case 3: {
      const words = frames.length > 2 ? 1 + random.below(frames.length - 2) : 0;
      frames[words] = mutateBytes(frames[words]!, random);
      break;
    }
    default:
      frames[0] = Buffer.from(mutateJson(frames[0]!.toString(), random));
  }
  const mutated = fileOf(file.subarray(0, headBytes), frames);
  return random.below(8) === 0 ? mutated.subarray(0, random.below(mutated.length + 1)) : mutated;
}

/** Mutates the header or the lines of word counts in text form. */
export function mutateTsv(text: string, random: Random): string {
  const [head, ...lines] = text.split("\n");
  const [mark, json] = head!.split("\t") as [string, string];
  if (random.below(3) > 0) return [`${mark}\t${mutateJson(json, random)}`, ...lines].join("\n");
  const words = mutateLines(lines.join("\n").replaceAll("\t", " "), random).replaceAll(" ", "\t");
  return `${head}\n${words}`;
}

const hashOf = (bytes: Uint8Array | string) => Bun.hash.xxHash64(bytes);

/** Mutates the counts of a cache entry, or the facts about them. */
export function mutateEntry(file: Buffer, random: Random): Buffer {
  const aboutEnd = file.length - 16;
  const aboutStart = aboutEnd - file.readUInt32LE(aboutEnd);
  let counts = file.subarray(0, aboutStart);
  let about = file.toString("utf8", aboutStart, aboutEnd);
  if (random.below(2) === 0) {
    counts = mutateCounts(counts, random);
    // Entries of tests are so small that they are hashed as one piece.
    const checksum = counts.length === 0 ? 0n : Bun.hash.xxHash64(counts, 0n);
    about = JSON.stringify({
      ...JSON.parse(about),
      countsBytes: counts.length,
      checksum: checksum.toString(16),
    });
  } else {
    about = mutateJson(about, random);
  }
  const payload = Buffer.from(about);
  const tail = Buffer.from(file.subarray(aboutEnd));
  tail.writeUInt32LE(payload.length);
  tail.writeBigUInt64LE(hashOf(payload), 4);
  return Buffer.concat([counts, payload, tail]);
}

/** Mutates the header or the arrays of a cache's `.sum` file. */
export function mutateSum(file: Buffer, random: Random): Buffer {
  const headEnd = 24;
  const headerEnd = headEnd + Number(file.readBigUInt64LE(8));
  let header = file.toString("utf8", headEnd, headerEnd);
  const arrays = Buffer.from(file.subarray(headerEnd));
  if (random.below(2) === 0) {
    const stated = JSON.parse(header) as { wordCount: number; byteCount: number };
    const sizes = [8 * stated.wordCount, 4 * (stated.wordCount + 1), stated.byteCount];
    const changed = random.below(2);
    if (changed === 0) {
      const count = oneOf(random, [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -(2 ** 60)]);
      arrays.writeDoubleLE(count, 8 * random.below(stated.wordCount));
    } else {
      const start = oneOf(random, [0, 1, stated.byteCount + 1, 2 ** 31, 2 ** 32 - 1]);
      arrays.writeUInt32LE(start, sizes[0]! + 4 * random.below(stated.wordCount + 1));
    }
    let pos = 0;
    const checksums = sizes.map((size) => hashOf(arrays.subarray(pos, (pos += size))).toString(16));
    header = JSON.stringify({ ...stated, checksums });
  } else {
    header = mutateJson(header, random);
  }
  const payload = Buffer.from(header);
  const head = Buffer.from(file.subarray(0, headEnd));
  head.writeBigUInt64LE(BigInt(payload.length), 8);
  head.writeBigUInt64LE(hashOf(payload), 16);
  return Buffer.concat([head, payload, arrays]);
}

/** Mutates a cache's `.result` file. */
export function mutateResult(file: Buffer, random: Random): Buffer {
  const text = file.toString();
  const json = mutateJson(text.slice(text.indexOf("\n") + 1), random);
  return Buffer.from(`${hashOf(json).toString(16)}\n${json}`);
}

/** Mutates lines of a cache's index. */
export function mutateIndex(file: Buffer, random: Random): Buffer {
  const text = file.toString("latin1");
  const end = text.indexOf("\n");
  let lines = mutateLines(text.slice(end + 1), random);
  if (random.below(3) === 0)
    lines = lines.replace(/[0-9a-f]{64}/, () => oneOf(random, [...wildNumbers, "../x"]));
  const checksum = hashOf(lines).toString(16).padStart(16, "0");
  return Buffer.from(`${text.slice(0, end - 16)}${checksum}\n${lines}`, "latin1");
}
