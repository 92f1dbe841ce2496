import { buildTokenTrie } from "../corpus/token-trie.ts";
import { buildMaskTables } from "../pattern/masks/mask-tables.ts";
import { buildQuadTables, type QuadTables } from "../pattern/quads.ts";
import type { ScanTables } from "../pattern/tables.ts";
import type { Kernel } from "../runtime/kernel.ts";
import { noRoomForWords, type WordCounter } from "../words/counter.ts";
import type { DocumentPart, Documents } from "./documents.ts";

/** After how much text what makes the scan faster is set up. */
type SetUpAfter = { readonly quadsBytes: number; readonly masksBytes: number; readonly formulaBytes: number };

const setUpAfter: SetUpAfter = {
  /** Four-byte tables take 1 to 16 ms to build: as long as a byte a step takes for this much, or for some times as much. */
  quadsBytes: 1 << 18,
  /** Half a millisecond where the formula is known, and some for the compiler to learn the loops. */
  masksBytes: 1 << 20,
  /** To find the formula and prove it takes some 20 ms in a process that has not done it before. */
  formulaBytes: 1 << 24,
};

/** Documents whose boundaries one automaton finds: special tokens, boundaries and words are the kernel's (src/kernel/documents.ts). */
export class KernelDocuments implements Documents {
  private readonly kernel: Kernel;
  /** Whether the four-byte tables are still to be built, if the text is long enough. */
  private wantsQuads: boolean;
  private wantsMasks: boolean;
  private countedBytes = 0;

  private constructor(
    private readonly tables: ScanTables,
    private readonly addresses: AutomatonAddresses,
    private readonly counter: WordCounter,
    private readonly after: SetUpAfter,
  ) {
    this.kernel = counter.kernel;
    this.wantsQuads = tables.quads === undefined;
    this.wantsMasks = tables.masks !== null;
  }

  /** Undefined where the kernel's memory has no room for the tables of such a pattern or such tokens. */
  static create(
    tables: ScanTables,
    specialTokens: readonly Uint8Array[],
    counter: WordCounter,
    after = setUpAfter,
  ): KernelDocuments | undefined {
    const addresses = setUpAutomaton(counter.kernel, tables);
    const isSetUp = addresses !== undefined && setUpTokens(counter.kernel, specialTokens);
    return isSetUp ? new KernelDocuments(tables, addresses, counter, after) : undefined;
  }

  get keepPos(): number {
    return this.kernel.exports.keepPosition();
  }

  get isInside(): boolean {
    return this.kernel.exports.isInside() !== 0;
  }

  get documentCount(): number {
    return this.kernel.exports.documents();
  }

  get invalidByteCount(): number {
    return this.kernel.exports.invalidBytes();
  }

  get firstInvalidPos(): number {
    return this.kernel.exports.firstInvalidPosition();
  }

  start(pos: number, isInside: boolean): void {
    this.kernel.exports.startCounting(pos, Number(isInside));
  }

  searchText(limit: number): void {
    this.kernel.exports.searchText(limit);
  }

  count({ end, sureEnd, stop, limit, endsDocument }: DocumentPart): boolean {
    const { exports } = this.kernel;
    if (this.wantsQuads || this.wantsMasks) this.buildTables();
    exports.clearFirstInvalid();
    const posBefore = exports.scanPosition();
    const done = exports.countDocuments(end, sureEnd, stop, limit, Number(endsDocument));
    if (done < 0) throw noRoomForWords();
    this.counter.checkTotal();
    this.countedBytes += exports.scanPosition() - posBefore;
    return done === 1;
  }

  lookAhead(end: number, limit: number): void {
    if (this.kernel.exports.countLookahead(end, limit) === 0) throw noRoomForWords();
    this.counter.checkTotal();
  }

  shift(deltaBytes: number): void {
    this.kernel.exports.shiftText(deltaBytes);
  }

  /** Tables that make the scan faster, once there was enough text for them to pay. */
  private buildTables(): void {
    const { kernel, tables, after, countedBytes } = this;
    if (this.wantsQuads && countedBytes >= after.quadsBytes) {
      this.wantsQuads = false;
      setUpQuads(kernel, buildQuadTables(tables));
    }
    if (
      this.wantsMasks &&
      countedBytes >= (tables.masks === undefined ? after.formulaBytes : after.masksBytes)
    ) {
      this.wantsMasks = false;
      setUpMasks(kernel, tables, this.addresses);
    }
  }
}

type AutomatonAddresses = { readonly columnBlocks: number; readonly columns: number };

function setUpAutomaton(kernel: Kernel, tables: ScanTables): AutomatonAddresses | undefined {
  const { slotCount, quads } = tables;
  const transitions = put(kernel, tables.transitions);
  const columnBlocks = put(kernel, tables.columnBlocks);
  const columns = put(kernel, tables.columns);
  if (transitions === 0 || columnBlocks === 0 || columns === 0) return undefined;
  kernel.exports.useAutomaton(transitions, columnBlocks, columns, slotCount);
  setUpQuads(kernel, quads ?? undefined);
  kernel.exports.useMaskTables(0, 0, 0, 0);
  return { columnBlocks, columns };
}

/** Where the pattern has no formula, or the kernel no room, the tables have to do. */
function setUpMasks(kernel: Kernel, tables: ScanTables, { columnBlocks, columns }: AutomatonAddresses): void {
  const { exports } = kernel;
  const masks = tables.masks === undefined ? buildMaskTables(tables) : tables.masks;
  if (masks === undefined || masks === null) return;
  const columnsLength = tables.columns.length;
  const address = put(kernel, masks, exports.maskTablesBytes(columnsLength));
  if (address !== 0) exports.useMaskTables(address, columnBlocks, columns, columnsLength);
}

/** Without room for them a byte a step has to do. */
function setUpQuads(kernel: Kernel, tables: QuadTables | undefined): void {
  const arrays = tables === undefined ? [] : [tables.pairs, tables.quads, tables.quadEntries];
  const addresses = arrays.map((array) => put(kernel, array));
  const hasAll = tables !== undefined && !addresses.includes(0);
  if (!hasAll) kernel.exports.useQuads(0, 0, 0, 0);
  else kernel.exports.useQuads(addresses[0]!, addresses[1]!, addresses[2]!, tables.quadBits);
}

/** A prefix in memory: its length, where it occurs next, and from 16 on its bytes (src/kernel/special-tokens.ts). */
const prefixSlotBytes = 32;
const prefixBytesMax = 16;
/** With more the search for each costs more than reading all of the text backwards does. */
const prefixCountMax = 8;
/** What is read backwards at a time at most, if no token is longer. */
const longestBlockBytes = 1 << 14;

function setUpTokens(kernel: Kernel, specialTokens: readonly Uint8Array[]): boolean {
  const { exports } = kernel;
  const tokens = specialTokens.filter((token) => token.length > 0);
  const longestBytes = tokens.reduce((longest, token) => Math.max(longest, token.length), 0);
  const groups = [...Map.groupBy(tokens, (token) => token[0]!).values()];
  const areWhole =
    groups.length <= prefixCountMax &&
    longestBytes <= prefixBytesMax &&
    groups.every((group) => group.length === 1);
  const prefixes = groups.length > prefixCountMax ? [] : groups.map(sharedPrefix);
  const slots = new Uint8Array(prefixSlotBytes * prefixes.length);
  prefixes.forEach((prefix, i) => {
    new Int32Array(slots.buffer, i * prefixSlotBytes, 2).set([prefix.length, -1]);
    slots.set(prefix, i * prefixSlotBytes + 16);
  });
  const prefixesAddress = put(kernel, slots);
  if (prefixesAddress === 0) return false;
  exports.usePrefixes(prefixesAddress, prefixes.length, Number(areWhole), longestBytes);
  if (areWhole) return true;

  const trie = buildTokenTrie(tokens);
  const { labels, firstChildren, fallbacks, tokenLengths, rootChildren } = trie;
  const arrays = [labels, firstChildren, fallbacks, tokenLengths, rootChildren];
  const addresses = arrays.map((array) => put(kernel, array));
  const places = exports.reserveFixed(8 * Math.max(longestBlockBytes, longestBytes)) >>> 0;
  if (addresses.includes(0) || places === 0) return false;
  exports.useTokenTrie(addresses[0]!, addresses[1]!, addresses[2]!, addresses[3]!, addresses[4]!, places);
  return true;
}

/** What tokens with the same first byte share, as far as a prefix goes. */
function sharedPrefix(tokens: readonly Uint8Array[]): Uint8Array {
  const first = tokens[0]!;
  let length = Math.min(first.length, prefixBytesMax);
  for (const token of tokens) {
    let same = 0;
    while (same < length && same < token.length && token[same] === first[same]) same++;
    length = same;
  }
  return first.subarray(0, length);
}

/** Copies an array into the kernel's memory for good, to the front of so many bytes; its address, or 0 where there is no room. */
function put(
  { exports, memory }: Kernel,
  array: Int32Array | Uint16Array | Uint8Array,
  byteCount = array.byteLength,
): number {
  const address = exports.reserveFixed(byteCount) >>> 0;
  if (address === 0) return 0;
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  new Uint8Array(memory.buffer, address, array.byteLength).set(bytes);
  return address;
}
