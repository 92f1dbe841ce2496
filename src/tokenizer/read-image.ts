import { crc32 } from "node:zlib";
import { schema } from "#bytes";
import { compiledPatterns } from "#pattern";
import { kernels, UserError } from "#runtime";
import { normalForms } from "#text";
import {
  droppedByte,
  type EncodingModel,
  type FirstCharacters,
  type PackedTokens,
} from "./encoding-model.ts";
import { flagsAt, type ImagePart, type ImageSettings, imageParts, imageVersion, partsAt } from "./image.ts";
import { imageDigest } from "./image-digest.ts";
import * as imageFile from "./image-file.ts";
import { filledBytesMax, isListed, variableKey } from "./laid-out-model.ts";
import { idLimitMax, type TokenTable } from "./token-table.ts";
import { fitNarrowIds, type TokenizerParts } from "./tokenizer-parts.ts";

/**
 * Reads a tokenizer from its image (image.ts). Throws a UserError for an image that is damaged or of another build.
 * Positions and sizes are checked before they are used.
 */
export function partsOfImage(image: Uint8Array, path: string): TokenizerParts {
  const refuse = (what: string): never => {
    throw new UserError(`"${path}" ${what}`, { hint: "make it again with bpe image" });
  };
  const damaged = (): never => refuse("is a damaged tokenizer image");
  const head = readHead(image, path, refuse, damaged);
  const settings = readSettings(head.parts.settings, damaged);
  const memory = new ImageMemory(head.parts, damaged);
  const model = readModel(memory, head.hasMarks, damaged);
  const tokens = readTokens(head, settings, damaged);
  if (model.idLimit > tokens.idLimit) damaged();
  const { tokenFacts: _, description, ...rest } = settings;
  const added = [...settings.addedTokens, ...(settings.controlTokens ?? [])];
  const { before = [], after = [] } = settings.postProcessing ?? {};
  const addedIds = [...added.map(({ id }) => id), ...before, ...after];
  if (addedIds.some((id) => id >= tokens.idLimit)) damaged();
  if (settings.isNarrow && !fitNarrowIds(model.idLimit - 1, added)) damaged();
  const pattern = compiledPatterns.compile(description.patternSources);
  return { ...rest, model, tokens, pattern, description: { path, ...description } };
}

type Fail = () => never;

type ImageContents = Readonly<Record<ImagePart, Uint8Array<ArrayBuffer>>>;
type Head = {
  readonly parts: ImageContents;
  readonly hasMarks: boolean;
  readonly idLimit: number;
  readonly addedCount: number;
};

/** Checks the head, and returns copies of the parts. */
function readHead(image: Uint8Array, path: string, refuse: (what: string) => never, damaged: Fail): Head {
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength);
  if (image.length < partsAt + 8 * imageParts.length) return damaged();
  const magic = new TextDecoder("latin1").decode(image.subarray(0, imageFile.magic.length));
  if (magic !== imageFile.magic)
    throw new UserError(`"${path}" is not a tokenizer image`, { hint: "make an image with bpe image" });
  const isOwn = Buffer.compare(image.subarray(16, 32), imageDigest(kernels.readNative())) === 0;
  if (view.getUint32(8, true) !== imageVersion || !isOwn) refuse("is an image of another version of bpe");
  if (view.getUint32(12, true) !== crc32(image.subarray(16))) damaged();
  const parts = imageParts.map((name, i) => {
    const [start, size] = [view.getUint32(partsAt + 8 * i, true), view.getUint32(partsAt + 8 * i + 4, true)];
    if (start + size > image.length) damaged();
    return [name, new Uint8Array(image.subarray(start, start + size))] as const;
  });
  return {
    parts: Object.fromEntries(parts) as ImageContents,
    hasMarks: (view.getUint32(flagsAt, true) & hasMarksBit) !== 0,
    idLimit: view.getUint32(flagsAt + 4, true),
    addedCount: view.getUint32(flagsAt + 12, true),
  };
}

const hasMarksBit = 1 << 8;

const ids = schema.list(schema.wholeNumber(0, idLimitMax - 1));
const addedTokens = schema.list(
  schema.object({
    id: schema.wholeNumber(0, idLimitMax - 1),
    content: schema.text,
    special: schema.flag,
    normalized: schema.flag,
    lstrip: schema.flag,
    rstrip: schema.flag,
    singleWord: schema.flag,
  }),
);
const settingsCheck: schema.Check<unknown> = schema.object({
  isNarrow: schema.flag,
  normalization: schema.orNull(normalForms.check),
  addsPrefixSpace: schema.flag,
  prefixRule: schema.optional(
    schema.oneOf(["every section", "sections without mark", "start without mark", "start"] as const),
  ),
  isLinewise: schema.optional(schema.flag),
  addedTokens,
  controlTokens: schema.optional(addedTokens),
  postProcessing: schema.optional(
    schema.object({
      before: ids,
      after: ids,
      trims: schema.list(schema.flag),
      obstacle: schema.optional(schema.text),
    }),
  ),
  leadingSpaces: schema.optional(schema.oneOf(["one", "first token"] as const)),
  notes: schema.list(schema.text),
  description: schema.object({
    kind: schema.text,
    patternName: schema.orNull(schema.text),
    patternSources: schema.list(schema.text),
    decoder: schema.optional(schema.text),
    postProcessor: schema.optional(schema.text),
  }),
  tokenFacts: schema.object({
    tokenCount: schema.wholeNumber(),
    nameCount: schema.wholeNumber(),
    areCharacters: schema.flag,
  }),
});

function readSettings(bytes: Uint8Array, damaged: Fail): ImageSettings {
  let settings: unknown;
  try {
    settings = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return damaged();
  }
  schema.checkOr(settingsCheck, settings, damaged);
  return settings as ImageSettings;
}

/** The kernel's memory, restored from the image. */
class ImageMemory {
  private readonly bytes: Uint8Array<ArrayBuffer>;
  /** The address of the model's head. */
  readonly start: number;
  private readonly variables: Uint32Array;

  constructor(
    { areas, model, variables }: ImageContents,
    private readonly damaged: Fail,
  ) {
    const list = this.numbers(areas);
    this.variables = this.numbers(variables);
    this.start = list[0] ?? 0;
    const size = list.length < 3 ? 0 : list.at(-3)! + list.at(-2)!;
    if (size > memoryBytesMax || size === 0) damaged();
    this.bytes = new Uint8Array(size);
    let from = 0;
    let end = 0;
    let filledBytes = 0;
    for (let i = 0; i < list.length; i += 3) {
      const [start, length, fill] = [list[i]!, list[i + 1]!, list[i + 2]!];
      if (start < end || start + length > size) damaged();
      end = start + length;
      if (fill !== isListed) {
        filledBytes += length;
        if (fill > isListed || filledBytes > filledBytesMax) damaged();
        this.bytes.fill(fill, start, end);
      } else {
        if (from + length > model.length) damaged();
        this.bytes.set(model.subarray(from, from + length), start);
        from += length;
      }
    }
  }

  /** Reads a part that consists of triples of numbers. */
  private numbers(part: Uint8Array<ArrayBuffer>): Uint32Array {
    if (part.length % 12 !== 0) this.damaged();
    return new Uint32Array(part.buffer);
  }

  numbersAt(address: number, count: number): Int32Array {
    if (address % 4 !== 0 || address + 4 * count > this.bytes.length) this.damaged();
    return new Int32Array(this.bytes.buffer, address, count).slice();
  }

  bytesAt(address: number, count: number): Uint8Array {
    if (address + count > this.bytes.length) this.damaged();
    return this.bytes.slice(address, address + count);
  }

  /** Returns the low half of a variable of the kernel; 0 if the image does not set it. */
  variable(name: string): number {
    const key = variableKey(name);
    for (let i = 0; i < this.variables.length; i += 3)
      if (this.variables[i] === key) return this.variables[i + 1]!;
    return 0;
  }
}

const memoryBytesMax = 2 ** 32 - 1;

/**
 * Reads the model. Its fields are described in src/kernel/encode/model-layout.ts, and `halves` in pair-ranks.ts there.
 */
function readModel(memory: ImageMemory, hasMarks: boolean, damaged: Fail): EncodingModel {
  const [byteIdsAt, , , mergedAt, mergeCount, idLimit, , , wholeAt, charactersAt, begins, unknown, tiedAt] =
    Uint32Array.from(memory.numbersAt(memory.start, 13)) as unknown as number[];
  const areIds = (list: Int32Array, least = 0) => {
    for (let i = 0; i < list.length; i++) if (list[i]! < least || list[i]! >= idLimit!) return false;
    return true;
  };
  const byteIds = memory.numbersAt(byteIdsAt!, 256);
  const merged = memory.numbersAt(mergedAt!, mergeCount!);
  const halves = memory.numbersAt(memory.variable("pair-ranks/halves"), 2 * mergeCount!);
  const wholeTokens = readPackedTokens(memory, wholeAt!, damaged);
  const characters = readPackedTokens(memory, charactersAt!, damaged);
  const firstTied = tiedAt === 0 ? undefined : memory.numbersAt(tiedAt!, mergeCount!);
  if (idLimit! > idLimitMax || !areIds(byteIds, droppedByte) || !areIds(merged) || !areIds(halves)) damaged();
  if (!areIds(wholeTokens.ids) || !areIds(characters.ids)) damaged();
  if (firstTied?.some((first, rank) => first < 0 || first > rank)) damaged();
  const unknownId = unknown! | 0;
  if (begins! > 3 || unknownId < droppedByte || unknownId >= idLimit!) damaged();
  const isFused = begins === 3;
  const beginning: FirstCharacters | undefined =
    begins === 0
      ? undefined
      : { characters, unknown: begins === 1 ? null : { id: unknownId, isFused }, hasMarks };
  const [left, right] = [new Int32Array(mergeCount!), new Int32Array(mergeCount!)];
  for (let rank = 0; rank < mergeCount!; rank++) {
    left[rank] = halves[2 * rank]!;
    right[rank] = halves[2 * rank + 1]!;
  }
  return {
    byteIds,
    merges: { left, right, merged, ...(firstTied !== undefined && { firstTied }) },
    idLimit: idLimit!,
    dropsBytes: byteIds.includes(droppedByte),
    wholeTokens: wholeTokens.ids.length === 0 ? null : wholeTokens,
    ...(beginning !== undefined && { beginning }),
  };
}

function readPackedTokens(memory: ImageMemory, address: number, damaged: Fail): PackedTokens {
  const [count, bytesAt, startsAt, idsAt] = Uint32Array.from(
    memory.numbersAt(address, 4),
  ) as unknown as number[];
  const starts = memory.numbersAt(startsAt!, count! + 1);
  if (!areAscending(starts)) damaged();
  return {
    bytes: memory.bytesAt(bytesAt!, starts[count!]!),
    starts,
    ids: memory.numbersAt(idsAt!, count!),
  };
}

function readTokens(
  { parts, idLimit, addedCount }: Head,
  settings: ImageSettings,
  damaged: Fail,
): TokenTable {
  if (parts.starts.length % 4 !== 0 || parts.texts.length % 4 !== 0) damaged();
  const starts = new Uint32Array(parts.starts.buffer);
  if (idLimit > idLimitMax || starts.length !== idLimit + 1 || !areAscending(starts)) damaged();
  if (starts[idLimit] !== parts.tokens.length) damaged();
  const rawIds = new Set(new Uint32Array(parts.texts.buffer).subarray(addedCount));
  const { tokenCount, nameCount, areCharacters } = settings.tokenFacts;
  return {
    ...{ idLimit, tokenCount, nameCount, bytes: parts.tokens, starts },
    ...(rawIds.size > 0 && { rawIds }),
    ...(areCharacters && { areCharacters }),
  };
}

function areAscending(numbers: Int32Array | Uint32Array): boolean {
  for (let i = 1; i < numbers.length; i++) if (numbers[i - 1]! > numbers[i]!) return false;
  return numbers[0] === 0;
}
