import { expect, test } from "bun:test";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import * as fc from "fast-check";
import { ChecksummedFile, checksumOf } from "../../../src/store/file-checksum.ts";
import { scratch } from "../../binary.ts";
import { rounds } from "../../rounds.ts";

/** The definition: the CRC-32 of the file with its first 4,096 bytes moved to the end. */
const naive = (bytes: Uint8Array) =>
  crc32(new Uint8Array([...bytes.subarray(4096), ...bytes.subarray(0, 4096)]))
    .toString(16)
    .padStart(8, "0");

function readChecksum(path: string): string {
  const fd = openSync(path, "r");
  const reading = checksumOf(fd);
  for (let step = reading.next(); ; step = reading.next()) {
    if (!step.done) continue;
    closeSync(fd);
    return step.value;
  }
}

test("the checksum of written bytes equals that of the bytes read, however they are cut, and after the head is overwritten", () => {
  const path = join(scratch(), "file");
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 9000 }), { maxLength: 6 }),
      fc.uint8Array({ maxLength: 1024 }),
      (chunks, head) => {
        let bytes = new Uint8Array(0);
        const file = new ChecksummedFile({
          write(chunk) {
            bytes = new Uint8Array([...bytes, ...chunk]);
          },
          overwrite(chunk, pos) {
            bytes.set(chunk, pos);
          },
        });
        for (const chunk of chunks) file.write(chunk);
        const over = head.subarray(0, bytes.length);
        file.overwrite(over, 0);
        writeFileSync(path, bytes);
        expect(file.checksum.value).toBe(naive(bytes));
        expect(readChecksum(path)).toBe(naive(bytes));
      },
    ),
    { numRuns: rounds(100) },
  );
});

test("each flipped bit changes the checksum", () => {
  const path = join(scratch(), "file");
  const bytes = Uint8Array.from({ length: 5000 }, (_, i) => (i * 31) ^ (i >> 5));
  writeFileSync(path, bytes);
  const right = readChecksum(path);
  for (const byte of [0, 1, 2047, 4095, 4096, 4999]) {
    for (let bit = 0; bit < 8; bit++) {
      const damaged = readFileSync(path);
      damaged[byte]! ^= 1 << bit;
      expect(naive(damaged)).not.toBe(right);
    }
  }
});
