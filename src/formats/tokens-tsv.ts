import { byteCharacters } from "#bytes";
import { scaled } from "#runtime";
import { tokenCounting, type Vocabulary, vocabularies } from "#tokenizer";
import { Chunk, type OutputFile } from "./output-file.ts";
import { tokensTsvName } from "./recorded-files.ts";
import { appendToken, plainSpelling } from "./rows.ts";

/**
 * `tokens.tsv`: the token counts of a training as a table, a row for each id, ascending.
 *
 *   COLUMN  MEANING
 *   id      the token's id
 *   token   the token in byte-to-character form, which has no tabs and no line ends
 *   bytes   its length in bytes
 *   birth   occurrences in the corpus when the token was created, or, for a byte, before the first merge
 *   end     occurrences after all merges
 *   left    id of its left half
 *   right   id of its right half
 *
 * Bytes have no halves. Special tokens have neither counts nor halves, because they are not part of any pretoken.
 */
const head = "id\ttoken\tbytes\tbirth\tend\tleft\tright\n";

export function tokensTsv(vocabulary: Vocabulary, tokenCounts: tokenCounting.TokenCounts): OutputFile {
  return {
    name: tokensTsvName,
    chunks: () => rows(vocabulary, tokenCounting.ofFirst(tokenCounts, vocabulary)),
  };
}

/**
 * Yields the table. The text of many rows is gathered in a string before it is encoded, because a few large steps are
 * fast even before the code is compiled.
 */
function* rows(vocabulary: Vocabulary, tokenCounts: tokenCounting.TokenCounts): Generator<Uint8Array> {
  const { size, tokenBytes, tokenIds, specialTokens, left, right } = vocabulary;
  const { startCount, createdCounts, endCounts } = tokenCounts;
  const chunk = new Chunk();
  const tokenOf = tokensOfIds(vocabulary);
  const spelled = spelledTokens(vocabulary);
  let text = head;
  for (let id = 0; id < size; id++) {
    const token = tokenOf[id]!;
    if (vocabularies.isSpecialEntry(token)) {
      const bytes = new TextEncoder().encode(specialTokens[vocabularies.specialOfEntry(token)]!);
      text += `${id}\t${byteCharacters.encode(bytes)}\t${bytes.length}\t\t\t\t\n`;
    } else {
      const merge = token - startCount;
      const halves = merge < 0 ? "\t" : `${tokenIds[left[merge]!]}\t${tokenIds[right[merge]!]}`;
      const numbers = `${tokenBytes.lengths[token]}\t${createdCounts[token]}\t${endCounts[token]}\t${halves}`;
      const short = spelled[token];
      if (short === undefined) {
        chunk.text(`${text}${id}\t`);
        appendToken(chunk, tokenBytes, token, plainSpelling);
        text = `\t${numbers}\n`;
      } else text += `${id}\t${short}\t${numbers}\n`;
    }
    if (text.length < gatheredCharacters && !chunk.isFull) continue;
    chunk.text(text);
    text = "";
    yield chunk.take();
  }
  chunk.text(text);
  yield chunk.take();
}

const gatheredCharacters = scaled(1 << 14, 16);

/**
 * Returns the tokens in byte-to-character form, by token number; undefined for long tokens, because such a token may be
 * megabytes long.
 */
function spelledTokens({ tokenBytes, left, right }: Vocabulary): (string | undefined)[] {
  const spelled: (string | undefined)[] = byteCharacters.characters.slice();
  for (let merge = 0; merge < left.length; merge++) {
    const token = byteCharacters.characters.length + merge;
    spelled.push(tokenBytes.isKept(token) ? spelled[left[merge]!]! + spelled[right[merge]!]! : undefined);
  }
  return spelled;
}

/**
 * Returns the token of each id, as in `entries` (src/tokenizer/vocabulary.ts): a special token is a negative number. If
 * an ordinary and a special token share an id, the result has the ordinary one.
 */
function tokensOfIds({ entries, tokenIds, specialTokens, size }: Vocabulary): Int32Array {
  if (tokenIds.length + specialTokens.length === size) return entries;
  const tokens = entries.slice();
  for (let token = 0; token < tokenIds.length; token++) tokens[tokenIds[token]!] = token;
  return tokens;
}

/** A table below this size is written by default. */
const smallBytes = 1e6;

/** Returns the table if it was requested, and by default if it is small. */
export const tokensTsvFiles = (
  isWanted: boolean | undefined,
  vocabulary: Vocabulary,
  tokenCounts: tokenCounting.TokenCounts,
): OutputFile[] =>
  (isWanted ?? tokensTsvBytesMax(vocabulary, tokenCounts) < smallBytes)
    ? [tokensTsv(vocabulary, tokenCounts)]
    : [];

/**
 * Returns an upper bound of the size of `tokens.tsv` in bytes. Computing its exact size would take 2 % of the time of a
 * training on 100 MB.
 */
export function tokensTsvBytesMax(
  { size, tokenBytes, specialTokens }: Vocabulary,
  { tokensAfter }: tokenCounting.TokenCounts,
): number {
  const { lengths } = tokenBytes;
  let longest = 0;
  let spelledBytes = 0;
  for (let token = 0; token < lengths.length; token++) {
    longest = Math.max(longest, lengths[token]!);
    spelledBytes += lengths[token]!;
  }
  for (const special of specialTokens) {
    const { length } = new TextEncoder().encode(special);
    longest = Math.max(longest, length);
    spelledBytes += length;
  }
  const digitsOf = (number: number) => String(number).length;
  const tabsAndLineEnd = 7;
  // A row has three ids, a length, and two counts.
  const numbers = 3 * digitsOf(size) + digitsOf(longest) + 2 * digitsOf(tokensAfter[0]!);
  // A byte is spelled as one or two bytes.
  return head.length + size * (tabsAndLineEnd + numbers) + 2 * spelledBytes;
}
