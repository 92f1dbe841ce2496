import { type TokenizerParts, tokenKeys } from "#tokenizer";

export const severities = ["error", "warning", "note"] as const;
export type Severity = (typeof severities)[number];

/**
 * The checks, and why each of them matters. What a check finds is an error (a fault to repair), a warning (likely a
 * fault) or a note (good to know).
 */
export const checks = {
  "not-loaded":
    "bpe cannot reproduce the ids of this tokenizer, so its model was not checked. Other programs may load it.",
  "unreadable-file": "transformers stops at this file, or ignores what it says.",
  "no-byte-level":
    "Text is not turned into the characters of the vocabulary, so most of it becomes unknown tokens.",
  "no-byte-level-decoder": "Decoded text has Ġ and Ċ where spaces and line ends should be.",
  "dead-split":
    "A Split that never matches leaves the text to the next step: words are split differently than in training.",
  "cuts-inside-words":
    "Each piece is merged alone, so no token can be a whole word: texts become several times longer.",
  "no-cutting": "Merges cross words, and a long text is slow to encode.",
  "pattern-misfit":
    "The model learned rows for these tokens, but the pattern cuts their text, so they never occur: it is probably not the pattern of the training.",
  "normalized-away":
    "The normalizer changes the text of these tokens before they are looked up, so they never occur.",
  "class-override":
    "transformers 5 rebuilds the tokenizer with the steps of this class, and ignores those of tokenizer.json.",
  "prefix-space":
    "Classes of transformers that follow tokenizer_config.json give another first token than other programs.",
  "no-equal": "This program splits text by a different pattern, so its ids differ.",
  "missing-bytes": "Text that contains these bytes loses them, or gets an unknown token instead.",
  "merge-without-token":
    "The library tokenizers refuses a file with a merge whose parts or result are not in the vocabulary.",
  "repeated-merge": "Programs differ in which of the two ranks counts, so ids differ.",
  "repeated-key": "JSON readers differ in which of the two values counts.",
  "shared-id": "Two tokens with the same id decode to the same text.",
  "unused-merges":
    "No text uses these merges: earlier merges always consume their parts, or no merge makes these parts. This is common and harmless in converted files.",
  "same-bytes": "Encoding gives only one of these ids, so a model never learns the others.",
  "unreachable-tokens": "No text is encoded to these tokens: their rows in the embeddings are never trained.",
  "id-holes": "These ids decode to nothing; a model may still predict them.",
  "vocab-size": "The model has no row for the largest ids, and stops or reads beyond its embeddings.",
  "large-vocab-size": "The model has many more rows than tokens, and may predict ids that decode to nothing.",
  "role-without-token": "transformers adds this token with a new id, for which the model has no row.",
  "roles-disagree": "Programs that read different files use different tokens.",
  "stop-token": "Generation does not stop where the tokenizer ends a text.",
  "pad-is-eos":
    "Training leaves padding out of the loss, and with it the eos after each text: the model may not learn to stop.",
  "no-eos": "Without an end token, generation stops only at the length limit.",
  "repeated-token": "A token that is listed twice has different flags or ids in different programs.",
  "added-id": "transformers and tokenizers give this token different ids.",
  "template-pieces": "The model sees these markers as several ordinary tokens, which any user can type.",
  "special-is-text": "Ordinary text contains this special token, and is encoded as it.",
  "files-disagree": "Programs that read different files of this directory get different ids.",
  "file-not-compared": "Nobody has checked that this file has the same ids.",
  "private-data": "Tokens are published with the model: they show what its corpus contained.",
  "costly-languages": "Users of these languages pay more, and fit less text into the context.",
  "parts-of-characters": "Such tokens can break a character in two when text is streamed or truncated.",
  "one-document-tokens":
    "The model learns these tokens from one document, and may repeat it; if the text is the corpus, that document made them.",
  "costly-scripts": "Text in these scripts costs more, and less of it fits into the context.",
  "unlike-corpus": "The tokenizer was trained on other text: such text costs more than that of its corpus.",
  "rare-tokens": "Tokens that hardly occur have untrained rows (glitch tokens).",
} as const;

export type CheckName = keyof typeof checks;

/** The result of a check. */
export type Finding = {
  readonly check: CheckName;
  readonly severity: Severity;
  readonly message: string;
  /** Lines that show the fault: a text and its ids, or values of files. */
  readonly evidence: readonly string[];
  /** The first tokens that have the fault. */
  readonly tokens: readonly { readonly id: number; readonly token: string }[];
  /** How many tokens, merges or other things have the fault; null if they are not counted. */
  readonly count: number | null;
  readonly why: string;
  /** What to do about the fault; null if nothing is proposed. */
  readonly fix: string | null;
  /** A command that applies the fix; null if there is none. */
  readonly command: string | null;
};

type Details = Partial<Pick<Finding, "why" | "evidence" | "tokens" | "count" | "fix" | "command">>;

export const finding = (
  check: CheckName,
  severity: Severity,
  message: string,
  details: Details = {},
): Finding => ({
  ...{ check, severity, message, evidence: [], tokens: [], count: null, why: checks[check] },
  ...{ fix: null, command: null },
  ...details,
});

/** The maximum number of tokens that a finding lists. */
const listedTokens = 20;

/**
 * Returns the fields `tokens` and `count` of a finding: the first of these ids as tokens, and the number of all ids.
 */
export function tokensOf(parts: TokenizerParts, ids: readonly number[]): Pick<Finding, "tokens" | "count"> {
  const nameOf = tokenKeys.namer(parts);
  return {
    tokens: ids.slice(0, listedTokens).map((id) => ({ id, token: nameOf(id, 80) })),
    count: ids.length,
  };
}

export function percent(count: number, total: number): string {
  const shown = ((100 * count) / Math.max(1, total)).toFixed(1);
  return count > 0 && shown === "0.0" ? "under 0.1 %" : `${shown} %`;
}

/** Returns the severity of a fault that affects this share of the vocabulary. */
export function severityOfShare(share: number, warningFrom: number, errorFrom: number): Severity {
  return share >= errorFrom ? "error" : share >= warningFrom ? "warning" : "note";
}
