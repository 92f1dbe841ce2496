import { rmSync } from "node:fs";
import { groupDigits } from "#bytes";
import {
  canBeCutByBytes,
  hasFields,
  type Input,
  KeptColumns,
  type KeptField,
  type KeptValue,
  type Range,
  type Task,
  wholeRange,
} from "#corpus";
import {
  appendIdToDocuments,
  type IdFormat,
  type IdSink,
  type IdType,
  type IdWriter,
  idFormats,
  idTypeFor,
} from "#ids";
import { assert, statOf, UserError } from "#runtime";
import {
  ChecksummedFile,
  checkOutputFile,
  type Guard,
  type Lock,
  placeOfFile,
  type RunInput,
  removeTrusted,
  stageFile,
  takeLockNow,
  WrittenPlaces,
  writeStaged,
} from "#store";
import { allAddedTokens, documentEndAmong, specialTokenId, type TokenizerParts } from "#tokenizer";
import { fingerprintOf } from "#training";
import { type EncodedFile, type EncodedText, type EncodeIntoOptions, encodeCorpus } from "./encode-corpus.ts";
import {
  checkContents,
  checkSizes,
  type ListedShards,
  type Manifest,
  manifestText,
  type Point,
  readManifest,
  type Shard,
  shardPaths,
  UnusableShards,
} from "./shard-manifest.ts";

/** The files that are asked for. */
export type AskedFiles = {
  /** The path without endings. */
  readonly base: string;
  readonly format: IdFormat;
  /** A shard ends with the document in which it gets so many ids; undefined: there is one, without a number. */
  readonly shardSize: number | undefined;
  /** The special token that ends documents in plain text; undefined: one with a name that is known. */
  readonly documentEnd: string | undefined;
  /** Fields of the records that stay beside their ids. */
  readonly keptFields?: readonly KeptField[] | undefined;
  /** Shards of another run are replaced, and damaged ones. */
  readonly ifChanged?: boolean | undefined;
};

/** What is locked: the files; of shards, what says which there are. */
export const pathsToLock = ({ base, format, shardSize }: AskedFiles): string[] =>
  shardSize === undefined ? format.endings.map((ending) => base + ending) : [`${base}.json`];

export type EncodedFiles = EncodedFile & {
  readonly documentCount: number;
  /** Shards, and how many of them were there before. */
  readonly fileCount: number;
  readonly formerFileCount: number;
  /** Documents without ids are counted, and not written. */
  readonly omitsEmpty: boolean;
  /** All were there. */
  readonly isUnchanged: boolean;
};

/** Encodes the inputs into the files of a format, from where shards that are there end. */
export async function encodeIntoFiles(
  encoding: EncodeIntoOptions,
  parts: TokenizerParts,
  asked: AskedFiles,
  guard: Guard,
  checking?: ReportShards,
): Promise<EncodedFiles> {
  const { inputs, ranges, type, appendId } = encoding;
  const { format, shardSize, documentEnd: typed, keptFields } = asked;
  if (format.hasDocuments && !isPart(format)) refuseParts(inputs, ranges, format);
  const plain = keptFields && inputs.find((input) => !hasFields(input.format));
  if (plain !== undefined)
    throw new UserError(`"${plain.path}": --keep-field is for records, and plain text has no fields`);
  const withFields = keptFields === undefined ? inputs : inputs.map((input) => ({ ...input, keptFields }));
  const documentEnd = typed ?? documentEndAmong(allAddedTokens(parts).map(({ content }) => content));
  const documentEndId =
    documentEnd === undefined ? undefined : specialTokenId(parts, documentEnd, "to end documents");
  const request = () => ({
    tokenizer: fingerprintOf(parts),
    ...{ format: format.name, type, shardSize, appendId, documentEndId, keptFields },
    inputs: inputs.map(factsOf),
    ranges,
    // What the types of ids in other formats depend on.
    ...(isPart(format) && { idLimit: parts.tokens.idLimit, idType: idTypeFor(parts) }),
  });
  const options = { ...asked, type, documentEndId, inputs, ranges, request, guard, checking };
  const files = await IdFiles.open(options);
  const { fileCount: formerFileCount, isDone: isUnchanged } = files;
  let encoded: EncodedText = { textBytes: 0, invalidByteCount: 0 };
  if (!isUnchanged) {
    try {
      const sink = appendId === undefined ? files : appendIdToDocuments(files, appendId);
      const rest = formerFileCount === 0 ? ranges : files.rest;
      encoded = await encodeCorpus({ ...encoding, inputs: withFields, ranges: rest }, sink, encoding.report);
      await files.finish();
    } catch (error) {
      await files.discard();
      throw error;
    }
  }
  const { idCount, documentCount, fileCount } = files;
  // With a token that is appended, each document has an id.
  const omitsEmpty = format.omitsEmpty === true && appendId === undefined;
  return { ...encoded, idCount, documentCount, fileCount, formerFileCount, omitsEmpty, isUnchanged };
}

/** A range of plain text may end within a document: its last ids would be in none. Records are whole in any range. */
function refuseParts(inputs: readonly Input[], ranges: readonly Range[] = [], { name }: IdFormat): void {
  const part = ranges.find(({ inputIndex, startByte, endByte }) => {
    const { format, sizeBytes } = inputs[inputIndex]!;
    return format === "text" && (startByte > 0 || endByte < sizeBytes);
  });
  if (part === undefined) return;
  throw new UserError(
    `a range of "${inputs[part.inputIndex]!.path}" may end within a document, and ${name} keeps documents`,
    { hint: "encode it to a part, for bpe ids join: --ids-format part" },
  );
}

/** Pieces of documents at its ends are whole when it is joined with others. */
export const isPart = ({ name }: IdFormat) => name === "part";

/** What tells an input from another. What a stream holds is not known, so that nothing can go on with it. */
function factsOf({ path, isStream, sizeBytes, modifiedMs, compression, format, textField }: Input) {
  const facts = { path, sizeBytes, modifiedMs, compression, format, ...(hasFields(format) && { textField }) };
  return isStream ? { ...facts, readAt: new Date().toISOString() } : facts;
}

/** How many bytes of the shards that are there were read. */
export type ReportShards = (done: number, total: number) => void;

/** Ids of documents, in the files of a format, and in shards of them. */
type IdFilesOptions = Omit<AskedFiles, "documentEnd"> & {
  readonly type: IdType;
  /** In a text that is no record, documents also end behind this id. */
  readonly documentEndId: number | undefined;
  /** What is encoded; or else what is read, and then there are no tasks. */
  readonly inputs: readonly (Input | RunInput)[];
  readonly ranges?: readonly Range[] | undefined;
  /** All that decides what is in shards; JSON. */
  readonly request: () => object;
  readonly guard: Guard;
  readonly checking?: ReportShards | undefined;
};

const atStart: Point = {
  ...{ rangeIndex: 0, byte: 0, startsInside: false },
  ...{ ids: 0, documents: 0, isOpen: false, hasEnded: false },
};

export class IdFiles implements IdSink {
  /** Whether everything is in shards. */
  readonly isDone: boolean;
  private readonly ranges: readonly Range[];
  private readonly shards: Shard[];
  private readonly kept: KeptColumns;
  /** How many shards have been begun, and the one that is being written. */
  private begunCount: number;
  private shard: OpenShard | undefined;
  /** Shards that are whole are published one after the other, in the background. */
  private publishing: Promise<void> | undefined;
  private error: unknown;
  /** Where the task that is being written began; and ids and documents since then. */
  private point: Point;
  /** Ids and documents of that task that are in shards already. */
  private skippedIds: number;
  private skippedDocuments: number;
  private isOpen: boolean;
  private hasEnded: boolean;

  /** Looks at the shards that are there. A UserError if they are of another run, not whole, or another user's. */
  static async open(options: IdFilesOptions): Promise<IdFiles> {
    if (options.shardSize === undefined) return new IdFiles(options, {}, undefined);
    keepFrom([manifestPathOf(options)], options.inputs);
    const request = JSON.parse(JSON.stringify(options.request()));
    return new IdFiles(options, request, await manifestOf(options, request));
  }

  private constructor(
    private readonly options: IdFilesOptions,
    private readonly request: object,
    manifest: Manifest | undefined,
  ) {
    const { inputs, ranges = (inputs as Input[]).map(wholeRange) } = options;
    this.ranges = ranges;
    this.shards = [...(manifest?.shards ?? [])];
    this.begunCount = this.shards.length;
    this.isDone = manifest?.next === null;
    this.kept = new KeptColumns(options.keptFields ?? [], manifest?.keptKinds);
    const { ids, documents, ...place } = manifest?.next ?? atStart;
    [this.skippedIds, this.skippedDocuments] = [ids, documents];
    [this.isOpen, this.hasEnded] = [place.isOpen, place.hasEnded];
    this.point = { ...place, ids: 0, documents: 0 };
    for (const path of this.pathsOf(this.begunCount)) {
      checkOutputFile(path);
      if (placeOfFile(path) === null)
        throw new UserError(`"${path}" cannot be written: it is not a regular file`, { hint: "name a file" });
    }
  }

  /** What is not in shards. */
  get rest(): readonly Range[] {
    const { rangeIndex, byte, startsInside } = this.point;
    const [first, ...others] = this.ranges.slice(rangeIndex);
    if (first === undefined || byte === 0) return this.ranges.slice(rangeIndex);
    return [{ ...first, startByte: byte, startsInside }, ...others];
  }

  /** Whether going on means to write the same again, and leave out what is in shards. */
  get isAtStart(): boolean {
    return this.point.rangeIndex === 0 && this.point.byte === 0;
  }

  get fileCount(): number {
    return this.shards.length;
  }

  /** Of all shards. */
  get idCount(): number {
    return this.shards.reduce((sum, { ids }) => sum + ids, 0);
  }

  get documentCount(): number {
    return this.shards.reduce((sum, { documents }) => sum + documents, 0);
  }

  write(ids: Uint16Array | Uint32Array, recordEnds?: Uint32Array, kept: readonly KeptValue[] = []): void {
    this.throwError();
    const ends = recordEnds ?? endsBehind(ids, this.options.documentEndId);
    const { length: width } = this.kept.fields;
    assert(width === 0 || kept.length === width * ends.length, "each record has its kept fields");
    let from = Math.min(this.skippedIds, ids.length);
    let first = Math.min(this.skippedDocuments, ends.length);
    this.skippedIds -= from;
    this.skippedDocuments -= first;
    const { shardSize = Number.POSITIVE_INFINITY } = this.options;
    for (let isFull = true; isFull; ) {
      const room = shardSize - (this.shard?.idCount ?? 0);
      let last = first;
      while (last < ends.length && ends[last]! - from < room) last++;
      isFull = last < ends.length;
      const [to, next] = isFull ? [ends[last]!, last + 1] : [ids.length, last];
      if (to > from || next > first) {
        const inPart = ends.subarray(first, next).map((end) => end - from);
        this.opened().write(ids.subarray(from, to), inPart, kept.slice(width * first, width * next));
      }
      if (isFull) this.endShard(this.pointBehind(to, next));
      [from, first] = [to, next];
    }
    this.isOpen = ids.length > (ends.at(-1) ?? 0) || (this.isOpen && ends.length === 0);
    this.hasEnded ||= ends.length > 0;
    this.point = this.pointBehind(ids.length, ends.length);
  }

  /** A text that is no record ends, and with it a document. But one that ended there already begins no other. */
  endInput(): void {
    if (this.hasEnded && !this.isOpen) return;
    this.write(new Uint16Array(0), Uint32Array.of(0));
  }

  endTask({ endsInput, endByte, endsInside, inputIndex }: Task): void {
    if (endsInput) [this.isOpen, this.hasEnded] = [false, false];
    const { rangeIndex } = this.point;
    const isCut = canBeCutByBytes(this.options.inputs[inputIndex] as Input);
    const endsRange = isCut ? endByte === this.ranges[rangeIndex]!.endByte : endsInput;
    // What is read in order, or as pages, begins anew with its first byte.
    if (!endsRange && !isCut) return;
    const place = endsRange
      ? { rangeIndex: rangeIndex + 1, byte: 0, startsInside: false }
      : { rangeIndex, byte: endByte, startsInside: endsInside };
    this.point = { ...place, ids: 0, documents: 0, isOpen: this.isOpen, hasEnded: this.hasEnded };
  }

  drain(): Promise<void> | undefined {
    return this.publishing;
  }

  /** Publishes what is left. The last shard may be small; of nothing there is one that is empty. */
  async finish(): Promise<void> {
    if (this.begunCount === 0) this.opened();
    this.endShard(null);
    await this.publishing;
    this.throwError();
  }

  /** Ends with nothing half written: what is being published is published. */
  async discard(): Promise<void> {
    this.shard?.discard();
    await this.publishing;
  }

  private pointBehind(ids: number, documents: number): Point {
    const { point } = this;
    return { ...point, ids: point.ids + ids, documents: point.documents + documents };
  }

  private opened(): OpenShard {
    this.shard ??= new OpenShard(this.options, this.pathsOf(this.begunCount++), this.kept);
    return this.shard;
  }

  /** Publishes the shard, if there is one, behind those before it. `next`: where to go on; null: nowhere. */
  private endShard(next: Point | null): void {
    const { shard } = this;
    this.shard = undefined;
    // Here, and not where it is written: that comes later, and the next values may be there first.
    this.kept.settled();
    const before = this.publishing ?? Promise.resolve();
    const publish = async () => {
      await before;
      // Behind one that is missing, none is published.
      this.throwError();
      // Of what the first is has to be known before it is there.
      const isFirst = this.options.shardSize !== undefined && this.shards.length === 0;
      if (isFirst) await this.writeManifest(atStart);
      if (shard !== undefined) this.shards.push(await shard.publish());
      if (this.options.shardSize !== undefined) await this.writeManifest(next);
    };
    const done = publish().catch((error) => {
      shard?.discard();
      this.error ??= error;
    });
    this.publishing = done.then(() => {
      if (this.publishing === here) this.publishing = undefined;
    });
    const here = this.publishing;
  }

  private throwError(): void {
    if (this.error !== undefined) throw this.error;
  }

  private pathsOf(shard: number): string[] {
    const { base, format, shardSize } = this.options;
    if (shardSize !== undefined) return shardPaths(base, format, shard);
    return format.endings.map((ending) => base + ending);
  }

  private writeManifest(next: Point | null): Promise<void> {
    const { request, shards, kept } = this;
    const keptKinds = kept.fields.length > 0 ? kept.kinds : undefined;
    const isOpen = next === null && this.isOpen ? true : undefined;
    const text = manifestText({ request, shards, next, isOpen, keptKinds });
    return writeStaged(manifestPathOf(this.options), this.options.guard, async (file) => {
      file.write(new TextEncoder().encode(text));
    });
  }
}

const manifestPathOf = ({ base }: IdFilesOptions) => `${base}.json`;

/** The manifest of the shards that are there, which are as it says; undefined: there are none, or none any more. */
async function manifestOf(options: IdFilesOptions, request: object): Promise<Manifest | undefined> {
  const { base, format, ifChanged, checking } = options;
  const path = manifestPathOf(options);
  const first = shardPaths(base, format, 0)[0]!;
  const isThere = statOf(first) !== undefined;
  const hint = `remove it and "${base}_*" to begin anew, or choose another name`;
  if (statOf(path) === undefined) {
    if (!isThere) return undefined;
    throw new UserError(`"${first}" is there, but not "${path}", which says of what it is`, {
      hint: `remove "${base}_*", or choose another name`,
    });
  }
  let listed: ListedShards | undefined;
  try {
    const manifest = readManifest(path, hint);
    listed = { manifest, path, base, format, hint };
    const differs = differing(manifest.request, request);
    if (differs !== undefined) throw new UnusableShards(`"${path}" is of another run: ${differs}`, { hint });
    checkSizes(listed);
    await checkContents(listed, undefined, checking);
    return manifest;
  } catch (error) {
    // Without a shard, a file of this name may be anything.
    const isOurs = listed !== undefined || isThere;
    if (!(error instanceof UnusableShards && ifChanged && isOurs)) throw error;
    removeShards(options, listed?.manifest);
    return undefined;
  }
}

/**
 * Removes shards, also one that is not listed yet, and the manifest last: as long as it is there, these are known to be of
 * another run. What is listed nowhere is removed as far as it is numbered without a gap, the last first.
 */
function removeShards({ base, format, inputs }: IdFilesOptions, manifest: Manifest | undefined): void {
  const former = idFormats.find(({ name }) => name === (manifest?.request as { format?: unknown })?.format);
  const pathsOf = (n: number) => [format, former ?? format].flatMap((each) => shardPaths(base, each, n));
  let count = manifest === undefined ? 0 : manifest.shards.length + 1;
  while (pathsOf(count).some((path) => statOf(path) !== undefined)) count++;
  const paths = Array.from({ length: count }, (_, n) => pathsOf(count - 1 - n)).flat();
  keepFrom(paths, inputs);
  for (const path of paths) removeTrusted(path);
  removeTrusted(`${base}.json`);
}

/** What of a request is another, in words; undefined: nothing. */
export function differing(former: object, request: object): string | undefined {
  // An option that is not given is not there.
  for (const name of Object.keys({ ...former, ...request })) {
    const [was, value] = [former, request].map((one) => (one as Record<string, unknown>)[name]);
    if (JSON.stringify(was) === JSON.stringify(value)) continue;
    const isShort = typeof value !== "object" && typeof was !== "object";
    return isShort ? `${name} was ${was ?? "none"}, and is ${value ?? "none"} here` : `${name} were others`;
  }
  return undefined;
}

/** Positions behind each occurrence of an id. */
function endsBehind(ids: Uint16Array | Uint32Array, id: number | undefined): Uint32Array {
  const ends: number[] = [];
  if (id === undefined) return Uint32Array.from(ends);
  for (let at = ids.indexOf(id); at >= 0; at = ids.indexOf(id, at + 1)) ends.push(at + 1);
  return Uint32Array.from(ends);
}

const keepFrom = (paths: readonly string[], read: readonly RunInput[]) =>
  new WrittenPlaces(paths.map((path) => ({ name: `"${path}"`, path, kind: "file" }))).refuseOverlap(read);

/** A shard while it is written, beside its place. */
class OpenShard {
  private documentCount = 0;
  private readonly files: ReturnType<typeof stageFile>[] = [];
  private readonly checked: ChecksummedFile[] = [];
  private readonly locks: Lock[] = [];
  private readonly writer: IdWriter;
  private readonly unregister: () => void;

  constructor(
    private readonly options: IdFilesOptions,
    private readonly paths: readonly string[],
    kept: KeptColumns,
  ) {
    const { format, type, guard, inputs, shardSize } = options;
    keepFrom(paths, inputs);
    this.unregister = guard(() => this.discard());
    try {
      // Whoever holds the place of a shard may remove what a run that was killed left beside it.
      const places = shardSize === undefined ? [] : paths.map(placeOfFile).filter((place) => place !== null);
      for (const place of places) this.locks.push(takeLockNow(place));
      for (const path of paths) this.files.push(stageFile(path));
      // Without a manifest nobody looks at them.
      if (shardSize !== undefined) this.checked = this.files.map((file) => new ChecksummedFile(file));
      this.writer = format.open(shardSize === undefined ? this.files : this.checked, type, kept);
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  get idCount(): number {
    return this.writer.idCount;
  }

  write(ids: Uint16Array | Uint32Array, ends: Uint32Array, kept: readonly KeptValue[]): void {
    this.writer.write(ids, ends, kept);
    this.documentCount += ends.length;
    const { name, idCountMax = Number.POSITIVE_INFINITY } = this.options.format;
    if (this.idCount <= idCountMax) return;
    throw new UserError(`a file of the format ${name} may have ${groupDigits(idCountMax)} ids`, {
      hint: "write several: --shard-size 100M",
    });
  }

  /** Puts its files in their places: the ids first. Until the others are there, too, none of them belongs to other ids. */
  async publish(): Promise<Shard> {
    this.writer.finish();
    for (const file of this.files) await file.settle();
    for (const path of this.paths.slice(1)) rmSync(path, { force: true });
    for (const file of this.files) file.publish();
    this.unregister();
    for (const lock of this.locks) lock.release();
    const sizesBytes = this.paths.map((path) => statOf(path)!.size);
    const checksums = this.checked.map(({ checksum }) => checksum.value);
    return { ids: this.idCount, documents: this.documentCount, sizesBytes, checksums };
  }

  discard(): void {
    this.unregister();
    for (const file of this.files) file.discard();
    for (const lock of this.locks) lock.release();
  }
}
