"""The parameters of `train`, and what else is stated in `src/`. Made by `npm run suite options`."""

from __future__ import annotations

from ._arguments import suggest_parameters
from ._executable import t
from ._training import train_with

__version__ = "0.1.0"

#: The names of the files in a directory that determine the tokenizer loaded from it.
FILES = (
    "tokenizer.json", "vocab.json", "merges.txt", "tokenizer.tiktoken", "tokenizer.model", "tekken.json",
    "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "chat_template.jinja",
    "chat_template.json", "training.json",
)

#: The parameters that are options of `bpe train`, except `vocab_size` and `output`, by how `_training.py`
#: writes their values.
PARAMETERS = {
    "texts": ("special_tokens", "seed_tokens", "include"),
    "flag": (
        "special_tokens_first", "whole_characters", "whole_texts", "special_tokens_as_text", "if_changed",
        "add_bos", "model_card", "wait",
    ),
    "paths": ("special_tokens_file", "counts"),
    "value": (
        "pattern", "compat", "min_frequency", "max_token_length", "superwords_from", "superword_pattern",
        "pad_to", "text_field", "input_format", "binary", "global_merges", "workers", "memory_limit",
        "cache_limit", "keep", "bos", "eos", "pad", "unk", "chat_template", "model_max_length",
        "tokenizer_class",
    ),
    "listed": ("normalize", "formats"),
    "path": ("seed_tokens_file", "extend", "like", "report", "cache", "save_counts", "log_file"),
    "renames": ("rename",),
    "languages": ("languages", "languages_dev"),
    "numbers": ("language_ratio",),
    "fields": ("language_window",),
    "weights": ("weights",),
    "decision": ("ledger",),
}
#: The options whose parameters have other names.
OPTIONS = {
    "special_tokens": "special-token",
    "special_tokens_file": "special-tokens",
    "seed_tokens": "seed-token",
    "seed_tokens_file": "seed-tokens",
    "languages": "language",
    "languages_dev": "language-dev",
    "weights": "weight",
    "formats": "format",
    "tokenizer_class": "class",
}


@suggest_parameters
def train(
    files: t.Union[t.PathLike, t.Sequence[t.PathLike], t.Texts, None] = None,
    vocab_size: t.Union[int, str, t.Sequence[int], None] = None,
    *,
    texts: t.Union[t.Texts, None] = None,
    special_tokens: t.Sequence[str] = (),
    special_tokens_first: bool = False,
    special_tokens_file: t.Union[t.Union[t.PathLike, t.Sequence[t.PathLike]], None] = None,
    pattern: t.Union[str, None] = None,
    normalize: t.Union[str, t.Sequence[str], None] = None,
    compat: t.Union[str, None] = None,
    min_frequency: t.Union[int, None] = None,
    max_token_length: t.Union[int, None] = None,
    whole_characters: bool = False,
    seed_tokens: t.Sequence[str] = (),
    seed_tokens_file: t.Union[t.PathLike, None] = None,
    superwords_from: t.Union[int, None] = None,
    superword_pattern: t.Union[str, None] = None,
    extend: t.Union[t.PathLike, None] = None,
    rename: t.Union[t.Mapping[str, str], None] = None,
    like: t.Union[t.PathLike, None] = None,
    whole_texts: bool = False,
    special_tokens_as_text: bool = False,
    pad_to: t.Union[int, None] = None,
    text_field: t.Union[str, None] = None,
    include: t.Sequence[str] = (),
    input_format: t.Union[str, None] = None,
    binary: t.Union[str, None] = None,
    languages: t.Union[t.Mapping[str, t.Union[t.PathLike, t.Sequence[t.PathLike]]], None] = None,
    languages_dev: t.Union[t.Mapping[str, t.Union[t.PathLike, t.Sequence[t.PathLike]]], None] = None,
    language_ratio: t.Union[t.Sequence[float], None] = None,
    language_window: t.Union[t.Sequence[float], None] = None,
    global_merges: t.Union[int, None] = None,
    weights: t.Union[t.Mapping[str, float], None] = None,
    output: t.Union[t.PathLike, None] = None,
    formats: t.Union[t.Sequence[str], None] = None,
    ledger: t.Union[bool, None] = None,
    report: t.Union[t.PathLike, None] = None,
    workers: t.Union[int, None] = None,
    memory_limit: t.Union[str, None] = None,
    cache: t.Union[t.PathLike, None] = None,
    cache_limit: t.Union[str, None] = None,
    if_changed: bool = False,
    keep: t.Union[int, None] = None,
    counts: t.Union[t.Union[t.PathLike, t.Sequence[t.PathLike]], None] = None,
    save_counts: t.Union[t.PathLike, None] = None,
    bos: t.Union[str, None] = None,
    eos: t.Union[str, None] = None,
    pad: t.Union[str, None] = None,
    unk: t.Union[str, None] = None,
    add_bos: bool = False,
    chat_template: t.Union[str, None] = None,
    model_max_length: t.Union[int, None] = None,
    tokenizer_class: t.Union[str, None] = None,
    model_card: bool = False,
    wait: bool = False,
    log_file: t.Union[t.PathLike, None] = None,
    progress: t.Union[bool, t.Progress] = False,
) -> t.Tokenizer:
    """Trains a tokenizer and loads it.

    ``files`` is one path or several: text, JSON lines, Parquet, compressed or not, directories. ``texts`` is any iterable
    of strings, or of lists of strings, each string a document of its own; it is read once, as fast as words are counted,
    and never held. An iterable that is not a list or tuple may be given as ``files``, too, unless it begins with the path
    of a file. For a data set, name the column: ``texts=dataset["text"]``.

    ``vocab_size``: The size of the vocabulary: 256 bytes, special tokens and merges. Several sizes, as in
        [16_384, 32_768], are made by one run: each is written into a directory of the output that is named by
        its size. When a tokenizer is extended, "+8000" is the number of new tokens.
    ``special_tokens``: Tokens that are never merged. A document ends wherever one occurs. The text of a
        special token is never counted, and it has an id of its own. Where several match, the longest wins.
    ``special_tokens_first``: Special tokens get the first ids. Then come the 256 bytes, in order, and then
        the merges: the layout of tekken.json. With ``compat`` huggingface, special tokens always come first.
    ``special_tokens_file``: Special tokens from a file: one per line, or JSON. Each line is a special token,
        as in ``special_tokens``. If you give both options, their tokens come in the order of the options. A
        JSON file is a list of tokens, or a tokenizer.json, whose special tokens come in the order of their
        ids. Empty lines are ignored. A line must not begin or end with white space; a token in a JSON list
        may.
    ``pattern``: How text is split: a name (cl100k, …; bpe help docs/size-and-pattern.md) or a regular
        expression. No token crosses a split. Default: gpt2.
    ``normalize``: Normalize text before it is split, e.g. NFC or NFKC,lowercase. Steps in order, separated by
        commas: NFC, NFD, NFKC, NFKD, lowercase. They apply to text between special tokens, in training and
        whenever the tokenizer encodes. Only tokenizer.json can store this, so other formats are not written.
    ``compat``: Which trainer to match. Merges and ids are those of that trainer: which of equally frequent
        pairs is merged first, and whether text is read line by line. Special tokens in the text end
        documents. HF's trainer learns from them as from any text; to match it, add
        ``special_tokens_as_text``. Default: cs336.
    ``min_frequency``: Stop when the most frequent pair occurs fewer times. Default: 1, or 0 with ``compat``
        huggingface.
    ``max_token_length``: Longest token, in bytes. With ``compat`` huggingface, tokens are shorter than N; two
        bytes are always allowed. At least 1.
    ``whole_characters``: No token joins a whole character with a part of another. Two tokens are merged only
        if both are whole characters, or if the left one is the beginning of a character and the right one its
        next byte. Bytes that are not UTF-8 are never merged.
    ``seed_tokens``: Texts that the vocabulary must have as tokens. They are ordinary tokens, used only where
        the pattern does not split them. Their merges come first, whatever their counts, and later merges
        build on them. With ``extend``, their merges come after those of the base, and are made of its tokens.
        A text that the pattern splits wherever it occurs is an error.
    ``seed_tokens_file``: Seed tokens from a file: one per line, or a JSON list. These tokens come after those
        of ``seed_tokens``. A token with a line end needs a JSON list.
    ``superwords_from``: From a vocabulary of N on, learn tokens that cross spaces. SuperBPE: ordinary
        training up to N, then merges across the words of a line, up to four words per token. The corpus is
        read twice. At least 1.
    ``superword_pattern``: How the tokenizer splits text, superwords included. Default: SuperBPE's: splits at
        numbers and runs of punctuation.
    ``extend``: A tokenizer to add tokens to. Training continues after its merges. Its tokens keep their ids,
        and new tokens get the ids after them. Without a size and a corpus, only the given special tokens,
        seed tokens and renames change it. Pattern and formats stay; documents also end at the given special
        tokens.
    ``rename``: New texts for special tokens of the base, keyed by the old texts; their ids stay.
    ``like``: Take everything but the merges from this tokenizer. Pattern, normalization, special tokens,
        roles, chat template, post-processor and tokenizer class come from an existing tokenizer, as in
        transformers' train_new_from_iterator. Explicit options take precedence. The order of ids, and which
        of equally frequent pairs is merged first, follow ``compat``; without it, they follow the
        training.json of that tokenizer or, if it has none, ``compat`` huggingface. Added tokens that are not
        special get ids after the size that you ask for. TOKENIZER is a path, or one of the names gpt2, gpt-4,
        gpt-4o, llama3, llama4 and qwen3.
    ``whole_texts``: With ``compat`` huggingface: do not split text at line ends. HF's trainer reads files
        line by line, but texts from an iterator whole: a token may cross a line end, and special tokens in a
        text are plain text. With this option, every text or record is read whole.
    ``special_tokens_as_text``: Special tokens in the text are plain text. With ``compat`` huggingface, this
        matches HF's trainer, which learns from <|endoftext|> in a file. Without this option, documents end at
        special tokens. With ``extend``, the base's special tokens end none either.
    ``pad_to``: Fill the vocabulary to a multiple of N. Reserved special tokens are added after all others. At
        least 1.
    ``text_field``: Record field with the text. Records are lines of JSON, elements of a JSON array, and rows
        of Parquet. Each is a document; its text is in a field, or column, of this name. Default: text.
    ``include``: In directories, read only files that match. Without a slash, GLOB matches file names at any
        depth. With one, it matches paths below the directory.
    ``input_format``: Read every input as this format. Default: by name and content.
    ``binary``: Read files that are not text as text. Without it, an archive, an image or a program is an
        error; in a directory, it is skipped and listed.
    ``languages``: Files by language, instead of files. Each merge is then learned from the language whose
        text has the most tokens. If all languages have dev texts, these are compared instead (bpe help
        docs/clean-and-fair.md). If several languages have equally many tokens, the first of them wins.
    ``languages_dev``: Text for comparing the languages. Give it for all languages or for none. Nothing is
        learned from it.
    ``language_ratio``: Target bytes per token of each language, relative. One number for each language, in
        the order in which they are named. The language with the fewest bytes per token, divided by its
        number, gets the next merge.
    ``language_window``: In any `size` merges, a language gets at most `alpha` times its share: e.g. in 100
        merges, at most 2.0 times. A language above its limit waits, unless all are above theirs.
    ``global_merges``: Learn the first N merges from all text together.
    ``weights``: How often the words of some inputs count: the path of an input, a folder above it, or a glob,
        and its weight, as in {"corpus/en": 0.5, "*.hi.txt": 3}. The last weight that matches an input
        applies; the default is 1. A weight is a number from 0 to 1,000,000 with at most six decimal places.
    ``output``: The directory of the tokenizer, written as a whole or not at all. It may be absent or empty,
        or contain the result of an earlier training, which is replaced. If it is left out, the tokenizer is
        saved by its method save.
    ``formats``: Which files to write. Names, separated by commas: huggingface is tokenizer.json and what
        transformers reads next to it, gpt2 vocab.json and merges.txt, tiktoken a rank file, tekken
        tekken.json, for mistral-common, gguf tokenizer.gguf, for llama.cpp (tekken and gguf only if named).
        The command line and Python also accept image: tokenizer.image next to the others, which Python and C
        load instantly. If it is the only one named, all others that apply are also written. Default: all that
        apply.
    ``ledger``: Write tokens.tsv: how often each token occurs. For each token, the file lists how often it
        occurred when it was created and at the end, and the two tokens merged into it. By default, it is
        written if it is below 1 MB and ``formats`` is not given.
    ``report``: Write charts, tables and tokens as one HTML page. The page starts with the findings, needs no
        network, and never runs code from the texts it shows.
    ``workers``: Number of threads. The main thread is one of them. The default is all cores that this process
        may use, and 1 for small inputs. The result does not depend on it. At least 1. Default: all cores.
    ``memory_limit``: Memory to use; the rest goes to disk. A size such as 800MB, 2GB or 1.5GiB. The result
        does not depend on it. The default is a share of the memory that the machine or the control group has.
        Default: 80 %.
    ``cache``: Keep word counts; count only what is new. The word counts of each file are kept in DIR. Files
        are identified by their content. Any number of runs can share the directory.
    ``cache_limit``: With ``cache``: its largest size, e.g. 10GB. The least recently used entries are evicted
        first. Default: no limit.
    ``if_changed``: With ``cache``: do nothing if nothing changed. That is, if the tokenizer in the output was
        made from the same inputs with the same options.
    ``keep``: Keep the last N results that were replaced. They stay next to the output, as DIR.<UTC start of
        their run>.
    ``counts``: Word counts to add to the corpus. FILE is a path or a glob. With counts, no corpus is needed.
        Pattern and special tokens come from the counts; if they are given as well, they must agree.
    ``save_counts``: Also write the word counts. A name that ends in .tsv gets text, any other name the
        compact binary form.
    ``bos``: The special token that the model uses as bos. An empty TEXT means none. Default: by its name,
        e.g. <|endoftext|>.
    ``eos``: The special token that the model uses as eos. An empty TEXT means none. Default: by its name,
        e.g. <|endoftext|>.
    ``pad``: The special token that the model uses as pad. An empty TEXT means none. Default: by its name,
        e.g. <|pad|>, or as the chat template has it.
    ``unk``: The special token that the model uses as unk. By default there is none, because every text can be
        encoded without it.
    ``add_bos``: Prepend bos to every encoded text. A post-processor in tokenizer.json adds it.
    ``chat_template``: How a chat becomes text. chatml, gemma or llama3, or a file with a Jinja template. A
        name also sets the special tokens and roles of its models, unless you give others.
    ``model_max_length``: Longest input of the model, in tokens. At least 1.
    ``tokenizer_class``: The transformers class that loads the tokenizer. Default: PreTrainedTokenizerFast.
    ``model_card``: Write README.md, the page that a model hub shows. It describes the tokenizer, what it was
        trained on, and how to use it. It names none of your files.
    ``wait``: Wait while another run writes the output. Without it, the second run ends at once with an error
        that names the process of the first.
    ``log_file``: Append progress, warnings and the record. The last line is the record of the run, as JSON,
        even if the run failed.

    ``progress`` is True for a line on stderr, or a function; what the function raises ends the run.

    Warnings of ``bpe`` become Python warnings. Raises BpeError with the message of ``bpe``. On Ctrl-C it ends the run,
    leaves nothing half-written, and raises KeyboardInterrupt.
    """
    return train_with(PARAMETERS, OPTIONS, locals())
