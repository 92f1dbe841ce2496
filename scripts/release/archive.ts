// Reproducible archives: all files have the same time and owner.
import { crc32, deflateRawSync, gzipSync } from "node:zlib";

export type ArchivedFile = {
  /** With "/" between directories, in ASCII, at most 100 bytes. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly isExecutable?: boolean;
};

const level = 9;

/**
 * A tar file (POSIX ustar), compressed. Each file is a head of 512 bytes and its content, padded with zeros to a
 * multiple of 512. At the end are 1,024 zeros.
 *
 *   HEAD (text; numbers are octal and end with a zero byte)
 *   offset   bytes   meaning
 *   0        100     path
 *   100      8       mode
 *   108      8, 8    ids of owner and group: 0
 *   124      12      size
 *   136      12      seconds since 1970
 *   148      8       sum of the head's bytes, where these 8 count as spaces; six digits, a zero, a space
 *   156      1       "0": a file
 *   257      8       "ustar", a zero, "00"
 */
export function tarGz(files: readonly ArchivedFile[], seconds: number): Buffer {
  const parts: Uint8Array[] = [];
  for (const { path, bytes, isExecutable } of files) {
    checkPath(path);
    const head = Buffer.alloc(512);
    head.write(path, 0, "latin1");
    writeOctal(head, 100, 7, isExecutable ? 0o755 : 0o644);
    writeOctal(head, 108, 7, 0);
    writeOctal(head, 116, 7, 0);
    writeOctal(head, 124, 11, bytes.length);
    writeOctal(head, 136, 11, seconds);
    head.write("        0", 148, "latin1");
    head.write("ustar\x0000", 257, "latin1");
    writeOctal(
      head,
      148,
      6,
      head.reduce((sum, byte) => sum + byte, 0),
    );
    parts.push(head, bytes, Buffer.alloc(-bytes.length & 511));
  }
  parts.push(Buffer.alloc(1024));
  return gzipSync(Buffer.concat(parts), { level });
}

/**
 * A ZIP file: for each file a head and its compressed content, then a directory with all heads again and where they
 * are, then 22 bytes that say where the directory is.
 *
 *   HEAD OF A FILE                           IN THE DIRECTORY (from "version" on as in the head)
 *   offset   bytes   meaning                 offset   bytes   meaning
 *   0        4       0x04034b50              0        4       0x02014b50
 *   4        2       version: 20             4        2       made by version 20 on Unix: 0x0314
 *   6        2       flags: 0                6        24      as bytes 4 to 27 of the head
 *   8        2       method: 8, deflate      30       8       no extra fields, no comment, first disk, no attributes: 0
 *   10       4       DOS time and date       38       4       mode of Unix, shifted by 16 bits
 *   14       4       CRC-32                  42       4       where the head is
 *   18       4, 4    size packed, unpacked   46               path
 *   26       2, 2    length of path, of extra fields: 0
 *   30               path, content
 */
export function zip(files: readonly ArchivedFile[], seconds: number): Buffer {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let start = 0;
  for (const { path, bytes, isExecutable } of files) {
    checkPath(path);
    const packed = deflateRawSync(bytes, { level });
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(20, 4);
    head.writeUInt16LE(8, 8);
    head.writeUInt32LE(dosTime(seconds), 10);
    head.writeUInt32LE(crc32(bytes), 14);
    head.writeUInt32LE(packed.length, 18);
    head.writeUInt32LE(bytes.length, 22);
    head.writeUInt16LE(path.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(0x0314, 4);
    head.copy(entry, 6, 4, 28);
    entry.writeUInt32LE((isExecutable ? 0o100755 : 0o100644) * 0x10000, 38);
    entry.writeUInt32LE(start, 42);
    const name = Buffer.from(path, "latin1");
    parts.push(head, name, packed);
    directory.push(entry, name);
    start += head.length + name.length + packed.length;
  }
  const directoryBytes = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directoryBytes.length, 12);
  end.writeUInt32LE(start, 16);
  return Buffer.concat([...parts, directoryBytes, end]);
}

/**
 * Returns a time as ZIP files state it, in UTC. The date is in the upper 16 bits (years since 1980, month, day), the
 * time in the lower (hours, minutes, half the seconds).
 */
function dosTime(seconds: number): number {
  const time = new Date(seconds * 1000);
  const date = ((time.getUTCFullYear() - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
  return date * 0x10000 + clock;
}

function writeOctal(head: Buffer, pos: number, digits: number, value: number): void {
  head.write(`${value.toString(8).padStart(digits, "0")}\0`, pos, "latin1");
}

function checkPath(path: string): void {
  if (!/^[\x21-\x7e]{1,100}$/.test(path)) throw new Error(`"${path}" is no path for an archive`);
}
