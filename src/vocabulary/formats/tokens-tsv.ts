import { byteToCharacter, encodeBytes } from "../../bytes/byte-characters.ts";
import { type Ledger, ledgerOfFirst } from "../ledger.ts";
import { keptBytesMax } from "../token-bytes.ts";
import { isSpecialEntry, specialOfEntry, type Vocabulary } from "../vocabulary.ts";
import { Chunk, type OutputFile } from "./output-file.ts";
import { appendToken, plainSpelling } from "./token-spelling.ts";

/**
 * `tokens.tsv`: the ledger of a training as a table, a row for each id, ascending.
 *
 *   COLUMN  MEANING
 *   id      of the token
 *   token   in byte-to-character form, as in merges.txt: it has no tab and no line end
 *   bytes   how many it has
 *   birth   how often it occurred in the corpus when it was made; of a byte: before the first merge
 *   end     how often it occurs when all merges are made
 *   left    id of its left half
 *   right   id of its right half
 *
 * Bytes have no halves. Special tokens have neither counts nor halves, because they are not part of any pretoken.
 */
export const ledgerName = "tokens.tsv";

const head = "id\ttoken\tbytes\tbirth\tend\tleft\tright\n";

export function tokensTsv(vocabulary: Vocabulary, ledger: Ledger): OutputFile {
  return { name: ledgerName, chunks: () => rows(vocabulary, ledgerOfFirst(ledger, vocabulary)) };
}

/** Text is gathered as one string, because few and large steps are fast before code is compiled. */
function* rows(vocabulary: Vocabulary, ledger: Ledger): Generator<Uint8Array> {
  const { size, tokenBytes, tokenIds, specialTokens, left, right } = vocabulary;
  const { startCount, birthCounts, endCounts } = ledger;
  const chunk = new Chunk();
  const tokenOf = tokensOfIds(vocabulary);
  const spelled = spelledTokens(vocabulary);
  let text = head;
  for (let id = 0; id < size; id++) {
    const token = tokenOf[id]!;
    if (isSpecialEntry(token)) {
      const bytes = new TextEncoder().encode(specialTokens[specialOfEntry(token)]!);
      text += `${id}\t${encodeBytes(bytes)}\t${bytes.length}\t\t\t\t\n`;
    } else {
      const merge = token - startCount;
      const halves = merge < 0 ? "\t" : `${tokenIds[left[merge]!]}\t${tokenIds[right[merge]!]}`;
      const numbers = `${tokenBytes.lengths[token]}\t${birthCounts[token]}\t${endCounts[token]}\t${halves}`;
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

const gatheredCharacters = 1 << 14;

/** The tokens in byte-to-character form, by token number; undefined for long ones, which could be megabytes. */
function spelledTokens({ tokenBytes, left, right }: Vocabulary): (string | undefined)[] {
  const spelled: (string | undefined)[] = byteToCharacter.slice();
  for (let merge = 0; merge < left.length; merge++) {
    const token = byteToCharacter.length + merge;
    const isShort = tokenBytes.lengths[token]! <= keptBytesMax;
    spelled.push(isShort ? spelled[left[merge]!]! + spelled[right[merge]!]! : undefined);
  }
  return spelled;
}

/** What each id stands for, as `entries` has it; an id that a special token shares stands for the other token here. */
function tokensOfIds({ entries, tokenIds, specialTokens, size }: Vocabulary): Int32Array {
  if (tokenIds.length + specialTokens.length === size) return entries;
  const tokens = entries.slice();
  for (let token = 0; token < tokenIds.length; token++) tokens[tokenIds[token]!] = token;
  return tokens;
}

/** Below this the table is written without being asked for. */
const smallBytes = 1e6;

/** The table, if it is asked for, or if nobody said anything and it is small. */
export const ledgerFiles = (
  isWanted: boolean | undefined,
  vocabulary: Vocabulary,
  ledger: Ledger,
): OutputFile[] =>
  (isWanted ?? mostLedgerBytes(vocabulary, ledger) < smallBytes) ? [tokensTsv(vocabulary, ledger)] : [];

/** More bytes than `tokens.tsv` has. Its exact size would take 2 % of the time of a training of 100 MB. */
export function mostLedgerBytes(
  { size, tokenBytes, specialTokens }: Vocabulary,
  { tokensAfter }: Ledger,
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
  // Three ids, a length, and two counts.
  const numbers = 3 * digitsOf(size) + digitsOf(longest) + 2 * digitsOf(tokensAfter[0]!);
  // A byte is spelled as one or two.
  return head.length + size * (tabsAndLineEnd + numbers) + 2 * spelledBytes;
}
