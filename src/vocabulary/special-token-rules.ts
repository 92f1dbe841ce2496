import { decodeCharacters } from "../bytes/byte-characters.ts";
import { UserError, usageError } from "../errors.ts";
import type { Compat } from "../merge/merges.ts";
import { copyTokenBytes, type TokenBytes } from "./token-bytes.ts";

/**
 * What a special token must not be. HF's files list special tokens as plain text among tokens in byte-to-character form;
 * tables of ranks list tokens as bytes. In both a special token must not equal another key, or one of the two is lost.
 *
 *   "a", "Ġ"    a single byte, as itself or as its character    the command line shows it: usage error
 *   "Ġt"        the key of " t", if " t" is learned             training shows it: failed run
 *   " t"        the bytes of " t". The text is cut out of the corpus, so only counts from other runs can teach it: failed run
 *
 * `huggingface` forbids none of these, because HF's trainer does not: the string keeps the id that it has.
 */

/** Checks what the command line alone shows; a usage error names the special token. */
export function checkSpecialTokens(specialTokens: readonly string[], compat: Compat): void {
  const seen = new Set<string>();
  for (const special of specialTokens) {
    if (special === "") throw usageError("a special token is empty");
    if (seen.has(special)) throw usageError(`special token ${quote(special)} is given twice`);
    seen.add(special);
    if (!special.isWellFormed()) {
      throw usageError(`special token ${quote(special)} has half of a surrogate pair, which is no character`);
    }
    if (compat !== "huggingface" && isSingleByte(special)) {
      throw usageError(
        `special token ${quote(special)} equals the key of a single byte`,
        "choose a longer text that the corpus uses for nothing else, such as <|endoftext|>",
      );
    }
  }
}

const notLearned = -1;

/**
 * For each special token the number of the token whose key it equals, or -1. If the rule does not let them share a key, a
 * UserError names the special token.
 */
export function checkLearnedTokens(
  tokens: TokenBytes,
  specialTokens: readonly string[],
  compat: Compat,
): Int32Array {
  const keys = specialTokens.map((special) => {
    const bytes = decodeCharacters(special);
    return bytes === null ? null : keyOf(bytes);
  });
  const texts = specialTokens.map((special) => keyOf(new TextEncoder().encode(special)));
  const learned = learnedAmong(tokens, new Set([...keys, ...texts].filter((key) => key !== null)));
  specialTokens.forEach((special, s) => {
    const isLearned = learned.has(texts[s]!) || (keys[s] !== null && learned.has(keys[s]!));
    if (isLearned && compat !== "huggingface") throw equalsLearnedToken(special);
  });
  return Int32Array.from(keys, (key) => (key === null ? undefined : learned.get(key)) ?? notLearned);
}

/** The tokens with the bytes `wanted`, by their key. No two have the same: docs/files.md, "No two merges give the same bytes". */
function learnedAmong(tokens: TokenBytes, wanted: ReadonlySet<string>): Map<string, number> {
  const learned = new Map<string, number>();
  if (wanted.size === 0) return learned;
  const { lengths, tokenCount } = tokens;
  const isWanted: boolean[] = [];
  for (const key of wanted) isWanted[key.length] = true;
  for (let token = 0; token < tokenCount; token++) {
    if (isWanted[lengths[token]!] !== true) continue;
    const key = keyOf(copyTokenBytes(tokens, token));
    if (wanted.has(key)) learned.set(key, token);
  }
  return learned;
}

/** Bytes as a key of a map: one character a byte. */
const keyOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

/** `a` is byte 97, `Ġ` is byte 32 in byte-to-character form. */
function isSingleByte(special: string): boolean {
  return special.length === 1 && (special.charCodeAt(0) < 0x80 || decodeCharacters(special) !== null);
}

function equalsLearnedToken(special: string): UserError {
  return new UserError(`special token ${quote(special)} equals a token that was learned`, {
    hint: "choose a text that cannot be one of the corpus's own tokens, such as <|endoftext|>",
  });
}

function quote(text: string): string {
  return JSON.stringify(text);
}
