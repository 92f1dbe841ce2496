import { files, type Message, phrase, UserError } from "#runtime";
import { digestOfParts, type TokenizerParts } from "#tokenizer";

/**
 * Throws a UserError if the manifest of a shard says that another tokenizer encoded it. `option` is the option that
 * named the tokenizer, as the hint spells it: with "PATH" as its value.
 */
export async function checkEncodedBy(parts: TokenizerParts, path: string, option: Message): Promise<void> {
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
    `"${path}" was not encoded with "${parts.description.path}": "${manifestPath}" records another tokenizer`,
    { hint: phrase`give the tokenizer that encoded these ids: ${option}` },
  );
}
