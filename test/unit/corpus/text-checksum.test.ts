import { expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { joinChecksums, TextChecksum } from "../../../src/corpus/text-checksum.ts";
import { rounds } from "../../rounds.ts";

test("checksums of parts combine to the checksum of the whole", () => {
  for (let round = 0; round < rounds(200); round++) {
    const bytes = crypto.getRandomValues(new Uint8Array(Math.floor(Math.random() * 5000)));
    const cut = Math.floor(Math.random() * (bytes.length + 1));
    const [first, second] = [bytes.subarray(0, cut), bytes.subarray(cut)];
    expect(joinChecksums(crc32(first), crc32(second), second.length)).toBe(crc32(bytes));
    const sum = new TextChecksum();
    sum.add(first);
    sum.add(second);
    expect(sum.value).toBe(crc32(bytes));
  }
  let whole = crc32("begin");
  const block = new Uint8Array(1 << 26);
  for (let rest = 1 << 27; rest > 0; rest -= block.length) whole = crc32(block, whole);
  let after = 0;
  for (let rest = 1 << 27; rest > 0; rest -= block.length) after = crc32(block, after);
  expect(joinChecksums(crc32("begin"), after, 1 << 27)).toBe(whole);
  // The second part would have more than 2^32 bytes, so it is not made. With 0 as the checksum of this part, the result
  // depends only on the first checksum and on the length. So joining the part as two halves must give the same result.
  const zeros = 5e9;
  expect(joinChecksums(1, 0, zeros)).toBe(joinChecksums(joinChecksums(1, 0, zeros / 2), 0, zeros / 2)!);
  expect(joinChecksums(undefined, 1, 1)).toBeUndefined();
  expect(joinChecksums(1, undefined, 1)).toBeUndefined();
});
