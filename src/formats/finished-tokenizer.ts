import type { patternForms } from "#pattern";
import type { Normalization } from "#text";
import type { encodingModels, modelSettings, Vocabulary } from "#tokenizer";

/** What all formats write: the vocabulary, how text is normalized and cut, and the settings for a model. */
export type FinishedTokenizer = {
  readonly vocabulary: Vocabulary;
  readonly normalization: Normalization | null;
  readonly exportForm: patternForms.PatternExport;
  readonly model: modelSettings.ModelSettings;
  /** The settings of the tokenizer given to --like, or of the one that is being converted. */
  readonly like?: modelSettings.Like | null;
  /** Present if merging begins with characters. Then all tokens of the vocabulary are special or `others`. */
  readonly characters?: CharacterMerges;
};

/**
 * The kinds of tokens in SentencePiece's files, in the order of their numbers, which start at 1. llama.cpp uses the
 * same numbers.
 */
export const pieceKinds = ["normal", "unknown", "control", "user-defined", "unused", "byte"] as const;
export type PieceKind = (typeof pieceKinds)[number];

/** The merges of a tokenizer whose merging begins with characters, as its files need them. */
export type CharacterMerges = {
  /** For tokenizer.json, which lists pairs: as ids, in the order of ranks. */
  readonly merges: Pick<encodingModels.RankedMerges, "left" | "right">;
  /** Why a tokenizer.json would give other ids, if so. */
  readonly jsonObstacle: string | null;
  /** For llama.cpp, which merges as SentencePiece: the kind and the score of each token. */
  readonly kinds: readonly PieceKind[];
  readonly scores: Float32Array;
  readonly addsPrefix: boolean;
  /** Why llama.cpp would give other ids, if so. */
  readonly llamaObstacle: string | null;
  /** The tokens that llama.cpp takes for control tokens only because of their names. */
  readonly llamaControls: readonly string[];
};
