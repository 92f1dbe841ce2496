import type { patternForms } from "#pattern";
import type { Normalization } from "#text";
import type { encodingModels, modelSettings, Vocabulary } from "#tokenizer";

/**
 * A tokenizer in the form from which every format is written: the vocabulary, how text is normalized and cut, and how a
 * language model uses the tokenizer (such as the roles of special tokens, and the chat template).
 */
export type FinishedTokenizer = {
  readonly vocabulary: Vocabulary;
  readonly normalization: Normalization | null;
  readonly exportForm: patternForms.PatternExport;
  readonly model: modelSettings.ModelSettings;
  /** The settings of the tokenizer given to --like, or of the one that is being converted. */
  readonly like?: modelSettings.Like | null;
  /**
   * Present if merging begins with characters. Then all tokens are in `specialTokens` or in `others` of the vocabulary.
   */
  readonly characters?: CharacterMerges;
};

/** The kinds of tokens in SentencePiece's files and in llama.cpp, in the order of their numbers, which start at 1. */
export const pieceKinds = ["normal", "unknown", "control", "user-defined", "unused", "byte"] as const;
export type PieceKind = (typeof pieceKinds)[number];

/** The merges of a tokenizer whose merging begins with characters, as its files need them. */
export type CharacterMerges = {
  /** The merges as ids, in the order of ranks, for tokenizer.json. */
  readonly merges: Pick<encodingModels.RankedMerges, "left" | "right">;
  /** The reason why a tokenizer.json would give other ids; null if it would not. */
  readonly jsonObstacle: string | null;
  /** The kind of each token, for llama.cpp. */
  readonly kinds: readonly PieceKind[];
  /** The score of each token, for llama.cpp, which merges by scores like SentencePiece. */
  readonly scores: Float32Array;
  readonly addsPrefix: boolean;
  /** The reason why llama.cpp would give other ids; null if it would not. */
  readonly llamaObstacle: string | null;
  /** The tokens that llama.cpp takes for control tokens only because of their names. */
  readonly llamaControls: readonly string[];
};
