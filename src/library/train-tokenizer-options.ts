// Made by `npm run suite options` from the tables in src/options.
import type { Texts } from "#corpus";
import type { StageProgress } from "#jobs";
import type { GivenWords } from "#words";

/**
 * What a tokenizer is trained on, and how. The corpus is all that `files`, `texts`, `counts` and
 * `wordCounts` have together, or it is in `languages`.
 */
export type TrainTokenizerOptions = {
  /**
   * Paths or globs of the corpus, or directories. Text, JSON lines, JSON, Parquet, compressed or not.
   */
  readonly files?: string | readonly string[] | undefined;
  /**
   * Texts in memory, or from an iterator; each is a separate document. They are read once, while words are
   * counted, and are not kept in memory.
   */
  readonly texts?: Texts | undefined;
  /**
   * Words, as the pattern cuts them, and how often each occurs: a Map, or pairs. The library does not check
   * that the pattern would produce these words.
   */
  readonly wordCounts?: GivenWords | undefined;
  /**
   * The size of the vocabulary: 256 bytes, special tokens and merges. Several sizes, as in [16_384, 32_768],
   * are made by one run: each is written into a directory of the output that is named by its size. When a
   * tokenizer is extended, "+8000" is the number of new tokens.
   */
  readonly vocabSize?: number | readonly number[] | `+${string}` | undefined;
  /**
   * Tokens that are never merged. A document ends wherever one occurs. The text of a special token is never
   * counted, and it has an id of its own. Where several match, the longest wins.
   */
  readonly specialTokens?: readonly string[] | undefined;
  /**
   * Special tokens get the first ids. Then come the 256 bytes, in order, and then the merges: the layout of
   * tekken.json. With `compat` huggingface, special tokens always come first.
   */
  readonly specialTokensFirst?: boolean | undefined;
  /**
   * How text is split: a name (cl100k, …; bpe help docs/size-and-pattern.md) or a regular expression. No
   * token crosses a split. Default: gpt2.
   */
  readonly pattern?: string | undefined;
  /**
   * Normalize text before it is split, e.g. NFC or NFKC,lowercase. Steps in order, separated by commas: NFC,
   * NFD, NFKC, NFKD, lowercase. They apply to text between special tokens, in training and whenever the
   * tokenizer encodes. Only tokenizer.json can store this, so other formats are not written.
   */
  readonly normalize?: string | readonly string[] | undefined;
  /**
   * Which trainer to match. Merges and ids are those of that trainer: which of equally frequent pairs is
   * merged first, and whether text is read line by line. Special tokens in the text end documents. HF's
   * trainer learns from them as from any text; to match it, add `specialTokensAsText`. Default: cs336.
   */
  readonly compat?: "cs336" | "huggingface" | "rustbpe" | "extension" | undefined;
  /**
   * Stop when the most frequent pair occurs fewer times. Default: 1, or 0 with `compat` huggingface.
   */
  readonly minFrequency?: number | undefined;
  /**
   * Longest token, in bytes. With `compat` huggingface, tokens are shorter than N; two bytes are always
   * allowed. At least 1.
   */
  readonly maxTokenLength?: number | undefined;
  /**
   * No token joins a whole character with a part of another. Two tokens are merged only if both are whole
   * characters, or if the left one is the beginning of a character and the right one its next byte. Bytes
   * that are not UTF-8 are never merged.
   */
  readonly wholeCharacters?: boolean | undefined;
  /**
   * Texts that the vocabulary must have as tokens. They are ordinary tokens, used only where the pattern does
   * not split them. Their merges come first, whatever their counts, and later merges build on them. With
   * `extend`, their merges come after those of the base, and are made of its tokens. A text that the pattern
   * splits wherever it occurs is an error.
   */
  readonly seedTokens?: readonly string[] | undefined;
  /**
   * From a vocabulary of N on, learn tokens that cross spaces. SuperBPE: ordinary training up to N, then
   * merges across the words of a line, up to four words per token. The corpus is read twice. At least 1.
   */
  readonly superwordsFrom?: number | undefined;
  /**
   * How the tokenizer splits text, superwords included. Default: SuperBPE's: splits at numbers and runs of
   * punctuation.
   */
  readonly superwordPattern?: string | undefined;
  /**
   * A tokenizer to add tokens to. Training continues after its merges. Its tokens keep their ids, and new
   * tokens get the ids after them. Without a size and a corpus, only the given special tokens, seed tokens
   * and renames change it. Pattern and formats stay; documents also end at the given special tokens.
   */
  readonly extend?: string | undefined;
  /**
   * New texts for special tokens of the base, keyed by the old texts; their ids stay.
   */
  readonly rename?: Readonly<Record<string, string>> | undefined;
  /**
   * Take everything but the merges from this tokenizer. Pattern, normalization, special tokens, roles, chat
   * template, post-processor and tokenizer class come from an existing tokenizer, as in transformers'
   * train_new_from_iterator. Explicit options take precedence. The order of ids, and which of equally
   * frequent pairs is merged first, follow `compat`; without it, they follow the training.json of that
   * tokenizer or, if it has none, `compat` huggingface. Added tokens that are not special get ids after the
   * size that you ask for. TOKENIZER is a path, or one of the names gpt2, gpt-4, gpt-4o, llama3, llama4 and
   * qwen3.
   */
  readonly like?: string | undefined;
  /**
   * With `compat` huggingface: do not split text at line ends. HF's trainer reads files line by line, but
   * texts from an iterator whole: a token may cross a line end, and special tokens in a text are plain text.
   * With this option, every text or record is read whole.
   */
  readonly wholeTexts?: boolean | undefined;
  /**
   * Special tokens in the text are plain text. With `compat` huggingface, this matches HF's trainer, which
   * learns from <|endoftext|> in a file. Without this option, documents end at special tokens. With `extend`,
   * the base's special tokens end none either.
   */
  readonly specialTokensAsText?: boolean | undefined;
  /**
   * Fill the vocabulary to a multiple of N. Reserved special tokens are added after all others. At least 1.
   */
  readonly padTo?: number | undefined;
  /**
   * Record field with the text. Records are lines of JSON, elements of a JSON array, and rows of Parquet.
   * Each is a document; its text is in a field, or column, of this name. Default: text.
   */
  readonly textField?: string | undefined;
  /**
   * In directories, read only files that match. Without a slash, GLOB matches file names at any depth. With
   * one, it matches paths below the directory.
   */
  readonly include?: readonly string[] | undefined;
  /**
   * Read every input as this format. Default: by name and content.
   */
  readonly inputFormat?: "text" | "jsonl" | "json" | "parquet" | "fasta" | undefined;
  /**
   * Read files that are not text as text. Without it, an archive, an image or a program is an error; in a
   * directory, it is skipped and listed.
   */
  readonly binary?: "text" | undefined;
  /**
   * Files by language, instead of files. Each merge is then learned from the language whose text has the most
   * tokens. If all languages have dev texts, these are compared instead (bpe help docs/clean-and-fair.md). If
   * several languages have equally many tokens, the first of them wins.
   */
  readonly languages?:
    | readonly {
        readonly name: string;
        readonly files: string | readonly string[];
        readonly dev?: string | readonly string[] | undefined;
      }[]
    | undefined;
  /**
   * Target bytes per token of each language, relative. One number for each language, in the order in which
   * they are named. The language with the fewest bytes per token, divided by its number, gets the next merge.
   */
  readonly languageRatio?: readonly number[] | undefined;
  /**
   * In any `size` merges, a language gets at most `alpha` times its share: e.g. in 100 merges, at most 2.0
   * times. A language above its limit waits, unless all are above theirs.
   */
  readonly languageWindow?: { readonly size: number; readonly alpha: number } | undefined;
  /**
   * Learn the first N merges from all text together.
   */
  readonly globalMerges?: number | undefined;
  /**
   * How often the words of some inputs count: the path of an input, a folder above it, or a glob, and its
   * weight, as in {"corpus/en": 0.5, "*.hi.txt": 3}. The last weight that matches an input applies; the
   * default is 1. A weight is a number from 0 to 1,000,000 with at most six decimal places.
   */
  readonly weights?: Readonly<Record<string, number>> | undefined;
  /**
   * The directory of the tokenizer, written as a whole or not at all. It may be absent or empty, or contain
   * the result of an earlier training, which is replaced. If it is left out, the tokenizer is saved by its
   * method save.
   */
  readonly output?: string | undefined;
  /**
   * Which files to write. Names, separated by commas: huggingface is tokenizer.json and what transformers
   * reads next to it, gpt2 vocab.json and merges.txt, tiktoken a rank file, tekken tekken.json, for
   * mistral-common, gguf tokenizer.gguf, for llama.cpp (tekken and gguf only if named). The command line and
   * Python also accept image: tokenizer.image next to the others, which Python and C load instantly. If it is
   * the only one named, all others that apply are also written. Default: all that apply.
   */
  readonly formats?: readonly ("huggingface" | "gpt2" | "tiktoken" | "tekken" | "gguf")[] | undefined;
  /**
   * Write tokens.tsv: how often each token occurs. For each token, the file lists how often it occurred when
   * it was created and at the end, and the two tokens merged into it. By default, it is written if it is
   * below 1 MB and `formats` is not given.
   */
  readonly ledger?: boolean | undefined;
  /**
   * Number of threads. The main thread is one of them. The default is all cores that this process may use,
   * and 1 for small inputs. The result does not depend on it. At least 1. Default: all cores.
   */
  readonly workers?: number | undefined;
  /**
   * Memory to use; the rest goes to disk. A size such as 800MB, 2GB or 1.5GiB. The result does not depend on
   * it. The default is a share of the memory that the machine or the control group has. Default: 80 %.
   */
  readonly memoryLimitBytes?: number | undefined;
  /**
   * Keep word counts; count only what is new. The word counts of each file are kept in DIR. Files are
   * identified by their content. Any number of runs can share the directory.
   */
  readonly cache?: string | undefined;
  /**
   * With `cache`: its largest size, e.g. 10GB. The least recently used entries are evicted first. Default: no
   * limit.
   */
  readonly cacheLimitBytes?: number | undefined;
  /**
   * With `cache`: do nothing if nothing changed. That is, if the tokenizer in the output was made from the
   * same inputs with the same options.
   */
  readonly ifChanged?: boolean | undefined;
  /**
   * Keep the last N results that were replaced. They stay next to the output, as DIR.<UTC start of their
   * run>.
   */
  readonly keep?: number | undefined;
  /**
   * Word counts to add to the corpus. FILE is a path or a glob. With counts, no corpus is needed. Pattern and
   * special tokens come from the counts; if they are given as well, they must agree.
   */
  readonly counts?: string | readonly string[] | undefined;
  /**
   * Also write the word counts. A name that ends in .tsv gets text, any other name the compact binary form.
   */
  readonly saveCounts?: string | undefined;
  /** What `transformers` reads in addition to vocabulary and merges. */
  readonly model?:
    | {
        readonly roles?:
          | {
              /**
               * The special token that the model uses as bos. An empty TEXT means none. Default: by its name,
               * e.g. <|endoftext|>.
               */
              readonly bos?: string | undefined;
              /**
               * The special token that the model uses as eos. An empty TEXT means none. Default: by its name,
               * e.g. <|endoftext|>.
               */
              readonly eos?: string | undefined;
              /**
               * The special token that the model uses as pad. An empty TEXT means none. Default: by its name,
               * e.g. <|pad|>, or as the chat template has it.
               */
              readonly pad?: string | undefined;
              /**
               * The special token that the model uses as unk. By default there is none, because every text
               * can be encoded without it.
               */
              readonly unk?: string | undefined;
            }
          | undefined;
        /**
         * Prepend bos to every encoded text. A post-processor in tokenizer.json adds it.
         */
        readonly addsBos?: boolean | undefined;
        /**
         * How a chat becomes text. chatml, gemma or llama3, or a file with a Jinja template. A name also sets
         * the special tokens and roles of its models, unless you give others.
         */
        readonly chatTemplate?: string | undefined;
        /**
         * Longest input of the model, in tokens. At least 1.
         */
        readonly modelMaxLength?: number | undefined;
        /**
         * The transformers class that loads the tokenizer. Default: PreTrainedTokenizerFast.
         */
        readonly tokenizerClass?: string | undefined;
      }
    | undefined;
  /**
   * Write README.md, the page that a model hub shows. It describes the tokenizer, what it was trained on, and
   * how to use it. It names none of your files.
   */
  readonly modelCard?: boolean | undefined;
  /**
   * Aborts the training: it rejects with the signal's reason, and leaves no files.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called several times a second; if it throws, the training ends with that error.
   */
  readonly onProgress?: ((progress: StageProgress) => void) | undefined;
  /**
   * Called with each warning: not an error, but perhaps not what you intended.
   */
  readonly onWarning?: ((message: string) => void) | undefined;
};
