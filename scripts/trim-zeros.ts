import { readFileSync, writeFileSync } from "node:fs";

// Bun's builder appends the embedded files as the section ".bun", at an address after ".bss", and makes one segment of
// all that is writable. So the file of an executable for Linux holds the zeros of ".bss", 1.8 MB of them. Here that
// segment becomes two, without the zeros. The header of the notes, which only debuggers read, is replaced by that of
// the second segment.

const loadType = 1;
const noteType = 4;
const writable = 2;
/** The type of sections that have no bytes in the file. */
const noBits = 8;

/** Offsets in the head of an ELF file of 64 bits. */
const head = { segments: 0x20, sections: 0x28, segmentCount: 0x38, sectionCount: 0x3c } as const;
const segmentHeader = {
  ...{ size: 56, type: 0, flags: 4, offset: 8, address: 16, physical: 24 },
  ...{ fileBytes: 32, memoryBytes: 40, alignment: 48 },
} as const;
const sectionHeader = { size: 64, type: 4, address: 16, offset: 24, byteCount: 32 } as const;

/** The offsets of the headers that change, and where the zeros are. */
type Layout = {
  readonly segment: number;
  readonly note: number;
  readonly sections: readonly number[];
  readonly zerosStart: number;
  /** The start of the embedded files. */
  readonly filesStart: number;
};

class ElfFile {
  private readonly view: DataView;

  constructor(readonly bytes: Buffer) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  number(pos: number): number {
    return Number(this.view.getBigUint64(pos, true));
  }

  set(pos: number, value: number): void {
    this.view.setBigUint64(pos, BigInt(value), true);
  }

  int(pos: number): number {
    return this.view.getUint32(pos, true);
  }

  headers(start: number, count: number, size: number): number[] {
    return Array.from({ length: this.view.getUint16(count, true) }, (_, i) => this.number(start) + i * size);
  }
}

/** Finds the zeros; returns undefined if the file is laid out in another way. */
function layoutOf(file: ElfFile): Layout | undefined {
  if (file.bytes.toString("latin1", 0, 6) !== "\x7fELF\x02\x01") return undefined;
  const segments = file.headers(head.segments, head.segmentCount, segmentHeader.size);
  const sections = file.headers(head.sections, head.sectionCount, sectionHeader.size);
  const typeOf = (segment: number) => file.int(segment + segmentHeader.type);
  const segment = segments.findLast((at) => typeOf(at) === loadType);
  const note = segments.findLast((at) => typeOf(at) === noteType);
  const bss = sections.findLast((at) => file.int(at + sectionHeader.type) === noBits);
  if (segment === undefined || note === undefined || bss === undefined || note < segment) return undefined;
  const fileBytes = file.number(segment + segmentHeader.fileBytes);
  const isWhole = fileBytes === file.number(segment + segmentHeader.memoryBytes);
  if (!isWhole || (file.int(segment + segmentHeader.flags) & writable) === 0) return undefined;
  const segmentStart = file.number(segment + segmentHeader.offset);
  const shift = segmentStart - file.number(segment + segmentHeader.address);
  const zerosStart = file.number(bss + sectionHeader.address) + shift;
  const zerosEnd = zerosStart + file.number(bss + sectionHeader.byteCount);
  const starts = sections.map((at) => file.number(at + sectionHeader.offset));
  const filesStart = Math.min(...starts.filter((start) => start >= zerosEnd));
  const isInside = segmentStart < zerosStart && filesStart < segmentStart + fileBytes;
  if (!isInside || file.bytes.subarray(zerosStart, filesStart).some((byte) => byte !== 0)) return undefined;
  return { segment, note, sections, zerosStart, filesStart };
}

/**
 * Drops the zeros of ".bss" from an executable for Linux. Returns by how many bytes it is smaller: 0 if it is laid out
 * in another way, and is left unchanged.
 */
export function trimZeros(executable: string): number {
  const file = new ElfFile(readFileSync(executable));
  const layout = layoutOf(file);
  if (layout === undefined) return 0;
  const { segment, note, sections, zerosStart, filesStart } = layout;
  const { offset, address, physical, fileBytes, memoryBytes, alignment } = segmentHeader;
  const pageBytes = file.number(segment + alignment);
  // Offsets and addresses stay equal modulo the size of a page.
  const savedBytes = Math.floor((filesStart - zerosStart) / pageBytes) * pageBytes;
  const segmentStart = file.number(segment + offset);
  const segmentAddress = file.number(segment + address);
  const filesAddress = segmentAddress + filesStart - segmentStart;
  const filesBytes = segmentStart + file.number(segment + fileBytes) - filesStart;
  file.bytes.copyWithin(note, segment, segment + segmentHeader.size);
  file.set(note + offset, filesStart - savedBytes);
  for (const field of [address, physical]) file.set(note + field, filesAddress);
  for (const field of [fileBytes, memoryBytes]) file.set(note + field, filesBytes);
  file.set(segment + fileBytes, zerosStart - segmentStart);
  file.set(segment + memoryBytes, filesAddress - segmentAddress);
  for (const pos of [head.sections, ...sections.map((at) => at + sectionHeader.offset)]) {
    if (file.number(pos) >= filesStart) file.set(pos, file.number(pos) - savedBytes);
  }
  const { bytes } = file;
  writeFileSync(
    executable,
    Buffer.concat([bytes.subarray(0, filesStart - savedBytes), bytes.subarray(filesStart)]),
  );
  return savedBytes;
}
