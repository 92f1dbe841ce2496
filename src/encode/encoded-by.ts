import { files, UserError } from "#runtime";
import { digestOfParts, type TokenizerParts } from "#tokenizer";

/** Throws a UserError if the manifest of a shard says that another tokenizer encoded it. */
export async function checkEncodedBy(parts: TokenizerParts, path: string): Promise<void> {
  const manifestPath = `${/^(.*)_\d{5,}\.\w+$/s.exec(path)?.[1]}.json`;
  if (!files.isFile(manifestPath)) return;
  const encodedBy = (await import("./shard-manifest.ts")).encoderIn(manifestPath);
  if (encodedBy === undefined) return;
  // Whether special tokens were encoded as text makes no difference for decoding, so both digests are accepted.
  const isOwn = [false, true].some(
    (specialTokensAsText) => digestOfParts({ ...parts, specialTokensAsText }) === encodedBy,
  );
  if (isOwn) return;
  throw new UserError(
    `"${path}" was encoded with a tokenizer other than "${parts.description.path}", as "${manifestPath}" says`,
    { hint: "give the tokenizer that encoded these ids" },
  );
}
