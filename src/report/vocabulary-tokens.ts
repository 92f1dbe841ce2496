import type { TokenTable } from "../tokenizer/token-table.ts";
import { plainSpecial } from "../tokenizer/tokenizer-parts.ts";
import { isResidue, type Ledger } from "../vocabulary/ledger.ts";
import { copyTokenBytes, notKept } from "../vocabulary/token-bytes.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { type ReportTokenizer, tokenBytesMax } from "./report-data.ts";

/** A vocabulary that was just trained, with its ledger, as reports draw it. `of`: what the corpus is called. */
export function vocabularyTokenizer(
  name: string,
  vocabulary: Vocabulary,
  ledger: Ledger,
  of: string,
): ReportTokenizer {
  const { size, tokenIds, mergeCount, left, right, specialTokens, specialIds } = vocabulary;
  const startCount = tokenIds.length - mergeCount;
  const byId = (counts: Float64Array) => {
    const made = new Float64Array(size);
    for (let token = 0; token < tokenIds.length; token++) made[tokenIds[token]!] = counts[token]!;
    return made;
  };
  const endCounts = byId(ledger.endCounts);
  const residues = new Uint8Array(size);
  for (let token = startCount; token < tokenIds.length; token++) {
    residues[tokenIds[token]!] = Number(isResidue(ledger, token));
  }
  const idsOf = (tokens: Int32Array) => tokens.map((token) => tokenIds[token]!);
  const addedTokens = specialTokens.map((content, s) => ({ id: specialIds[s]!, content, ...plainSpecial }));
  return {
    name,
    ...tokensById(vocabulary),
    addedTokens,
    merges: { left: idsOf(left), right: idsOf(right), merged: tokenIds.slice(startCount) },
    counts: { of, endCounts },
    ledger: { birthCounts: byId(ledger.birthCounts), endCounts, isResidue: (id) => residues[id] === 1 },
  };
}

/** The bytes of the tokens by id, of long ones the first characters, and their whole lengths. */
function tokensById(vocabulary: Vocabulary): Pick<ReportTokenizer, "tokens" | "lengths"> {
  const { size, tokenIds, tokenBytes, specialTokens, specialIds } = vocabulary;
  const lengths = new Uint32Array(size);
  for (let token = 0; token < tokenIds.length; token++) {
    lengths[tokenIds[token]!] = tokenBytes.lengths[token]!;
  }
  const specials = specialTokens.map((text) => new TextEncoder().encode(text));
  for (const [s, bytes] of specials.entries()) lengths[specialIds[s]!] = bytes.length;
  const starts = new Uint32Array(size + 1);
  let tokenCount = 0;
  for (let id = 0; id < size; id++) {
    if (lengths[id]! > 0) tokenCount++;
    starts[id + 1] = starts[id]! + Math.min(tokenBytesMax, lengths[id]!);
  }
  const bytes = new Uint8Array(starts[size]!);
  copyTokens(vocabulary, starts, bytes);
  for (const [s, special] of specials.entries()) {
    bytes.set(special.subarray(0, tokenBytesMax), starts[specialIds[s]!]!);
  }
  return { tokens: { idLimit: size, tokenCount, bytes, starts } satisfies TokenTable, lengths };
}

/** Copies the bytes of the tokens to where they begin, those that lie behind one another in one go. */
function copyTokens({ tokenIds, tokenBytes }: Vocabulary, starts: Uint32Array, bytes: Uint8Array): void {
  const { kept, lengths, starts: keptStarts } = tokenBytes;
  let runStart = 0;
  let runEnd = 0;
  let shift = 0;
  for (let token = 0; token < tokenIds.length; token++) {
    const from = keptStarts[token]!;
    const to = starts[tokenIds[token]!]!;
    if (from === notKept) {
      const copy = copyTokenBytes(tokenBytes, token, tokenBytesMax);
      bytes.set(copy, to);
      continue;
    }
    if (from !== runEnd || to - from !== shift) {
      bytes.set(kept.subarray(runStart, runEnd), runStart + shift);
      runStart = from;
      shift = to - from;
    }
    runEnd = from + lengths[token]!;
  }
  bytes.set(kept.subarray(runStart, runEnd), runStart + shift);
}
