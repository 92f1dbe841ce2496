import { rmSync } from "node:fs";
import { groupDigits } from "#bytes";
import { corpusInputs, type Input, keptField, type Range, type tasks } from "#corpus";
import { corpusEncoding } from "#encoding";
import { idFormats, idWriters } from "#ids";
import { asOption, assert, files, type Message, messages, phrase, shell, UserError } from "#runtime";
import { fileChecksum, outputLock, stagedFile, trustedFiles, writtenPlaces } from "#store";
import { digestOfParts, type TokenizerParts, tokenizers } from "#tokenizer";
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

/** The requested files of ids. */
export type AskedFiles = {
  /** The path without number and ending. */
  readonly base: string;
  readonly format: idFormats.IdFormat;
  /**
   * The ids are written in *shards*, which have numbered names. A shard ends with the document that reaches this many
   * ids. If undefined, there is only one shard, whose name has no number.
   */
  readonly shardSize: number | undefined;
  /**
   * The special token that ends documents in plain text. If undefined, this is a token with a usual name, if the
   * tokenizer has one.
   */
  readonly documentEnd: string | undefined;
  /** Fields of records that are stored next to the ids of each record. */
  readonly keptFields?: readonly keptField.Field[] | undefined;
  /** Whether to replace damaged shards, and shards of another run. */
  readonly ifChanged?: boolean | undefined;
};

/** Returns the paths to lock: those of the files or, for numbered shards, that of the manifest (shard-manifest.ts). */
export const pathsToLock = ({ base, format, shardSize }: AskedFiles): string[] =>
  shardSize === undefined ? format.endings.map((ending) => base + ending) : [`${base}.json`];

export type EncodedFiles = corpusEncoding.EncodedFile & {
  readonly documentCount: number;
  /** The number of shards. */
  readonly fileCount: number;
  /** How many of the shards existed before. */
  readonly formerFileCount: number;
  /** Whether documents without ids are counted, but not written. */
  readonly omitsEmpty: boolean;
  /** Whether all shards existed before. */
  readonly isUnchanged: boolean;
};

/** Encodes the inputs into files of a format. Continues after existing shards. */
export async function encodeIntoFiles(
  encoding: corpusEncoding.EncodeIntoOptions,
  parts: TokenizerParts,
  asked: AskedFiles,
  guard: stagedFile.Guard,
  checking?: ReportShards,
): Promise<EncodedFiles> {
  const { inputs, ranges, type, appendId } = encoding;
  const { format, shardSize, documentEnd: typed, keptFields } = asked;
  if (format.hasDocuments && !isPart(format)) refuseParts(inputs, ranges, format);
  const plain = keptFields && inputs.find((input) => !corpusInputs.hasFields(input.format));
  if (plain !== undefined) throw noFieldsError(plain.path);
  const withFields = keptFields === undefined ? inputs : inputs.map((input) => ({ ...input, keptFields }));
  const documentEndId = tokenizers.findDocumentEndId(parts, typed);
  const request = () => ({
    tokenizer: digestOfParts(parts),
    ...{ format: format.name, type, shardSize, appendId, documentEndId, keptFields },
    inputs: inputs.map(factsOf),
    ranges,
    // From these two fields, `bpe ids join` derives the id type of the files that it writes.
    ...(isPart(format) && { idLimit: parts.tokens.idLimit, idType: idWriters.typeFor(parts) }),
  });
  const options = { ...asked, type, documentEndId, inputs, ranges, request, guard, checking };
  const files = await IdFiles.open(options);
  const { fileCount: formerFileCount, isDone: isUnchanged } = files;
  let encoded: corpusEncoding.EncodedText = { textBytes: 0, invalidByteCount: 0 };
  if (!isUnchanged) {
    try {
      const sink = appendId === undefined ? files : idWriters.appendToDocuments(files, appendId);
      const rest = formerFileCount === 0 ? ranges : files.rest;
      encoded = await corpusEncoding.encodeCorpus(
        { ...encoding, inputs: withFields, ranges: rest },
        sink,
        encoding.report,
      );
      await files.finish();
    } catch (error) {
      await files.discard();
      throw error;
    }
  }
  const { idCount, documentCount, fileCount } = files;
  // If a token is appended to each document, no document is without ids.
  const omitsEmpty = format.omitsEmpty === true && appendId === undefined;
  return { ...encoded, idCount, documentCount, fileCount, formerFileCount, omitsEmpty, isUnchanged };
}

const noFieldsError = (path: string) =>
  new UserError(
    phrase`${files.nameOf(path)} is read as plain text, which has no fields for ${asOption("keep-field")}`,
    {
      hint: phrase`leave out ${asOption("keep-field")}; if the file has records, ${messages.ifHas("input-format", "name", "make a plan with")} their format${messages.ifHas("input-format", ": ", ": bpe plan ")}${asOption("input-format", "NAME")}`,
    },
  );

/**
 * Throws a UserError for a range that is only a part of a plain text. Such a range may begin or end within a document,
 * but the format can store only whole documents.
 */
function refuseParts(
  inputs: readonly Input[],
  ranges: readonly Range[] = [],
  { name }: idFormats.IdFormat,
): void {
  const part = ranges.find(({ inputIndex, startByte, endByte }) => {
    const { format, sizeBytes } = inputs[inputIndex]!;
    return format === "text" && (startByte > 0 || endByte < sizeBytes);
  });
  if (part === undefined) return;
  throw new UserError(
    `a range of "${inputs[part.inputIndex]!.path}" may begin or end within a document, but files of the format ${name} contain whole documents`,
    {
      hint: phrase`encode the range with ${asOption("ids-format", "part")}, then join all parts with bpe ids join`,
    },
  );
}

/** Whether a format stores documents, but its files may begin and end within one. */
export const isPart = ({ name }: idFormats.IdFormat) => name === "part";

/**
 * Returns the facts that identify an input. The content of a stream is unknown, so the current time is added, and no
 * later run can continue with it.
 */
function factsOf({ path, isStream, sizeBytes, modifiedMs, compression, format, textField }: Input) {
  const facts = {
    path,
    sizeBytes,
    modifiedMs,
    compression,
    format,
    ...(corpusInputs.hasFields(format) && { textField }),
  };
  return isStream ? { ...facts, readAt: new Date().toISOString() } : facts;
}

/** Reports how many bytes of existing shards have been verified. */
export type ReportShards = (done: number, total: number) => void;

type IdFilesOptions = Omit<AskedFiles, "documentEnd"> & {
  readonly type: idWriters.IdType;
  /** The id after which a document ends in plain text, if there is one. */
  readonly documentEndId: number | undefined;
  /** What the run reads, which its files must not overwrite. */
  readonly inputs: readonly (Input | writtenPlaces.RunInput)[];
  readonly ranges?: readonly Range[] | undefined;
  /** Returns everything that determines the content of shards; it is stored as JSON. */
  readonly request: () => object;
  readonly guard: stagedFile.Guard;
  readonly checking?: ReportShards | undefined;
};

const atStart: Point = {
  ...{ rangeIndex: 0, byte: 0, startsInside: false },
  ...{ ids: 0, documents: 0, isOpen: false, hasEnded: false },
};

/** Writes ids into files of any format, possibly in shards. */
export class IdFiles implements idWriters.IdSink {
  /** Whether all ids are in shards that existed before. */
  readonly isDone: boolean;
  private readonly ranges: readonly Range[];
  private readonly shards: Shard[];
  private readonly kept: keptField.Columns;
  /** The number of shards that exist or were begun. */
  private begunCount: number;
  /** The shard that is being written. */
  private shard: OpenShard | undefined;
  /** The publication of complete shards, one after the other, in the background. */
  private publishing: Promise<void> | undefined;
  private error: unknown;
  /**
   * Where encoding could continue, and how many ids and documents after that position were written or skipped. The
   * position is the start of the current task. In an input that can be read only from its first byte, it is the start
   * of the task's range.
   */
  private point: Point;
  /** How many more ids to skip, because they are in existing shards. */
  private skippedIds: number;
  /** How many more documents to skip, because they are in existing shards. */
  private skippedDocuments: number;
  private isOpen: boolean;
  private hasEnded: boolean;

  /**
   * Verifies existing shards, and continues after them. Unusable shards are removed with `ifChanged`; otherwise they
   * are an error.
   */
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
    const { inputs, ranges = (inputs as Input[]).map(corpusInputs.wholeRange) } = options;
    this.ranges = ranges;
    this.shards = [...(manifest?.shards ?? [])];
    this.begunCount = this.shards.length;
    this.isDone = manifest?.next === null;
    this.kept = new keptField.Columns(options.keptFields ?? [], manifest?.keptKinds);
    const { ids, documents, ...place } = manifest?.next ?? atStart;
    [this.skippedIds, this.skippedDocuments] = [ids, documents];
    [this.isOpen, this.hasEnded] = [place.isOpen, place.hasEnded];
    this.point = { ...place, ids: 0, documents: 0 };
    for (const path of this.pathsOf(this.begunCount)) {
      stagedFile.checkOutputFile(path);
      if (stagedFile.placeOfFile(path) === null)
        throw new UserError(`"${path}" cannot be written: it is not a regular file`, {
          hint: "name a regular file, not a pipe or a device",
        });
    }
  }

  /** Returns the ranges still to encode, from `point` on. */
  get rest(): readonly Range[] {
    const { rangeIndex, byte, startsInside } = this.point;
    const [first, ...others] = this.ranges.slice(rangeIndex);
    if (first === undefined || byte === 0) return this.ranges.slice(rangeIndex);
    return [{ ...first, startByte: byte, startsInside }, ...others];
  }

  /** Whether `point` is at the start of the first range. */
  get isAtStart(): boolean {
    return this.point.rangeIndex === 0 && this.point.byte === 0;
  }

  get fileCount(): number {
    return this.shards.length;
  }

  /** The number of ids in all published shards. */
  get idCount(): number {
    return this.shards.reduce((sum, { ids }) => sum + ids, 0);
  }

  get documentCount(): number {
    return this.shards.reduce((sum, { documents }) => sum + documents, 0);
  }

  write(
    ids: Uint16Array | Uint32Array,
    recordEnds?: Uint32Array,
    kept: readonly keptField.Value[] = [],
  ): void {
    this.throwError();
    const ends = recordEnds ?? idWriters.endsAfter(ids, this.options.documentEndId);
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
        this.openNextShard().write(ids.subarray(from, to), inPart, kept.slice(width * first, width * next));
      }
      if (isFull) this.endShard(this.pointAfter(to, next));
      [from, first] = [to, next];
    }
    this.isOpen = ids.length > (ends.at(-1) ?? 0) || (this.isOpen && ends.length === 0);
    this.hasEnded ||= ends.length > 0;
    this.point = this.pointAfter(ids.length, ends.length);
  }

  /** Ends a text that is not a record. This also ends a document, unless one ended just before. */
  endInput(): void {
    if (this.hasEnded && !this.isOpen) return;
    this.write(new Uint16Array(0), Uint32Array.of(0));
  }

  endTask({ endsInput, endByte, endsInside, inputIndex }: tasks.Task): void {
    if (endsInput) [this.isOpen, this.hasEnded] = [false, false];
    const { rangeIndex } = this.point;
    const isCut = corpusInputs.canBeCutByBytes(this.options.inputs[inputIndex] as Input);
    const endsRange = isCut ? endByte === this.ranges[rangeIndex]!.endByte : endsInput;
    // Within a range, encoding can continue only in an input that can be read from any byte.
    if (!endsRange && !isCut) return;
    const place = endsRange
      ? { rangeIndex: rangeIndex + 1, byte: 0, startsInside: false }
      : { rangeIndex, byte: endByte, startsInside: endsInside };
    this.point = { ...place, ids: 0, documents: 0, isOpen: this.isOpen, hasEnded: this.hasEnded };
  }

  drain(): Promise<void> | undefined {
    return this.publishing;
  }

  /** Publishes the last shard. If there are no ids, publishes one empty shard. */
  async finish(): Promise<void> {
    if (this.begunCount === 0) this.openNextShard();
    this.endShard(null);
    await this.publishing;
    this.throwError();
  }

  /** Removes the unfinished shard, and waits for shards that are being published. */
  async discard(): Promise<void> {
    this.shard?.discard();
    await this.publishing;
  }

  private pointAfter(ids: number, documents: number): Point {
    const { point } = this;
    return { ...point, ids: point.ids + ids, documents: point.documents + documents };
  }

  private openNextShard(): OpenShard {
    this.shard ??= new OpenShard(this.options, this.pathsOf(this.begunCount++), this.kept);
    return this.shard;
  }

  /** Publishes the current shard after all earlier ones. `next` is where to continue; null at the end. */
  private endShard(next: Point | null): void {
    const { shard } = this;
    this.shard = undefined;
    // Fix the types of the columns now, before the shard is published in the background. Otherwise, values of the next
    // shard could still decide the type of a column that has only nulls so far.
    this.kept.fixKinds();
    const before = this.publishing ?? Promise.resolve();
    const publish = async () => {
      await before;
      // After a failure, no further shard is published.
      this.throwError();
      // The manifest must exist before the first shard.
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
    return stagedFile.write(manifestPathOf(this.options), this.options.guard, async (file) => {
      file.write(new TextEncoder().encode(text));
    });
  }
}

const manifestPathOf = ({ base }: IdFilesOptions) => `${base}.json`;

/**
 * Verifies existing shards, and returns their manifest. Returns undefined if there are none, or if they were
 * removed.
 */
async function manifestOf(options: IdFilesOptions, request: object): Promise<Manifest | undefined> {
  const { base, format, ifChanged, checking } = options;
  const path = manifestPathOf(options);
  const first = shardPaths(base, format, 0)[0]!;
  const isThere = files.stat(first) !== undefined;
  const hint = `to start over, remove "${path}" and the files "${base}_*"; or choose another name`;
  if (files.stat(path) === undefined) {
    if (!isThere) return undefined;
    throw new UserError(
      `"${first}" exists already, and there is no "${path}" that says how it was made, so it is not overwritten`,
      {
        hint: `remove the files "${base}_*", or choose another name`,
      },
    );
  }
  let listed: ListedShards | undefined;
  try {
    const otherHint = `choose another name: with ${shell.quoted(base)}, bpe would write "${path}"`;
    const manifest = readManifest(path, hint, otherHint);
    listed = { manifest, path, base, format, hint };
    const differs = describeDifference(manifest.request, request, [`in "${path}"`, "in this run"]);
    if (differs !== undefined)
      throw new UnusableShards(
        phrase`"${path}" belongs to a run whose options or inputs differ from those of this run: ${differs}`,
        {
          hint,
        },
      );
    checkSizes(listed);
    await checkContents(listed, undefined, checking);
    return manifest;
  } catch (error) {
    // If the file in place of the manifest is not a valid manifest, and there is no first shard either, the file may be
    // anything. So it is not removed.
    const isOurs = listed !== undefined || isThere;
    if (!(error instanceof UnusableShards && ifChanged && isOurs)) throw error;
    removeShards(options, listed?.manifest);
    return undefined;
  }
}

/**
 * Removes shards, the last one first, and then the manifest. So if the removal is interrupted, the next run with
 * `ifChanged` finds the manifest and removes the rest.
 */
function removeShards({ base, format, inputs }: IdFilesOptions, manifest: Manifest | undefined): void {
  const former = idFormats.entries.find(
    ({ name }) => name === (manifest?.request as { format?: unknown })?.format,
  );
  const pathsOf = (n: number) => [format, former ?? format].flatMap((each) => shardPaths(base, each, n));
  let count = manifest === undefined ? 0 : manifest.shards.length + 1;
  // There may be more shards than the manifest lists. They are removed, too, up to the first number without a file.
  while (pathsOf(count).some((path) => files.stat(path) !== undefined)) count++;
  const paths = Array.from({ length: count }, (_, n) => pathsOf(count - 1 - n)).flat();
  keepFrom(paths, inputs);
  for (const path of paths) trustedFiles.remove(path);
  trustedFiles.remove(`${base}.json`);
}

/**
 * Describes the first difference between two requests; undefined if they are equal. `[there, here]` name the two
 * requests.
 */
export function describeDifference(
  former: object,
  request: object,
  [there, here]: readonly [string, string],
): Message | undefined {
  // The keys of both requests are compared, because an option that was not given has no key.
  for (const key of Object.keys({ ...former, ...request })) {
    const [was, value] = [former, request].map((one) => (one as Record<string, unknown>)[key]);
    if (JSON.stringify(was) === JSON.stringify(value)) continue;
    const name = settingNames.get(key) ?? key;
    const isShort = ![was, value].some((each) => typeof each === "object") && !hasDigest(key);
    return isShort
      ? phrase`${name} is ${String(was ?? "none")} ${there}, but ${String(value ?? "none")} ${here}`
      : phrase`${name} differs`;
  }
  return undefined;
}

/** What users call the settings of a request. */
const settingNames: ReadonlyMap<string, Message> = new Map<string, Message>([
  ["tokenizer", "the tokenizer"],
  ["format", asOption("ids-format")],
  ["type", asOption("dtype")],
  ["shardSize", asOption("shard-size")],
  ["appendId", phrase`the id of ${asOption("append-token")}`],
  ["documentEndId", phrase`the id of ${asOption("document-end")}`],
  ["keptFields", asOption("keep-field")],
  ["inputs", "the list of inputs, or the size or time of an input,"],
  ["ranges", "the list of ranges"],
  ["idLimit", "the size of the tokenizer"],
  ["idType", "the type of ids that the tokenizer needs"],
]);

/** Whether a setting is a digest, which tells users nothing. */
const hasDigest = (key: string) => key === "tokenizer";

const keepFrom = (paths: readonly string[], read: readonly writtenPlaces.RunInput[]) =>
  new writtenPlaces.WrittenPlaces(
    paths.map((path) => ({ name: `"${path}"`, path, kind: "file" })),
  ).refuseOverlap(read);

/** A shard that is being written, next to its final place. */
class OpenShard {
  private documentCount = 0;
  private readonly files: ReturnType<typeof stagedFile.stage>[] = [];
  private readonly checked: fileChecksum.ChecksummedFile[] = [];
  private readonly locks: outputLock.Lock[] = [];
  private readonly writer: idWriters.IdWriter;
  private readonly unregister: () => void;

  constructor(
    private readonly options: IdFilesOptions,
    private readonly paths: readonly string[],
    kept: keptField.Columns,
  ) {
    const { format, type, guard, inputs, shardSize } = options;
    keepFrom(paths, inputs);
    this.unregister = guard(() => this.discard());
    try {
      // Each numbered shard is locked first, because only the holder of its lock may remove what a killed run left next
      // to it.
      const places =
        shardSize === undefined ? [] : paths.map(stagedFile.placeOfFile).filter((place) => place !== null);
      for (const place of places) this.locks.push(outputLock.takeNow(place));
      for (const path of paths) this.files.push(stagedFile.stage(path));
      // Checksums are written into the manifest, so they are needed only with one.
      if (shardSize !== undefined)
        this.checked = this.files.map((file) => new fileChecksum.ChecksummedFile(file));
      this.writer = format.open(shardSize === undefined ? this.files : this.checked, type, kept);
    } catch (error) {
      this.discard();
      throw error;
    }
  }

  get idCount(): number {
    return this.writer.idCount;
  }

  write(ids: Uint16Array | Uint32Array, ends: Uint32Array, kept: readonly keptField.Value[]): void {
    this.writer.write(ids, ends, kept);
    this.documentCount += ends.length;
    const { name, idCountMax = Number.POSITIVE_INFINITY } = this.options.format;
    if (this.idCount <= idCountMax) return;
    throw new UserError(
      `"${this.paths[0]}" would have more than ${groupDigits(idCountMax)} ids, the most that the format ${name} allows in a file`,
      {
        hint: messages.ifHas(
          "shard-size",
          phrase`write several files, e.g. with ${asOption("shard-size", "100M")}`,
          "write .npy or .bin, which have no such limit",
        ),
      },
    );
  }

  /** Publishes the files of a shard, the ids first. */
  async publish(): Promise<Shard> {
    this.writer.finish();
    for (const file of this.files) await file.settle();
    // Companion files of a former shard are removed first, so that they are never found next to the new ids.
    for (const path of this.paths.slice(1)) rmSync(path, { force: true });
    for (const file of this.files) file.publish();
    this.unregister();
    for (const lock of this.locks) lock.release();
    const sizesBytes = this.paths.map((path) => files.stat(path)!.size);
    const checksums = this.checked.map(({ checksum }) => checksum.value);
    return { ids: this.idCount, documents: this.documentCount, sizesBytes, checksums };
  }

  discard(): void {
    this.unregister();
    for (const file of this.files) file.discard();
    for (const lock of this.locks) lock.release();
  }
}
