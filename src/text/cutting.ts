/** A token that is found in the text before the pattern cuts it. HF's name, and HF's flags. */
export type AddedToken = {
  readonly id: number;
  readonly content: string;
  /** Control, not text: with `--special-tokens-as-text` it stays text. */
  readonly special: boolean;
  /** Looked for in the normalized text between the other added tokens. */
  readonly normalized: boolean;
  /** Takes along the white space before (behind) it. */
  readonly lstrip: boolean;
  readonly rstrip: boolean;
  /** Counts only where no word character touches it. */
  readonly singleWord: boolean;
};

export const plainSpecial = {
  special: true,
  normalized: false,
  lstrip: false,
  rstrip: false,
  singleWord: false,
} as const;

export const normalizationForms = ["NFC", "NFD", "NFKC", "NFKD"] as const;
export type NormalizationForm = (typeof normalizationForms)[number];
