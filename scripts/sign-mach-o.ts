// The signature that macOS requires of an executable: hashes of its pages, without a signer's identity ("ad hoc"). On
// Apple silicon, macOS starts no executable without a valid signature.
//
// Bun signs executables for Apple silicon. In those for Intel it leaves the signature of its own executable, which is
// no longer valid (Bun 1.4.5).
//
//   SIGNATURE (all numbers big-endian)
//   offset   bytes   meaning
//   0        4       0xfade0cc0, a list of blobs
//   4        4       its size
//   8        4       how many: 1
//   12       4       kind of the first: 0, the code directory
//   16       4       where it is: 20
//   20               the code directory
//
//   CODE DIRECTORY
//   offset   bytes   meaning
//   0        4       0xfade0c02
//   4        4       its size
//   8        4       version: 0x20400, the first with the fields at 64, 72 and 80
//   12       4       flags: 2 "ad hoc" and 0x20000 "as a linker signs"
//   16       4       where the hashes are
//   20       4       where the identifier is: 88
//   24       4       number of hashes of other things than pages: 0
//   28       4       number of hashes of pages
//   32       4       size of the signed part, which ends where the signature begins
//   36       4       one byte each: size of a hash, its kind (2: SHA-256), the platform (0), log2 of a page's size
//   40       24      0
//   64       8       where the segment __TEXT begins in the file
//   72       8       its size in the file
//   80       8       1: it belongs to a main executable
//   88               the identifier and a zero, then the hashes
import { createHash } from "node:crypto";
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";

const machO64 = 0xfeedfacf;
const segmentCommand = 0x19;
const signatureCommand = 0x1d;
const headerBytes = 32;

const listMagic = 0xfade0cc0;
const directoryMagic = 0xfade0c02;
const directoryStart = 20;
const identifierStart = 88;
const hashBytes = 32;
const pageBytesLog2 = 12;
const pageBytes = 1 << pageBytesLog2;
/** The alignment of segments in memory: a page of Apple silicon, four of Intel. */
const segmentAlignmentBytes = 1 << 14;

/** The positions in an executable that its signature depends on. */
type Layout = {
  /** The offset of the load command for the signature. */
  readonly signatureCommandStart: number;
  /** The offset of the load command for the segment __LINKEDIT. */
  readonly linkEditCommandStart: number;
  readonly linkEditStart: number;
  readonly textStart: number;
  readonly textBytes: number;
  readonly signatureStart: number;
  readonly signatureBytes: number;
};

/** Replaces the signature at the end of an executable with a valid one. */
export function signMachO(path: string, identifier: string): void {
  const bytes = readFileSync(path);
  const signed = withSignature(bytes, identifier);
  const fd = openSync(path, "r+");
  try {
    for (let pos = 0; pos < signed.length; ) pos += writeSync(fd, signed, pos, signed.length - pos, pos);
    ftruncateSync(fd, signed.length);
  } finally {
    closeSync(fd);
  }
}

/** Returns the executable with a valid signature; changes `bytes`. */
export function withSignature(bytes: Buffer, identifier: string): Buffer {
  const layout = layoutOf(bytes);
  const pages = Math.ceil(layout.signatureStart / pageBytes);
  const hashesStart = identifierStart + identifier.length + 1;
  const directoryBytes = hashesStart + pages * hashBytes;
  const signature = Buffer.alloc(directoryStart + directoryBytes);

  // Writes the load commands first, because their page is signed as well.
  bytes.writeUInt32LE(signature.length, layout.signatureCommandStart + 12);
  const linkEditBytes = layout.signatureStart + signature.length - layout.linkEditStart;
  bytes.writeBigUInt64LE(BigInt(linkEditBytes), layout.linkEditCommandStart + 48);
  // __LINKEDIT is the last segment, so it may grow in memory.
  const memoryBytesStart = layout.linkEditCommandStart + 32;
  const memoryBytes = Number(bytes.readBigUInt64LE(memoryBytesStart));
  const grownBytes = Math.ceil(linkEditBytes / segmentAlignmentBytes) * segmentAlignmentBytes;
  if (linkEditBytes > memoryBytes) bytes.writeBigUInt64LE(BigInt(grownBytes), memoryBytesStart);

  writeNumbers(signature, 0, [listMagic, signature.length, 1, 0, directoryStart]);
  const kinds = Buffer.of(hashBytes, 2, 0, pageBytesLog2).readUInt32BE();
  writeNumbers(signature, directoryStart, [
    ...[directoryMagic, directoryBytes, 0x20400, 0x20002, hashesStart, identifierStart],
    ...[0, pages, layout.signatureStart, kinds],
  ]);
  signature.writeBigUInt64BE(BigInt(layout.textStart), directoryStart + 64);
  signature.writeBigUInt64BE(BigInt(layout.textBytes), directoryStart + 72);
  signature.writeBigUInt64BE(1n, directoryStart + 80);
  signature.write(identifier, directoryStart + identifierStart, "latin1");
  const code = bytes.subarray(0, layout.signatureStart);
  for (let page = 0; page < pages; page++) {
    hashOfPage(code, page).copy(signature, directoryStart + hashesStart + page * hashBytes);
  }
  return Buffer.concat([code, signature]);
}

/**
 * Returns the number of pages whose hashes the signature has. Throws unless there is a signature, at the end of the
 * file, with the right hash of each page.
 */
export function checkSignature(bytes: Buffer): number {
  const { signatureStart, signatureBytes } = layoutOf(bytes);
  if (signatureStart + signatureBytes !== bytes.length) throw new Error("the signature is not at the end");
  const signature = bytes.subarray(signatureStart);
  const directory = signature.subarray(signature.readUInt32BE(16));
  if (signature.readUInt32BE(0) !== listMagic || directory.readUInt32BE(0) !== directoryMagic) {
    throw new Error("there is no code directory in the signature");
  }
  const [hashesStart, pages, codeBytes] = [16, 28, 32].map((pos) => directory.readUInt32BE(pos)) as [
    number,
    number,
    number,
  ];
  if (codeBytes !== signatureStart) throw new Error("the signature is of another size of code");
  if (pages !== Math.ceil(codeBytes / pageBytes))
    throw new Error("the signature has not a hash for each page");
  for (let page = 0; page < pages; page++) {
    const hashStart = hashesStart + page * hashBytes;
    const hash = directory.subarray(hashStart, hashStart + hashBytes);
    if (!hash.equals(hashOfPage(bytes.subarray(0, codeBytes), page))) {
      throw new Error(`page ${page} is not what was signed`);
    }
  }
  return pages;
}

function layoutOf(bytes: Buffer): Layout {
  if (bytes.length < headerBytes || bytes.readUInt32LE(0) !== machO64)
    throw new Error("this is no Mach-O file");
  const layout: Partial<{ -readonly [field in keyof Layout]: Layout[field] }> = {};
  let pos = headerBytes;
  let lastAddress = 0n;
  let linkEditAddress = 0n;
  for (let left = bytes.readUInt32LE(16); left > 0; left--) {
    const command = bytes.readUInt32LE(pos);
    if (command === signatureCommand) {
      layout.signatureCommandStart = pos;
      layout.signatureStart = bytes.readUInt32LE(pos + 8);
      layout.signatureBytes = bytes.readUInt32LE(pos + 12);
    } else if (command === segmentCommand) {
      const name = bytes.toString("latin1", pos + 8, pos + 24).replace(/\0+$/, "");
      const address = bytes.readBigUInt64LE(pos + 24);
      const start = Number(bytes.readBigUInt64LE(pos + 40));
      if (address > lastAddress) lastAddress = address;
      if (name === "__TEXT") {
        layout.textStart = start;
        layout.textBytes = Number(bytes.readBigUInt64LE(pos + 48));
      } else if (name === "__LINKEDIT") {
        layout.linkEditCommandStart = pos;
        layout.linkEditStart = start;
        linkEditAddress = address;
      }
    }
    pos += bytes.readUInt32LE(pos + 4);
  }
  const { signatureStart, linkEditStart, textStart } = layout;
  if (signatureStart === undefined) throw new Error("there is no room for a signature");
  if (linkEditStart === undefined || textStart === undefined) throw new Error("a segment is missing");
  if (linkEditAddress < lastAddress) throw new Error("__LINKEDIT is not the last segment");
  return layout as Layout;
}

const hashOfPage = (code: Buffer, page: number) =>
  createHash("sha256")
    .update(code.subarray(page * pageBytes, (page + 1) * pageBytes))
    .digest();

function writeNumbers(into: Buffer, pos: number, numbers: readonly number[]): void {
  for (const [i, number] of numbers.entries()) into.writeUInt32BE(number, pos + 4 * i);
}
