import { join } from "node:path";
import { tokenizerFiles } from "#formats";
import { files, host, programVersion } from "#runtime";
import type { AddedToken } from "#text";
import { digestOfParts, obstacles, type TokenizerParts, tokenizers, tokenTables } from "#tokenizer";

/**
 * Returns the facts about a tokenizer that other programs can use.
 *
 * @param roles texts of special tokens by role
 */
export function factsOf(
  parts: TokenizerParts,
  roles: Readonly<Record<string, string>>,
  fingerprint = digestOfParts(parts),
) {
  const { tokens, notes, postProcessing } = parts;
  const { before = [], after = [], obstacle } = postProcessing ?? {};
  const added = tokenizers.allAddedTokens(parts);
  const idsOf = (some: readonly AddedToken[]) =>
    Object.fromEntries(some.map(({ content, id }) => [content, id]));
  return {
    version: programVersion.versionLine,
    idLimit: tokens.idLimit,
    tokenCount: tokens.tokenCount,
    specialTokens: idsOf(added.filter(({ special }) => special)),
    addedTokens: idsOf(added.filter(({ special }) => !special)),
    roles,
    around: obstacle ?? { before, after },
    notes,
    fingerprint: host
      .createSha256()
      .update(JSON.stringify([fingerprint, roles]))
      .digest("hex"),
  };
}

/**
 * Returns the facts that an image stores: those of `factsOf`, and the reasons for refusing some calls. If the files of
 * a directory were loaded without options (`isAsItIs`), also returns their digests, because only then may the image be
 * loaded instead of them.
 */
export const imageFactsOf = (
  parts: TokenizerParts,
  roles: Readonly<Record<string, string>>,
  path: string,
  isAsItIs: boolean,
) => ({
  ...factsOf(parts, roles),
  offsetObstacle: obstacles.toOffsets(parts) ?? null,
  trimObstacle: obstacles.toTrims(parts) ?? null,
  hasAllBytes: tokenTables.haveAllBytes(parts.model.byteIds, parts.tokens),
  nameObstacle: tokenTables.nameObstacle(parts.tokens) ?? null,
  madeOf: isAsItIs && files.isDirectory(path) ? digestsIn(path) : null,
});

/** SHA-256 of each file that affects loading from a directory, by name; null if it does not exist. */
function digestsIn(directory: string): Record<string, string | null> {
  const digestOf = (file: string) =>
    files.isFile(file) ? host.createSha256().update(files.readBytes(file)).digest("hex") : null;
  return Object.fromEntries(
    tokenizerFiles.decisiveFileNames.map((name) => [name, digestOf(join(directory, name))]),
  );
}
