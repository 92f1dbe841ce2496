import { closeSync, readFileSync } from "node:fs";
import { countNoun, schema } from "#bytes";
import { planFile } from "#corpus";
import { idFormats, type idReaders, type idWriters, readParquetIds } from "#ids";
import { asOption, files, phrase, UserError, usageError, yieldToEventLoop } from "#runtime";
import type { stagedFile } from "#store";
import {
  type AskedFiles,
  describeDifference,
  type EncodedFiles,
  IdFiles,
  type ReportShards,
} from "./id-files.ts";
import { asParquet } from "./id-output.ts";
import { checkContents, checkSizes, type ListedShards, readManifest, shardPaths } from "./shard-manifest.ts";

// Several machines encode the ranges of a plan into parts. Joined in the order of the plan, the parts give the files
// that one machine would write.

const count = schema.wholeNumber(0);
/**
 * The fields that are checked in `request` of a part's manifest, which records what was encoded, and with which
 * options.
 */
const partRequest = schema.object({
  format: schema.oneOf(["part"]),
  inputs: schema.list(schema.object({ path: schema.text, sizeBytes: count, modifiedMs: schema.time })),
  ranges: schema.list(schema.object({ inputIndex: count, startByte: count, endByte: count })),
  idLimit: count,
  idType: schema.oneOf(["uint16", "uint32"] as const),
});

type Part = ListedShards & {
  readonly asked: schema.Checked<typeof partRequest>;
  /** The part encodes consecutive lines of the plan. This is the index of the first. */
  readonly firstLine: number;
};

export type JoinOptions = {
  readonly planPath: string;
  /** The manifests of the parts, in any order. */
  readonly partPaths: readonly string[];
  readonly files: Omit<AskedFiles, "documentEnd" | "keptFields">;
  readonly type: idWriters.IdType | undefined;
  readonly report: (done: number, total: number) => void;
  readonly checking?: ReportShards | undefined;
  readonly guard: stagedFile.Guard;
};

/** Joins parts into the files that one machine would have written. */
export async function joinParts(
  options: JoinOptions,
): Promise<Omit<EncodedFiles, "textBytes" | "invalidByteCount">> {
  const { planPath, partPaths, files: asked, guard } = options;
  const plan = planFile.readLines(
    files.withRegular(planPath, (fd) => readFileSync(fd, "utf8")),
    `"${planPath}"`,
  );
  const parts = inOrder(
    partPaths.map((path) => openPart(path, plan, planPath)),
    plan,
    planPath,
  );
  const { idLimit, idType } = parts[0]!.asked;
  const type = options.type ?? asked.format.typeFor?.(idLimit) ?? idType;
  const {
    ranges: _,
    idLimit: __,
    idType: ___,
    ...same
  } = parts[0]!.manifest.request as Record<string, unknown>;
  const keptFields = same.keptFields as AskedFiles["keptFields"];
  if (keptFields !== undefined && !asked.format.keepsFields)
    throw usageError(
      phrase`the format ${asked.format.name} cannot store the fields that ${asOption("keep-field")} put into the parts`,
      asParquet(asked.base),
    );
  const request = () => ({
    ...same,
    ...{ format: asked.format.name, type, shardSize: asked.shardSize },
    inputs: inputsOf(parts),
  });
  const shards = parts.flatMap((part) =>
    part.manifest.shards.map((_, n) => shardPaths(part.base, partFormat, n)[0]!),
  );
  const inputs = [...shards, ...partPaths].map((path) => ({ path }));
  const idFiles = await IdFiles.open({
    ...asked,
    checking: options.checking,
    keptFields,
    type,
    documentEndId: undefined,
    inputs,
    ranges: [],
    request,
    guard,
  });
  const { fileCount: formerFileCount, isDone: isUnchanged } = idFiles;
  if (!isUnchanged) {
    if (!idFiles.isAtStart)
      throw new UserError(`"${asked.base}.json" belongs to a bpe encode that was interrupted`, {
        hint: "run that bpe encode again to finish it, or give -o another name",
      });
    try {
      await writeParts(parts, idFiles, options.report);
      await idFiles.finish();
    } catch (error) {
      await idFiles.discard();
      throw error;
    }
  }
  const { idCount, documentCount, fileCount } = idFiles;
  const omitsEmpty = asked.format.omitsEmpty === true && same.appendId === undefined;
  return { idCount, documentCount, fileCount, formerFileCount, omitsEmpty, isUnchanged };
}

const partFormat = idFormats.of("part", "")!;

function openPart(path: string, plan: readonly planFile.Line[], planPath: string): Part {
  const hint = "give the NAME.json that bpe encode --ranges … --ids-format part -o NAME wrote";
  if (!path.endsWith(".json")) {
    // A missing file gets an error of its own.
    closeSync(files.openRegular(path));
    throw usageError(`"${path}" is not the manifest of a part`, hint);
  }
  const base = path.slice(0, -".json".length);
  const again = "encode this part again, or copy its files again";
  const manifest = readManifest(path, again, hint);
  const asked = schema.checkOr(partRequest, manifest.request, (what) => {
    throw new UserError(`"${path}" is not the manifest of a part: ${what}`, { hint });
  });
  if (manifest.next !== null)
    throw new UserError(`"${path}" belongs to an unfinished part`, {
      hint: "run the bpe encode of this part again; it resumes after the finished shards",
    });
  const listed = { manifest, path, base, format: partFormat, hint: again };
  checkSizes(listed);
  const lineOf = new Map(plan.map((line) => [keyOf(line.path, line.start, line.end), line]));
  const lines = asked.ranges.map(({ inputIndex, startByte, endByte }) => {
    const input = asked.inputs[inputIndex]!;
    const line = lineOf.get(keyOf(input.path, startByte, endByte));
    if (line?.sizeBytes === input.sizeBytes) return line.index;
    throw new UserError(
      line === undefined
        ? `"${path}" contains bytes ${startByte} to ${endByte} of "${input.path}", but no line of "${planPath}" does`
        : `"${input.path}" has ${line.sizeBytes} bytes in "${planPath}", but ${input.sizeBytes} in "${path}"`,
      {
        hint: "give the plan that the parts were encoded from",
      },
    );
  });
  const gap = lines.findIndex((line, i) => line !== lines[0]! + i);
  if (gap < 0) return { ...listed, asked, firstLine: lines[0]! };
  throw new UserError(
    `"${path}" has line ${lines[gap]! + 1} of the plan right after line ${lines[gap - 1]! + 1}: the lines of a part must be consecutive and in order`,
    {
      hint: "encode this part again from consecutive lines of the plan, e.g. a slice made by split --number=l/N",
    },
  );
}

const keyOf = (path: string, start: number, end: number) => JSON.stringify([path, start, end]);

/**
 * Returns the parts in the order of the plan. Throws a UserError if a line of the plan is in no part or in two parts,
 * if the requests of two parts differ in a field that is not in `apart`, or if the plan is not whole.
 */
function inOrder(parts: readonly Part[], plan: readonly planFile.Line[], planPath: string): Part[] {
  const sorted = parts.toSorted((a, b) => a.firstLine - b.firstLine);
  let line = 0;
  const missing = (end: number) => {
    const { path, start, end: endByte } = plan[line]!;
    const moreCount = end - line - 1;
    const more =
      moreCount > 0 ? `, nor the ${moreCount === 1 ? "line" : countNoun(moreCount, "line")} after it` : "";
    return new UserError(
      `no part contains line ${line + 1} of "${planPath}" (bytes ${start} to ${endByte} of "${path}")${more}`,
      {
        hint: `encode ${moreCount > 0 ? "these lines" : "this line"} with bpe encode --ranges, and give that part, too`,
      },
    );
  };
  for (const [i, part] of sorted.entries()) {
    if (part.firstLine > line) throw missing(part.firstLine);
    if (part.firstLine < line)
      throw new UserError(
        `"${sorted[i - 1]!.path}" and "${part.path}" both contain line ${part.firstLine + 1} of the plan`,
        {
          hint: "leave out one of the two parts; encode again the lines of the plan that are then in no part",
        },
      );
    line += part.asked.ranges.length;
    const [first, own] = [sorted[0]!, part].map(({ manifest }) => ({ ...manifest.request, ...apart }));
    const differs = describeDifference(first, own!, [`in "${sorted[0]!.path}"`, `in "${part.path}"`]);
    if (differs !== undefined)
      throw new UserError(
        phrase`"${sorted[0]!.path}" and "${part.path}" were not encoded with the same tokenizer and options: ${differs}`,
        { hint: "encode all lines of the plan with the same tokenizer and options" },
      );
  }
  if (line < plan.length) throw missing(plan.length);
  checkWhole(plan, planPath);
  return sorted;
}

/** The fields of a request in which parts may differ. */
const apart = { inputs: null, ranges: null, shardSize: null };

/** Throws a UserError for a plan that does not cover its files, because its last lines may have been lost. */
function checkWhole(plan: readonly planFile.Line[], planPath: string): void {
  const ends = new Map<string, number>();
  for (const { path, start, end } of plan) if (start === (ends.get(path) ?? 0)) ends.set(path, end);
  const part = plan.find(({ path, sizeBytes }) => ends.get(path) !== sizeBytes);
  if (part === undefined) return;
  throw new UserError(`"${planPath}" does not contain all ranges of "${part.path}"`, {
    hint: "pass the whole file that bpe plan wrote, unchanged",
  });
}

/** Returns the inputs of the parts in the order of the plan. */
function inputsOf(parts: readonly Part[]): unknown[] {
  const byPath = new Map<string, unknown>();
  for (const { manifest, asked } of parts) {
    const { inputs } = manifest.request as { readonly inputs: readonly unknown[] };
    for (const { inputIndex } of asked.ranges) {
      const { path } = asked.inputs[inputIndex]!;
      if (!byPath.has(path)) byPath.set(path, inputs[inputIndex]);
    }
  }
  return [...byPath.values()];
}

async function writeParts(
  parts: readonly Part[],
  idFiles: IdFiles,
  report: JoinOptions["report"],
): Promise<void> {
  const sizes = parts.flatMap(({ manifest }) => manifest.shards.flatMap(({ sizesBytes }) => sizesBytes));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let done = 0;
  for (const part of parts) {
    const { base, path, manifest } = part;
    for (const [n, { sizesBytes }] of manifest.shards.entries()) {
      await checkContents(part, n);
      const isLast = n === manifest.shards.length - 1;
      let held: idReaders.IdDocuments | undefined;
      for (const documents of readParquetIds(shardPaths(base, partFormat, n)[0]!)) {
        if (held !== undefined) idFiles.write(held.ids, held.ends, held.kept);
        held = documents;
        await (idFiles.drain() ?? yieldToEventLoop());
      }
      if (held !== undefined) {
        // If the part ends within a document, its last row is not a whole document.
        const ends = isLast && manifest.isOpen ? held.ends.subarray(0, -1) : held.ends;
        idFiles.write(held.ids, ends, held.kept);
      }
      await idFiles.drain();
      report((done += sizesBytes[0]!), total);
    }
    if (manifest.isOpen && path === parts.at(-1)!.path)
      throw new UserError(`"${path}", the last part, ends within a document`, {
        hint: "encode this part again",
      });
  }
}
