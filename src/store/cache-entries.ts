import { closeSync, fstatSync, openSync, readSync, renameSync, writeSync } from "node:fs";
import { type Checked, fieldsOf, text, wholeNumber } from "../bytes/schema.ts";
import type { RangeStatistics } from "../count/range-counter.ts";
import { xxHash64 } from "../runtime/host.ts";
import { type CountsOptions, hasOptions } from "../words/counts-format.ts";
import { CountsReader } from "../words/counts-reader.ts";
import { tableOverflows } from "../words/sorted-words.ts";
import { type EntryId, entryIdCheck } from "./cache-names.ts";
import { Damaged, naming, parseChecked, statisticsCheck, withFile } from "./checked-files.ts";
import { settlePermissions } from "./output-permissions.ts";
import { openFound } from "./trusted-files.ts";

/**
 * An entry: the words of one content as a counts file (words/counts-format.ts), and behind them its statistics.
 *
 *   PART       SIZE          MEANING
 *   counts     countsBytes   a counts file
 *   about      size          JSON (`About`)
 *   size       4             bytes of `about`
 *   checksum   8             xxHash64 of `about`
 *   magic      4             "bpee"
 *
 * The statistics are last because they are known last: words are written while their input is counted.
 */
type About = Checked<typeof aboutFields>;
const aboutFields = fieldsOf({
  id: entryIdCheck,
  findings: statisticsCheck,
  countsBytes: wholeNumber(),
  /** Of the counts: xxHash64 of blocks of 1 MB, each with the hash of the block before as its seed; hexadecimal. */
  checksum: text,
});

const magic = new TextEncoder().encode("bpee");
const tailBytes = 16;
/** An id and a few numbers. */
const aboutBytesMax = 4096;
const blockBytes = 1 << 20;

/** Turns a counts file of this run into an entry, and moves it to `path` on the same file system. */
export function makeEntry(countsPath: string, path: string, id: EntryId, statistics: RangeStatistics): void {
  const fd = openSync(countsPath, "r+");
  try {
    const countsBytes = fstatSync(fd).size;
    const about: About = {
      id,
      findings: statistics,
      countsBytes,
      checksum: checksumOf(countsPath, fd, countsBytes),
    };
    const payload = new TextEncoder().encode(JSON.stringify(about));
    const tail = new Uint8Array(payload.length + tailBytes);
    tail.set(payload);
    const view = new DataView(tail.buffer, payload.length);
    view.setUint32(0, payload.length, true);
    view.setBigUint64(4, xxHash64(payload), true);
    tail.set(magic, payload.length + 12);
    const written = writeSync(fd, tail, 0, tail.length, countsBytes);
    if (written < tail.length) throw Object.assign(new Error("short write"), { code: "ENOSPC" });
    // Until now it was private to its run.
    settlePermissions(fd, 0o666, null);
  } finally {
    closeSync(fd);
  }
  renameSync(countsPath, path);
}

/** The statistics of an entry. Reads the whole file: `Damaged` if anything differs from what was written. */
export function verifyEntry(path: string, id: EntryId): RangeStatistics {
  return withFile(path, (fd) => {
    const about = readAbout(path, fd);
    if (about.id !== id || checksumOf(path, fd, about.countsBytes) !== about.checksum)
      throw new Damaged(path);
    return about.findings;
  });
}

/** Opens an entry to read its words; `close` closes it. Throws, as the reader does, `Damaged` or a CountsFileError. */
export function openEntry(path: string, options: CountsOptions): { reader: CountsReader; close: () => void } {
  const fd = openFound(path);
  try {
    const { countsBytes } = readAbout(path, fd);
    let pos = 0;
    const read = (into: Uint8Array) => {
      try {
        const size = readSync(fd, into, 0, Math.min(into.length, countsBytes - pos), pos);
        pos += size;
        return size;
      } catch (error) {
        throw naming(path, error);
      }
    };
    const reader = new CountsReader(path, read, countsBytes);
    if (!hasOptions(reader.header, options) || tableOverflows(reader.totals)) throw new Damaged(path);
    return { reader, close: () => closeSync(fd) };
  } catch (error) {
    closeSync(fd);
    throw naming(path, error);
  }
}

function readAbout(path: string, fd: number): About {
  const { size: fileBytes } = fstatSync(fd);
  if (fileBytes < tailBytes) throw new Damaged(path);
  const tail = readAt(path, fd, fileBytes - tailBytes, tailBytes);
  const view = new DataView(tail.buffer);
  const size = view.getUint32(0, true);
  const isEntry = magic.every((byte, i) => tail[12 + i] === byte);
  if (!isEntry || size > aboutBytesMax || size > fileBytes - tailBytes) throw new Damaged(path);
  const payload = readAt(path, fd, fileBytes - tailBytes - size, size);
  if (xxHash64(payload) !== view.getBigUint64(4, true)) throw new Damaged(path);
  const about = parseChecked(path, new TextDecoder().decode(payload), aboutFields);
  if (about.countsBytes !== fileBytes - tailBytes - size) throw new Damaged(path);
  return about;
}

function checksumOf(path: string, fd: number, sizeBytes: number): string {
  let checksum = 0n;
  const block = new Uint8Array(Math.min(blockBytes, sizeBytes));
  for (let done = 0; done < sizeBytes; ) {
    const size = Math.min(block.length, sizeBytes - done);
    if (readSync(fd, block, 0, size, done) < size) throw new Damaged(path);
    checksum = xxHash64(block.subarray(0, size), checksum);
    done += size;
  }
  return checksum.toString(16);
}

function readAt(path: string, fd: number, offsetByte: number, sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes);
  if (readSync(fd, bytes, 0, sizeBytes, offsetByte) < sizeBytes) throw new Damaged(path);
  return bytes;
}
