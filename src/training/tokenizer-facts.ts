import { join } from "node:path";
import { decisiveFileNames } from "#formats";
import { createSha256, isDirectory, isFile, readBytes, versionLine } from "#runtime";
import type { AddedToken } from "#text";
import {
  allAddedTokens,
  haveAllBytes,
  nameObstacle,
  offsetObstacle,
  type TokenizerParts,
  trimObstacle,
} from "#tokenizer";

/** SHA-256 of all that decides what is encoded and decoded, wherever the files are. */
export function fingerprintOf({ description, notes: _, pattern: __, ...parts }: TokenizerParts): string {
  const hash = (data: Uint8Array | string) => createSha256().update(data).digest("hex");
  const plain = (_: string, value: unknown) =>
    ArrayBuffer.isView(value)
      ? hash(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
      : value;
  return hash(JSON.stringify([description.patternSources, parts], plain));
}

/**
 * What other programs are told of a tokenizer.
 *
 * @param roles texts of special tokens by their roles (roleTokensAt)
 */
export function factsOf(
  parts: TokenizerParts,
  roles: Readonly<Record<string, string>>,
  fingerprint = fingerprintOf(parts),
) {
  const { tokens, notes, postProcessing } = parts;
  const { before = [], after = [], obstacle } = postProcessing ?? {};
  const added = allAddedTokens(parts);
  const idsOf = (some: readonly AddedToken[]) =>
    Object.fromEntries(some.map(({ content, id }) => [content, id]));
  return {
    version: versionLine,
    idLimit: tokens.idLimit,
    tokenCount: tokens.tokenCount,
    specialTokens: idsOf(added.filter(({ special }) => special)),
    addedTokens: idsOf(added.filter(({ special }) => !special)),
    roles,
    around: obstacle ?? { before, after },
    notes,
    fingerprint: createSha256()
      .update(JSON.stringify([fingerprint, roles]))
      .digest("hex"),
  };
}

/**
 * The facts, and what an image cannot say otherwise: why something is refused, and the files that it stands for. It stands for
 * a directory alone, and only where nothing was given beside the files (`isAsItIs`); else for none.
 */
export const imageFactsOf = (
  parts: TokenizerParts,
  roles: Readonly<Record<string, string>>,
  path: string,
  isAsItIs: boolean,
) => ({
  ...factsOf(parts, roles),
  offsetObstacle: offsetObstacle(parts) ?? null,
  trimObstacle: trimObstacle(parts) ?? null,
  hasAllBytes: haveAllBytes(parts.model.byteIds, parts.tokens),
  nameObstacle: nameObstacle(parts.tokens) ?? null,
  madeOf: isAsItIs && isDirectory(path) ? digestsIn(path) : null,
});

/** The SHA-256 of each file that decides what is loaded from a directory, by its name; null where there is none. */
function digestsIn(directory: string): Record<string, string | null> {
  const digestOf = (file: string) =>
    isFile(file) ? createSha256().update(readBytes(file)).digest("hex") : null;
  return Object.fromEntries(decisiveFileNames.map((name) => [name, digestOf(join(directory, name))]));
}
