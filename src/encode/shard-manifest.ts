import { closeSync, fstatSync, readFileSync } from "node:fs";
import { json, schema } from "#bytes";
import { keptField } from "#corpus";
import type { idFormats } from "#ids";
import { files, host, systemError, UserError, yieldToEventLoop } from "#runtime";
import { fileChecksum, trustedFiles } from "#store";

// `NAME.json` lists the shards, the run that wrote them, and where to continue.

const count = schema.wholeNumber(0);

const checksumField = (value: unknown, name: string): string => {
  if (typeof value === "string" && /^[0-9a-f]+$/.test(value)) return value;
  throw new schema.Mismatch(value, name, "not a checksum");
};

/** A complete shard, with the sizes and checksums (`FileChecksum`) of its files. */
const shard = schema.object({
  ...{ ids: count, documents: count },
  ...{ sizesBytes: schema.list(count), checksums: schema.list(checksumField) },
});
export type Shard = schema.Checked<typeof shard>;

/**
 * Where encoding continues after a shard. The shards already have the next `ids` ids and `documents` documents after
 * this position.
 */
const point = schema.object({
  /** The index of the range. */
  rangeIndex: count,
  /** The offset in the input at which a task ended; 0 at the start of the range. */
  byte: count,
  startsInside: schema.flag,
  ids: count,
  documents: count,
  /** Whether there are ids before this point whose document has not ended. */
  isOpen: schema.flag,
  /** Whether a document has ended before this point, since the start of the input. */
  hasEnded: schema.flag,
});
export type Point = schema.Checked<typeof point>;

/** The version of manifests. Version 1 had no checksums. */
const manifestFormat = 2;

const manifestFields = schema.object({
  format: schema.wholeNumber(manifestFormat, manifestFormat),
  /** The xxHash64 of the fields that follow, as JSON without spaces. */
  checksum: checksumField,
  request: (value: unknown, name: string) => {
    if (typeof value === "object" && value !== null) return value;
    throw new schema.Mismatch(value, name, "not an object");
  },
  shards: schema.list(shard),
  /** Where to continue; null if everything is encoded. */
  next: schema.orNull(point),
  /** Whether the last document continues after the last range. */
  isOpen: schema.optional(schema.flag),
  /** The types of the columns of kept fields. */
  keptKinds: schema.optional(schema.list(schema.orNull(schema.oneOf(keptField.kinds)))),
});
export type Manifest = Omit<schema.Checked<typeof manifestFields>, "format" | "checksum">;

/**
 * Thrown for a shard that is missing, and for a manifest or a shard that is damaged or belongs to another run or an
 * earlier version.
 */
export class UnusableShards extends UserError {}

export function manifestText(manifest: Manifest): string {
  const sealed = { format: manifestFormat, checksum: sealOf(manifest), ...manifest };
  return `${JSON.stringify(sealed, null, 1)}\n`;
}

const sealOf = (content: object) => host.xxHash64(JSON.stringify(content)).toString(16).padStart(16, "0");

/**
 * Reads a manifest. Throws `UnusableShards`, which says what is wrong, if the file is not a valid manifest. The hint of
 * the error is `otherHint` if the file is JSON without the fields of a manifest, and otherwise `hint`.
 */
export function readManifest(path: string, hint = "choose another name", otherHint = hint): Manifest {
  const refuse = (what: string, ofFile = hint): never => {
    throw new UnusableShards(`"${path}" ${what}`, { hint: ofFile });
  };
  const value = jsonAt(path, refuse);
  const { format, shards } = (value ?? {}) as { format?: unknown; shards?: unknown };
  if (format === 1 && Array.isArray(shards))
    refuse("was written by an earlier version of bpe, without checksums");
  const manifest = schema.checkOr(manifestFields, value, (what) =>
    refuse(`is not a manifest of shards: ${what}`, otherHint),
  );
  const { format: _, checksum, ...content } = value as Record<string, unknown>;
  if (checksum !== sealOf(content)) refuse("is damaged: its checksum does not match its content");
  return manifest;
}

function jsonAt(path: string, refuse: (what: string) => never): unknown {
  const text = files.tryRead(path, () => {
    const fd = trustedFiles.open(trustedFiles.followLinks(path));
    try {
      if (fstatSync(fd).size <= manifestBytesMax) return readFileSync(fd, "utf8");
    } finally {
      closeSync(fd);
    }
    return refuse("is not a manifest of shards: it is too large");
  });
  try {
    return json.parse(text, path);
  } catch (error) {
    if (error instanceof UserError) return refuse(error.message.slice(`"${path}" `.length));
    throw error;
  }
}

const manifestBytesMax = 2 ** 28;

/** Returns the digest of the tokenizer in a manifest, if the manifest is valid. */
export function encoderIn(path: string): string | undefined {
  try {
    const { request } = readManifest(path);
    const { tokenizer } = request as { readonly tokenizer?: unknown };
    return typeof tokenizer === "string" ? tokenizer : undefined;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** Returns the paths of a shard's files. */
export const shardPaths = (base: string, { endings }: idFormats.IdFormat, shard: number): string[] =>
  endings.map((ending) => `${base}_${String(shard).padStart(5, "0")}${ending}`);

/** The shards that a manifest lists, and the hint for errors about them. */
export type ListedShards = {
  readonly manifest: Manifest;
  readonly path: string;
  readonly base: string;
  readonly format: idFormats.IdFormat;
  readonly hint: string;
};

/** Throws `UnusableShards` if a shard is missing or has another size. Reads none of them. */
export function checkSizes(listed: ListedShards): void {
  for (const file of filesOf(listed)) closeSync(openShardFile(listed, file));
}

/** Reads one shard, or all, and throws `UnusableShards` if one is missing or has another size or checksum. */
export async function checkContents(
  listed: ListedShards,
  number?: number,
  report: (done: number, total: number) => void = () => {},
): Promise<void> {
  const listedFiles = [...filesOf(listed)].filter((file) => number === undefined || file.number === number);
  const total = listedFiles.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let done = 0;
  const { path, hint } = listed;
  for (const file of listedFiles) {
    const fd = openShardFile(listed, file);
    try {
      const reading = fileChecksum.checksumOf(fd);
      let step = files.tryRead(file.path, () => reading.next());
      for (; !step.done; step = files.tryRead(file.path, () => reading.next())) {
        report((done += step.value), total);
        await yieldToEventLoop();
      }
      if (step.value === file.checksum) continue;
    } finally {
      closeSync(fd);
    }
    throw new UnusableShards(`"${file.path}" is damaged: its checksum is not the one in "${path}"`, { hint });
  }
}

type ShardFile = {
  readonly path: string;
  readonly number: number;
  readonly sizeBytes: number;
  readonly checksum: string;
};

function* filesOf({ manifest, base, format }: ListedShards): Generator<ShardFile> {
  for (const [number, { sizesBytes, checksums }] of manifest.shards.entries()) {
    for (const [f, path] of shardPaths(base, format, number).entries())
      yield { path, number, sizeBytes: sizesBytes[f] ?? 0, checksum: checksums[f] ?? "" };
  }
}

function openShardFile({ path: manifestPath, hint }: ListedShards, { path, sizeBytes }: ShardFile): number {
  const fd = files.tryRead(path, () => openIfThere(path));
  if (fd !== undefined && fstatSync(fd).size === sizeBytes) return fd;
  if (fd !== undefined) closeSync(fd);
  const state =
    fd === undefined
      ? `is missing, but "${manifestPath}" lists it`
      : `does not have the size that "${manifestPath}" states`;
  throw new UnusableShards(`"${path}" ${state}`, { hint });
}

function openIfThere(path: string): number | undefined {
  try {
    return trustedFiles.open(trustedFiles.followLinks(path));
  } catch (error) {
    if (systemError.isMissing(error)) return undefined;
    throw error;
  }
}
