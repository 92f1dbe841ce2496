import { rmSync } from "node:fs";
import { grouped } from "../bytes/quantities.ts";
import {
  type Checked,
  checkOr,
  fieldsOf,
  flag,
  listOf,
  Mismatch,
  oneOf,
  optional,
  orNull,
  wholeNumber,
} from "../bytes/schema.ts";
import { canBeCutByBytes, hasFields, type Input, type Range, wholeRange } from "../corpus/input.ts";
import { KeptColumns, type KeptField, type KeptValue, keptKinds } from "../corpus/records/kept-fields.ts";
import type { Task } from "../corpus/task.ts";
import { assert, UserError } from "../errors.ts";
import type { IdFormat } from "../formats/id-formats.ts";
import { appending, type IdSink, type IdType, type IdWriter, idTypeFor } from "../formats/id-writers.ts";
import { readJson } from "../formats/training-json.ts";
import { isFile, statOf } from "../runtime/system-error.ts";
import { type Lock, takeLockNow } from "../store/output-lock.ts";
import { checkOutputFile, type Guard, placeOfFile, stageFile, writeStaged } from "../store/staged-file.ts";
import { type Read, WrittenPlaces } from "../store/written-places.ts";
import { allAddedTokens, specialTokenId, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { documentEndAmong } from "../vocabulary/model-settings.ts";
import { type EncodedFile, type EncodedText, type EncodeIntoOptions, encodeCorpus } from "./encode-corpus.ts";
import { fingerprintOf } from "./tokenizer-facts.ts";

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
  /** Shards of another run are replaced. */
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
  /** All were there. */
  readonly isUnchanged: boolean;
};

/** Encodes the inputs into the files of a format, from where shards that are there end. */
export async function encodeIntoFiles(
  encoding: EncodeIntoOptions,
  parts: TokenizerParts,
  asked: AskedFiles,
  guard: Guard,
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
  const files = new IdFiles({ ...asked, type, documentEndId, inputs, ranges, request, guard });
  const { fileCount: formerFileCount, isDone: isUnchanged } = files;
  let encoded: EncodedText = { textBytes: 0, invalidByteCount: 0 };
  if (!isUnchanged) {
    try {
      const sink = appendId === undefined ? files : appending(files, appendId);
      const rest = formerFileCount === 0 ? ranges : files.rest;
      encoded = await encodeCorpus({ ...encoding, inputs: withFields, ranges: rest }, sink, encoding.report);
      await files.finish();
    } catch (error) {
      await files.discard();
      throw error;
    }
  }
  const { idCount, documentCount, fileCount } = files;
  return { ...encoded, idCount, documentCount, fileCount, formerFileCount, isUnchanged };
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

/** Ids of documents, in the files of a format, and in shards of them. */
type IdFilesOptions = Omit<AskedFiles, "documentEnd"> & {
  readonly type: IdType;
  /** In a text that is no record, documents also end behind this id. */
  readonly documentEndId: number | undefined;
  /** What is encoded; or else what is read, and then there are no tasks. */
  readonly inputs: readonly (Input | Read)[];
  readonly ranges?: readonly Range[] | undefined;
  /** All that decides what is in shards; JSON. */
  readonly request: () => object;
  readonly guard: Guard;
};

const count = wholeNumber(0);

/** A shard that is there as a whole. */
const shard = fieldsOf({ ids: count, documents: count, sizesBytes: listOf(count) });
type Shard = Checked<typeof shard>;

/** Where encoding goes on behind a shard: at a byte that is a safe cut, where so many ids and documents are in shards already. */
const point = fieldsOf({
  /** Of the ranges that are encoded, in their order. */
  rangeIndex: count,
  byte: count,
  startsInside: flag,
  ids: count,
  documents: count,
  /** Whether ids wait for their document's end there, and whether a document of the text has ended. */
  isOpen: flag,
  hasEnded: flag,
});
type Point = Checked<typeof point>;

const manifestFormat = 1;

/** `NAME.json`, beside shards: what they are of, which are there, and where to go on; null: all is encoded. */
const manifestFields = fieldsOf({
  format: wholeNumber(manifestFormat, manifestFormat),
  request: (value: unknown, name: string) => {
    if (typeof value === "object" && value !== null) return value;
    throw new Mismatch(value, name, "not an object");
  },
  shards: listOf(shard),
  next: orNull(point),
  /** At the end of ranges: the last document goes on behind them. */
  isOpen: optional(flag),
  /** What the columns of fields hold. */
  keptKinds: optional(listOf(orNull(oneOf(keptKinds)))),
});
export type Manifest = Checked<typeof manifestFields>;

export const readManifest = (path: string): Manifest =>
  checkOr(manifestFields, readJson(path), (what) => {
    throw new UserError(`"${path}" is no manifest of shards: ${what}`, { hint: "choose another name" });
  });

/**
 * Refuses a shard whose manifest says that another tokenizer has encoded it. Nothing is known of other files. Special tokens that
 * were encoded as text are decoded alike.
 */
export function checkEncodedBy(parts: TokenizerParts, path: string): void {
  const manifestPath = `${/^(.*)_\d{5,}\.\w+$/s.exec(path)?.[1]}.json`;
  const encodedBy = isFile(manifestPath) ? encoderIn(manifestPath) : undefined;
  if (encodedBy === undefined) return;
  const isOwn = [false, true].some(
    (specialTokensAsText) => fingerprintOf({ ...parts, specialTokensAsText }) === encodedBy,
  );
  if (isOwn) return;
  throw new UserError(`"${path}" has ids of another tokenizer than "${parts.description.path}"`, {
    hint: `"${manifestPath}" says so: give the tokenizer that encoded it`,
  });
}

/** The fingerprint of the tokenizer in a manifest; undefined for any other file of this name. */
function encoderIn(path: string): string | undefined {
  try {
    const { request } = readManifest(path);
    const { tokenizer } = request as { readonly tokenizer?: unknown };
    return typeof tokenizer === "string" ? tokenizer : undefined;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

const atStart: Point = {
  ...{ rangeIndex: 0, byte: 0, startsInside: false },
  ...{ ids: 0, documents: 0, isOpen: false, hasEnded: false },
};

export class IdFiles implements IdSink {
  /** Whether everything is in shards. */
  readonly isDone: boolean;
  private readonly ranges: readonly Range[];
  private readonly shards: Shard[];
  private readonly request: object;
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

  /** Looks at the shards that are there. A UserError if they are of another run, or not whole. */
  constructor(private readonly options: IdFilesOptions) {
    const { inputs, ranges = (inputs as Input[]).map(wholeRange), shardSize } = options;
    this.ranges = ranges;
    this.request = shardSize === undefined ? {} : JSON.parse(JSON.stringify(options.request()));
    if (shardSize !== undefined) keepFrom([this.manifestPath], inputs);
    const manifest = shardSize === undefined ? undefined : this.readManifest();
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

  drained(): Promise<void> | undefined {
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

  private get manifestPath(): string {
    return `${this.options.base}.json`;
  }

  private writeManifest(next: Point | null): Promise<void> {
    const { request, shards, kept } = this;
    const keptKinds = kept.fields.length > 0 ? kept.kinds : undefined;
    const isOpen = next === null && this.isOpen ? true : undefined;
    const manifest: Manifest = { format: manifestFormat, request, shards, next, isOpen, keptKinds };
    return writeStaged(this.manifestPath, this.options.guard, async (file) => {
      file.write(new TextEncoder().encode(`${JSON.stringify(manifest, null, 1)}\n`));
    });
  }

  private readManifest(): Manifest | undefined {
    const { manifestPath: path } = this;
    const first = this.pathsOf(0)[0]!;
    const beginAnew = `remove it and "${this.options.base}_*" to begin anew, or choose another name`;
    if (statOf(path) === undefined) {
      if (statOf(first) === undefined) return undefined;
      throw new UserError(`"${first}" is there, but not "${path}", which says of what it is`, {
        hint: `remove "${this.options.base}_*", or choose another name`,
      });
    }
    const manifest = readManifest(path);
    const differs = differing(manifest.request, this.request);
    if (differs !== undefined && this.options.ifChanged) return this.removeShards(manifest);
    if (differs !== undefined)
      throw new UserError(`"${path}" is of another run: ${differs}`, { hint: beginAnew });
    checkShards(manifest, path, this.options, beginAnew);
    return manifest;
  }

  /** The manifest goes last: as long as it is there, these are known to be of another run. One shard may not be listed yet. */
  private removeShards({ shards }: Manifest): undefined {
    for (let n = 0; n <= shards.length; n++)
      for (const path of this.pathsOf(n)) rmSync(path, { force: true });
    rmSync(this.manifestPath, { force: true });
  }
}

export const shardPaths = (base: string, { endings }: IdFormat, shard: number): string[] =>
  endings.map((ending) => `${base}_${String(shard).padStart(5, "0")}${ending}`);

/** Refuses shards that are not as their manifest says. */
export function checkShards(
  { shards }: Manifest,
  path: string,
  { base, format }: Pick<AskedFiles, "base" | "format">,
  hint: string,
): void {
  for (const [i, { sizesBytes }] of shards.entries()) {
    for (const [f, shardPath] of shardPaths(base, format, i).entries()) {
      if (statOf(shardPath)?.size === sizesBytes[f]) continue;
      const state = statOf(shardPath) === undefined ? "is missing" : "has another size";
      throw new UserError(`"${shardPath}" ${state}, but "${path}" lists it`, { hint });
    }
  }
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

const keepFrom = (paths: readonly string[], read: readonly Read[]) =>
  new WrittenPlaces(paths.map((path) => ({ name: `"${path}"`, path, kind: "file" }))).keepFrom(read);

/** A shard while it is written, beside its place. */
class OpenShard {
  private documentCount = 0;
  private readonly files: ReturnType<typeof stageFile>[] = [];
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
      this.writer = format.open(this.files, type, kept);
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
    throw new UserError(`a file of the format ${name} may have ${grouped(idCountMax)} ids`, {
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
    return { ids: this.idCount, documents: this.documentCount, sizesBytes };
  }

  discard(): void {
    this.unregister();
    for (const file of this.files) file.discard();
    for (const lock of this.locks) lock.release();
  }
}
