import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { kernelPaths } from "./embedded.ts";
import type { MergeExports } from "./merge-exports.ts";

/**
 * What src/kernel exports. Addresses and numbers of bytes are unsigned in the kernel and come back signed: whoever may have
 * more than 2 GB takes them `>>> 0`.
 */
export type KernelExports = MergeExports & {
  memoryBytes(): number;
  // masks/mask-tables.ts, masks/scan-masks.ts
  maskTablesBytes(columnsLength: number): number;
  useMaskTables(address: number, columnBlocks: number, columns: number, columnsLength: number): void;
  scanMasks(text: number, start: number, stop: number, limit: number, ends: number): number;
  masksEnd(): number;
  // vocabulary-rows.ts
  useVocabulary(
    kept: number,
    starts: number,
    lengths: number,
    lefts: number,
    rights: number,
    entries: number,
  ): void;
  writeMerges(
    first: number,
    stop: number,
    separators: number,
    spelling: number,
    to: number,
    limit: number,
  ): number;
  writeIds(
    first: number,
    stop: number,
    separators: number,
    spelling: number,
    to: number,
    limit: number,
  ): number;
  writeRanks(first: number, stop: number, digits: number, to: number, limit: number): number;
  rowsEnd(): number;

  // regions.ts
  layOut(): void;
  reserveFixed(byteCount: number): number;
  textAddress(): number;
  textCapacity(): number;
  endsAddress(): number;
  endsCapacity(): number;

  // scan/automaton-steps.ts, scan/four-byte-steps.ts, scan/scanner.ts
  useAutomaton(transitions: number, columnBlocks: number, columns: number, slots: number): void;
  useFourByteTables(pairs: number, quads: number, quadEntries: number, bits: number): void;
  shiftText(delta: number): void;
  keepPosition(): number;
  scanPosition(): number;
  invalidBytes(): number;
  firstInvalidPosition(): number;
  clearFirstInvalid(): void;

  // special-tokens.ts
  usePrefixes(prefixes: number, count: number, areWhole: number, longest: number): void;
  useTokenTrie(
    labels: number,
    firstChildren: number,
    fallbacks: number,
    tokenLengths: number,
    rootChildren: number,
    places: number,
  ): void;
  searchText(limit: number): void;

  // documents.ts
  startCounting(at: number, isInside: number): void;
  countDocuments(
    end: number,
    sureEnd: number,
    lastStop: number,
    lastLimit: number,
    endsDocument: number,
  ): number;
  countLookahead(rangeEnd: number, limit: number): number;
  documents(): number;
  isInside(): number;

  // words/counts-text.ts
  addLines(start: number, byteCount: number, totalBefore: number): number;
  addedLineCount(): number;
  linesTotal(): number;
  beginLines(): void;
  readLineCount(): number;

  // words/listed-lines.ts
  useLists(words: number, ends: number, counts: number): void;
  listLines(line: number, end: number, hashes: number, lineMax: number): number;
  useParts(hashes: number, stops: number, parts: number, slots: number, partBits: number): void;
  countParts(first: number, stop: number): void;
  placeParts(): void;
  fillParts(first: number, stop: number): void;
  findEqual(first: number, stop: number, marks: number): number;

  // words/sorted-words.ts
  beginSortedWords(): void;
  listSortedWords(
    start: number,
    end: number,
    startsFrame: number,
    words: number,
    wordsEnd: number,
    ends: number,
    counts: number,
    last: number,
    wordMax: number,
  ): number;
  sortedWordCount(): number;
  sortedTotal(): number;

  // words/tables.ts
  openTables(): void;
  beginTables(shortSlotBits: number, middleSlotBits: number, longSlotBits: number): void;
  pretokenCount(): number;
  addPretokens(count: number): void;
  distinctWordCount(): number;
  countPretokens(pretokenCount: number): number;
  addWord(length: number, count: number): number;
  slotsAddress(kind: number): number;
  slotsBytes(kind: number): number;
  slotsBytesWith(kind: number, keyCount: number): number;
  usedSlots(kind: number): number;
  hasSlots(kind: number, keyCount: number): number;
  reserveSlots(kind: number, keyCount: number): number;
  recordsAddress(): number;
  recordsBytes(): number;
  hasRecords(byteCount: number): number;
  addSlots(kind: number, byteCount: number): void;
  missingKeys(kind: number, byteCount: number): number;
  addRecords(byteCount: number): number;
  wordBytes(): number;
  beginList(): void;
  listWords(firstStart: number): number;
  listedBytesAddress(): number;
  listedBytesCount(): number;
  listedStartsAddress(): number;
  listedCountsAddress(): number;

  // encode/encode.ts; truth values are 0 and 1
  beginModel(byteCount: number): number;
  useModel(shrinkBits: number): number;
  setTextBytes(byteCount: number): number;
  encodeWords(endCount: number): number;
  idsAddress(): number;
  startEncoding(): void;
  moveText(delta: number): void;
  encodeText(end: number, sureEnd: number, lastStop: number, lastLimit: number, endsText: number): number;
  isTextDone(): number;
  encodeLookahead(rangeEnd: number, limit: number): number;
  mergeText(lengthBytes: number): number;
  wordIdsAddress(): number;
  limitMerging(scannedMax: number, listedMin: number): void;
  beginCuts(endCount: number): void;
  nextCuts(): number;
  cutEndsAddress(): number;
};

/** A kernel at work in one memory. Several may share a memory, each in its own thread. */
export type Kernel = { readonly exports: KernelExports; readonly memory: WebAssembly.Memory };

let compiled: WebAssembly.Module | undefined;

/** The kernel's code, read once a process; posted to workers, so that all threads share what the engine compiles. */
export function kernelModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(readModule());
  return compiled;
}

/** The same ahead of its use: threads of the engine compile it meanwhile. */
export async function prepareKernel(): Promise<void> {
  compiled ??= await WebAssembly.compile(readModule());
}

/** For a worker: the code that the main thread has. */
export function adoptKernelModule(module: WebAssembly.Module): void {
  compiled = module;
}

/** A kernel in a memory of its own, or beside others in theirs. */
export function createKernel(memory = createMemory()): Kernel {
  const { exports } = new WebAssembly.Instance(kernelModule(), { env: { memory, abort } });
  return { exports: exports as KernelExports, memory };
}

const pageBytes = 1 << 16;
const largestPageCount = 1 << 16;
const smallestPageCount = 1 << 8;
/** Regions have room for most patterns in 256 MB; in less than 64 MB for hardly any. */
const commonPageCount = 1 << 12;
const smallestWholePageCount = 1 << 10;

/**
 * A memory of as much address space as there is, up to 4 GB; it costs nothing until it is written. It is shared, because
 * memory that is shared never moves.
 */
export function createMemory(): WebAssembly.Memory {
  return largestMemory(largestPageCount, smallestPageCount, () => 1);
}

/** A kernel in a memory of which all is accessible, with regions (src/kernel/regions.ts) as any other has them there. */
export function createRegionKernel(memory: WebAssembly.Memory): Kernel {
  const kernel = createKernel(memory);
  kernel.exports.layOut();
  return kernel;
}

/**
 * How many bytes the memory of a thread has that wishes for so many. Written or not, the engine refuses more than three
 * times the machine's memory in all: so no thread takes more than its share of twice that.
 */
export function wholeMemoryBytes(wishedBytes: number): number {
  const mostBytes = Math.min((2 * totalmem()) / (availableParallelism() + 1), largestPageCount * pageBytes);
  let sizeBytes = commonPageCount * pageBytes;
  while (sizeBytes < wishedBytes && 2 * sizeBytes <= mostBytes) sizeBytes *= 2;
  return sizeBytes;
}

/** A memory of that size, accessible at once; smaller where the system refuses it. */
export function createWholeMemory(wishedBytes: number): WebAssembly.Memory {
  return largestMemory(
    wholeMemoryBytes(wishedBytes) / pageBytes,
    smallestWholePageCount,
    (maximum) => maximum,
  );
}

/** A memory of `pageCount` pages at most, or of half as many, and so on, as the system allows; throws below the least. */
function largestMemory(
  pageCount: number,
  leastPageCount: number,
  initialOf: (maximum: number) => number,
): WebAssembly.Memory {
  for (let maximum = pageCount; ; maximum /= 2) {
    try {
      return new WebAssembly.Memory({ initial: initialOf(maximum), maximum, shared: true });
    } catch (error) {
      if (maximum <= leastPageCount) throw error;
    }
  }
}

/** Makes a memory at least so large. */
export function growMemory(memory: WebAssembly.Memory, sizeBytes: number): void {
  const missingPages = Math.ceil((sizeBytes - memory.buffer.byteLength) / pageBytes);
  if (missingPages > 0) memory.grow(missingPages);
}

/** Copies an array into the kernel's memory for good, to the front of so many bytes; its address, or 0 where there is no room. */
export function putArray(
  { exports, memory }: Kernel,
  array: Int32Array | Uint16Array | Uint8Array,
  byteCount = array.byteLength,
): number {
  const address = exports.reserveFixed(byteCount) >>> 0;
  if (address === 0) return 0;
  growMemory(memory, address + byteCount);
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  new Uint8Array(memory.buffer, address, array.byteLength).set(bytes);
  return address;
}

/** Called by an assertion of the kernel that does not hold, where it was compiled with assertions. */
function abort(_message: number, _file: number, line: number, column: number): never {
  throw new Error(`the kernel's assertion at line ${line}, column ${column} does not hold`);
}

function readModule(): Uint8Array<ArrayBuffer> {
  const { path, testPath, baselinePath } = kernelPaths;
  const isTest = testPath !== undefined && process.env.NODE_ENV === "test";
  const chosen = !WebAssembly.validate(simdProbe) ? baselinePath : isTest ? testPath : path;
  try {
    return new Uint8Array(readFileSync(chosen));
  } catch (error) {
    throw new Error(`the kernel is not built ("${chosen}"): npm run build`, { cause: error });
  }
}

/** A module that is valid where the engine has SIMD: (func (result v128) i32.const 0 i8x16.splat) */
const simdProbe = Uint8Array.of(
  ...[0, 97, 115, 109, 1, 0, 0, 0], // magic, version
  ...[1, 5, 1, 96, 0, 1, 123], // type: () -> v128
  ...[3, 2, 1, 0], // one function
  ...[10, 8, 1, 6, 0, 65, 0, 253, 15, 11], // its code
);
