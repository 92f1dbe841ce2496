// The cases of the golden tests. The lines of a group run one after the other. A line is either
//
//     NAME: ARGUMENTS          the arguments of bpe, quoted as for a shell; `< FILE` gives a file as standard input
//     + KIND FROM TO [MORE]    makes the file TO from the file FROM (`makers` of make.ts)
//
// `@` is the directory of the group. Corpora (corpora.ts) are in the working directory.

const eot = "-s '<|endoftext|>'";

const named =
  "gpt2 r50k p50k cl100k gpt4 nanochat o200k llama3 qwen2 qwen3.5 tekken nemotron deepseek-v3 starcoder smollm falcon none".split(
    " ",
  );
/** Patterns that group digits from the right, with an unbounded look-ahead. */
const fromTheRight = "llama3-r2l gpt-4o-r2l marin marin-gpt-4o trinity".split(" ");
const mixes: readonly (readonly [name: string, file: string])[] = [
  ["english", "english.txt"],
  ["scripts", "scripts.txt"],
  ["code", "code.txt"],
  ["crlf", "crlf.txt"],
  ["invalid", "invalid.txt"],
  ["repetitive", "repetitive.txt"],
];

/** Regular expressions as users may write them. */
const userPatterns: readonly (readonly [name: string, pattern: string])[] = [
  ["words", "\\w+|[^\\w\\s]+|\\s+"],
  ["letters", "\\p{L}+|\\p{N}|[^\\p{L}\\p{N}]+"],
  ["gpt2-like", "'s|'t| ?\\p{L}+| ?\\p{N}{1,2}| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"],
  ["scripts", "\\p{Han}|\\p{Script=Hiragana}+|\\p{Greek}+|[^\\p{Han}\\p{Hiragana}\\p{Greek}]+"],
  ["case", "(?i:the|of|and)|[A-Z][a-z]*|[a-z]+|."],
  ["lazy", "a+?b|[a-z]{2,4}?|[\\s\\S]"],
  ["possessive", "\\p{L}++|\\s++|[^\\p{L}\\s]++"],
  ["gaps", "\\d+"],
  ["from-right", "\\d{1,3}(?=(?:\\d{3})*\\b)|\\p{L}+|[^\\d\\p{L}]+"],
  ["behind", "(?<=[a-z])[A-Z]|[\\s\\S]"],
  ["lines", "[^\\n]*\\n|[^\\n]+"],
  ["atomic", "(?>\\s+)|\\S+"],
  ["start", "^\\S+|\\s+|\\S+"],
];

const each = <T>(of: readonly T[], line: (item: T) => string) => of.map(line).join("\n");

const base = "train english.txt -n 500 -o @/base -w 1";
const rules = ["cs336", "huggingface", "rustbpe"];

export const smallGroups: Record<string, string> = {
  formats: `
    all: train english.txt -n 400 ${eot} -o @/all -w 1
    huggingface: train english.txt -n 400 ${eot} --format huggingface -o @/h -w 1
    gpt2: train english.txt -n 400 ${eot} --format gpt2 -o @/g -w 1
    tiktoken: train english.txt -n 400 ${eot} --format tiktoken --no-ledger -o @/t -w 1
    two: train scripts.txt -n 400 --format gpt2,tiktoken --ledger -o @/two -w 1
    replaced: train code.txt -n 300 -o @/two -w 1
    + write @/special.txt '<a>\\n\\n[PAD]\\n'
    + write @/special.json '["<b>", " c"]'
    special-lines: train english.txt -n 300 -s '<0>' --special-tokens @/special.txt -o @/special -w 1
    special-list: train english.txt -n 300 --special-tokens @/special.json -s '<0>' --special-tokens @/special.txt -o @/listed -w 1
    special-taken: train english.txt -n 300 --special-tokens @/listed/tokenizer.json -o @/taken -w 1
    special-count: count english.txt --special-tokens @/special.txt -w 1 -o @/special.tsv
    special-ids: encode one.txt --tokenizer @/listed/vocab.json -p gpt2 --special-tokens @/listed/tokenizer.json -w 1
    special-twice: train english.txt -n 300 -s '[PAD]' --special-tokens @/special.txt -o @/never -w 1
    special-none: train english.txt -n 300 --special-tokens empty.txt -o @/never -w 1
    record: train english.txt -n 300 -o @/json -w 1 --progress json
    summary-full: train english.txt -n 700 ${eot} -o @/full -w 1 --summary full
    summary-sizes: train english.txt -n 300,400 ${eot} -o @/full -w 1 --summary full
    summary-short: train dir english.txt -n 300 ${eot} -o @/short -w 1 --summary short
    summary-extend: train code.txt --extend @/full/400 -n +40 --pad-to 16 -o @/extended -w 1 --summary full
    summary-quiet: train english.txt -n 300 -o @/quiet -w 1 -q --summary full
    summary-wrong: train english.txt -n 300 -o @/never -w 1 --summary long
    quiet: train english.txt -n 300 -o @/quiet -w 1 -q
    log: train english.txt -n 300 -o @/logged -w 1 -q --log-file @/run.log`,
  rules: each(
    rules,
    (rule) =>
      each(
        [...mixes, ["ties", "ties.txt"]],
        ([name, file]) =>
          `${rule}-${name}: train ${file} -n 450 ${eot} --compat ${rule} -o @/${rule}-${name} -w 1`,
      ) +
      `
    ${rule}-frequency: train english.txt -n 3000 ${eot} --compat ${rule} --min-frequency 9 -o @/${rule}-f -w 1
    ${rule}-length: train english.txt repetitive.txt -n 500 --compat ${rule} --max-token-length 5 -o @/${rule}-l -w 1
    ${rule}-exhausted: train ties.txt -n 5000 --compat ${rule} -o @/${rule}-e -w 1
    ${rule}-one: train one.txt -n 300 --compat ${rule} -o @/${rule}-one -w 1
    ${rule}-specials: train english.txt -n 400 ${eot} -s '. ' -s '<|endoftext|><|endoftext|>' -s 'é漢' --compat ${rule} -o @/${rule}-s -w 1
`,
  ),
  workers: each(
    rules,
    (rule) => `
    ${each(["1", "2", "7"], (w) => `${rule}-${w}: train big.txt -n 900 ${eot} -p o200k --compat ${rule} -o @/${rule}-${w} -w ${w} --no-ledger -q`)}
    ${each(["1", "2", "7"], (w) => `${rule}-${w}-matcher: count crlf.txt -p '(?<=[a-z])[A-Z]|[\\s\\S]' --compat ${rule} -w ${w}`)}`,
  ),
  workers2: each(
    ["1", "2", "7"],
    (w) => `
    records-${w}: count lines.jsonl snappy.parquet zstd.parquet array.json -w ${w} -p cl100k
    streams-${w}: count - english.txt.gz lines.jsonl.gz english.txt.zst -w ${w} ${eot} < scripts.txt
    invalid-${w}: train invalid.txt big.txt -n 600 -p llama3 -o @/invalid-${w} -w ${w}
    repetitive-${w}: count repetitive.txt big.txt repetitive.txt -w ${w} -p deepseek-v3 -o @/repetitive-${w}.tsv`,
  ),
  ...Object.fromEntries(
    named.map((name) => [
      `pattern-${name}`,
      `
    train: train english.txt scripts.txt code.txt -n 450 -p ${name} ${eot} -o @/t -w 1
    ${name === "none" ? "" : each(mixes, ([corpus, file]) => `count-${corpus}: count ${file} -p ${name} -w 1 -o @/${corpus}.counts -q`)}
    encode: encode scripts.txt crlf.txt invalid.txt --tokenizer @/t -w 1
    inspect: inspect @/t`,
    ]),
  ),
  fromTheRight: each(
    fromTheRight,
    (name) => `
    ${name}: train english.txt scripts.txt big.txt -n 350 -p ${name} -o @/${name} -w 1
    ${name}-count: count invalid.txt big.txt repetitive.txt -p ${name} --compat huggingface -w 2 -o @/${name}.counts
    ${name}-encode: encode scripts.txt code.txt --tokenizer @/${name} -w 2`,
  ),
  userPatterns: each(
    userPatterns,
    ([name, pattern]) => `
    ${name}: train english.txt scripts.txt -n 350 -p "${pattern}" -o @/${name} -w 1
    ${name}-count: count crlf.txt invalid.txt -p "${pattern}" -w 1 -o @/${name}.counts
    ${name}-huggingface: count scripts.txt -p "${pattern}" --compat huggingface -w 2 -o @/${name}-h.counts
    ${name}-encode: encode code.txt --tokenizer @/${name} -w 2`,
  ),
  inputs: `
    ${each(["english.txt.gz", "english.txt.zst", "lines.jsonl", "array.json", "snappy.parquet", "bom.txt", "unended.txt", "dir"], (file) => `${file}: train ${file} -n 350 ${eot} -o @/${file} -w 1`)}
    field: train lines.jsonl zstd.parquet -n 350 --text-field body -o @/field -w 1
    include: count dir --include '*.txt' -w 1
    include-two: count dir --include 'b/*' --include '*.md' -w 1
    glob: count 'dir/**/*.txt' -w 1
    stdin: count - ${eot} -w 1 < english.txt
    stdin-unsaid: count ${eot} -w 1 < english.txt.gz
    as-text: count lines.jsonl --input-format text -w 1
    as-lines: count - --input-format jsonl -w 1 < lines.jsonl
    binary: count image.png --binary text -w 1
    fasta: train genome.fa --input-format fasta -p none -n 300 -o @/dna -w 1
    twice: count one.txt one.txt -w 1
    empty: count empty.txt -w 1
    empty-train: train empty.txt -n 300 -o @/empty -w 1
    empty-some: train empty.txt one.txt ties.txt -n 300 -o @/some -w 1`,
  counts: `
    tsv: count english.txt ${eot} -w 1 -o @/a.tsv
    binary: count scripts.txt ${eot} -w 2 -o @/b.counts
    stdout: count code.txt -w 1
    least: count english.txt ${eot} -w 1 --min-count 20
    both: count code.txt ${eot} -w 1 --save-counts @/c.counts -o @/c.tsv
    add: count --counts @/a.tsv --counts @/b.counts -w 1 -o @/sum.counts
    glob: count --counts '@/*.counts' -w 1 -o @/glob.tsv
    with: count one.txt --counts @/a.tsv -w 1
    train: train --counts @/a.tsv --counts @/b.counts -n 500 -o @/t -w 1
    train-with: train code.txt --counts @/a.tsv -n 500 ${eot} -o @/t2 -w 1 --save-counts @/t2.tsv
    ${each(rules.slice(1), (rule) => `${rule}: train --counts @/b.counts -n 500 --compat ${rule} -o @/${rule} -w 1`)}
    linewise: count english.txt --compat huggingface -w 1 -o @/lines.tsv
    linewise-train: train --counts @/lines.tsv -n 400 -o @/lines -w 1
    disagree: count --counts @/a.tsv --counts @/lines.tsv -w 1
    pattern: count --counts @/a.tsv -p cl100k -w 1
    + cut @/b.counts @/cut.counts 2000
    damaged: count --counts @/cut.counts -w 1
    + write @/bad.tsv 'Ġthe\t3\\nĠof x\\n'
    malformed: count --counts @/bad.tsv -w 1
    + write @/untold.tsv 'Ġthe\t3\\nĠof\t2\\n'
    untold: count --counts @/untold.tsv -w 1
    told: count --counts @/untold.tsv -w 1 -p gpt2 -s x`,
  plan: `
    text: plan big.txt ${eot} --range-size 100KB
    o200k: plan big.txt english.txt ${eot} -p o200k --range-size 64KB -o @/plan.jsonl
    huggingface: plan big.txt --compat huggingface --range-size 300KB
    records: plan lines.jsonl array.json snappy.parquet zstd.parquet english.txt.gz --range-size 64KB
    matcher: plan big.txt -p '(?<=[a-z])[A-Z]|[\\s\\S]' --range-size 64KB
    none: plan big.txt -p none --range-size 64KB
    + reverse @/plan.jsonl @/reversed.jsonl
    count: count --ranges @/plan.jsonl ${eot} -p o200k -w 2 -o @/ranges.counts
    reversed: count --ranges @/reversed.jsonl ${eot} -p o200k -w 7 -o @/reversed.counts
    whole: count big.txt english.txt ${eot} -p o200k -w 1 -o @/whole.counts
    other: count --ranges @/plan.jsonl ${eot} -p gpt2 -w 1
    stdin: count --ranges - ${eot} -p o200k -w 1 -o @/stdin.counts < @/plan.jsonl
    ${base} ${eot}
    encode-plan: plan big.txt lines.jsonl --tokenizer @/base --range-size 64KB -o @/encode.jsonl
    as-text-plan: plan big.txt --tokenizer @/base --special-tokens-as-text --range-size 64KB -o @/as-text.jsonl
    encode: encode --ranges @/encode.jsonl --tokenizer @/base -o @/ranges.bin -w 2
    as-text: encode --ranges @/as-text.jsonl --tokenizer @/base -o @/as-text.npy -w 2 --special-tokens-as-text
    mixed: encode --ranges @/as-text.jsonl --tokenizer @/base -o @/mixed.npy -w 2
    bad-line: count --ranges english.txt -w 1`.replace(`${base} ${eot}`, `base: ${base} ${eot}`),
  encode: `
    base: ${base} ${eot} -s '<pad>'
    ${each([...mixes, ["empty", "empty.txt"], ["one", "one.txt"]], ([name, file]) => `${name}: encode ${file} --tokenizer @/base -w 1`)}
    ${each(["1", "2", "7"], (w) => `big-${w}: encode big.txt --tokenizer @/base -w ${w} -o @/big-${w}.npy`)}
    bin: encode english.txt --tokenizer @/base -w 1 -o @/e.bin
    uint32: encode english.txt --tokenizer @/base -w 1 -o @/e32.bin --dtype uint32
    records: encode lines.jsonl --tokenizer @/base -w 2 --append-token '<|endoftext|>'
    parquet: encode snappy.parquet array.json --tokenizer @/base -w 1 -o @/p.npy --append-token '<|endoftext|>'
    several: encode english.txt empty.txt one.txt english.txt.gz dir --tokenizer @/base -w 2
    as-text: encode english.txt --tokenizer @/base -w 1 --special-tokens-as-text
    stdin: encode --tokenizer @/base -w 1 < scripts.txt
    json: encode --tokenizer @/base/tokenizer.json english.txt -w 1
    vocab: encode --tokenizer @/base/vocab.json english.txt -w 1 -p gpt2 ${eot}
    ranks: encode --tokenizer @/base/tokenizer.tiktoken english.txt -w 1 -p gpt2 -s '<|x|>=900'
    ${each(["1", "2"], (w) => `tokens-${w}: tokens big.txt lines.jsonl snappy.parquet english.txt.gz dir empty.txt --tokenizer @/base -w ${w}`)}
    tokens-json: tokens dir 'dir/*' invalid.txt array.json --tokenizer @/base -w 1 --json
    tokens-one: tokens english.txt --tokenizer @/base -w 1 --special-tokens-as-text
    tokens-stdin: tokens --tokenizer @/base -w 1 -q < scripts.txt
    tokens-empty: tokens empty.txt --tokenizer @/base
    decode-npy: decode @/big-1.npy --tokenizer @/base -o @/decoded.txt
    decode-bin: decode @/e.bin --tokenizer @/base
    decode-uint32: decode @/e32.bin --tokenizer @/base --dtype uint32
    + write @/ids.txt '104 105\\n10 499'
    decode-text: decode - --tokenizer @/base < @/ids.txt
    decode-lines: decode @/ids.txt --tokenizer @/base
    + write @/wrong-ids.txt '104 70000'
    decode-wrong: decode @/wrong-ids.txt --tokenizer @/base
    serve: serve --tokenizer @/base`,
  foreign: `
    base: ${base} ${eot} -s '<pad>'
    ${each(
      [
        "nfc",
        "nfd",
        "nfkc",
        "nfkd",
        "prefix",
        "ignore-merges",
        "added",
        "normalized-added",
        "split",
        "digits",
        "sequence",
        "string-merges",
        "post",
      ],
      (edit) => `
    + edit @/base/tokenizer.json @/${edit}/tokenizer.json ${edit}
    ${edit}: encode scripts.txt english.txt --tokenizer @/${edit} -w 2
    ${edit}-records: encode lines.jsonl --tokenizer @/${edit} -w 1
    ${edit}-as-text: encode english.txt --tokenizer @/${edit} -w 1 --special-tokens-as-text
    ${edit}-inspect: inspect @/${edit} --text scripts.txt
    ${edit}-extend: train scripts.txt --extend @/${edit} -n +60 -o @/${edit}-extended -w 2
    ${edit}-prune: prune @/${edit} --text scripts.txt -n 400 -o @/${edit}-pruned -w 1
    ${edit}-eval: eval @/${edit} --text scripts.txt -w 1
    ${edit}-plan: plan big.txt --tokenizer @/${edit} --range-size 100KB`,
    )}
    ${each(
      [
        "unigram",
        "strange-normalizer",
        "normalizers",
        "strange-pretokenizer",
        "missing-byte",
        "bad-merge",
        "same-id",
        "dropout",
        "text-id",
        "nothing",
      ],
      (edit) => `
    + edit @/base/tokenizer.json @/${edit}.json ${edit}
    ${edit}: encode one.txt --tokenizer @/${edit}.json -w 1`,
    )}
    + tekken @/base/tokenizer.tiktoken @/tekken.json
    tekken: encode english.txt --tokenizer @/tekken.json -w 1
    tekken-inspect: inspect @/tekken.json
    tekken-prune: prune @/tekken.json --text code.txt -n 400 -o @/tekken-pruned -w 1
    + write @/cut.json '{"model":{"type":"BPE"'
    cut: encode one.txt --tokenizer @/cut.json -w 1`,
  extend: `
    base: ${base} ${eot}
    hf: train english.txt -n 500 -o @/hf -w 1 ${eot} --compat huggingface -p llama3
    ${each(
      ["base", "base/tokenizer.json", "base/tokenizer.tiktoken", "base/vocab.json", "hf"],
      (path) => `
    by-${path}: train scripts.txt code.txt --extend @/${path} -n +100 -o @/x-${path.replace("/", "-")} -w 2 ${path.endsWith(".tiktoken") || path.endsWith("vocab.json") ? "-p gpt2" : ""}
    by-${path}-plain: train scripts.txt code.txt --extend @/${path} -n +100 -o @/y-${path.replace("/", "-")} -w 2`,
    )}
    ${each([...rules, "extension"], (rule) => `${rule}: train ties.txt scripts.txt --extend @/base -n 640 --compat ${rule} ${eot} -o @/r-${rule} -w 1`)}
    sizes: train code.txt --extend @/base -n +10,+20,600 --pad-to 16 -o @/sizes -w 1
    longer: train english.txt ${eot} --extend @/base -n 700 -o @/longer -w 1
    frequency: train code.txt --extend @/base -n +1000 --min-frequency 30 --max-token-length 4 -o @/frequency -w 1
    again: train scripts.txt --extend @/longer -n +50 -o @/again -w 1
    by-records: train lines.jsonl --extend @/base -n +50 -o @/records -w 2
    counts: count scripts.txt ${eot} -w 1 -o @/c.counts
    by-counts: train --counts @/c.counts --extend @/base -n +50 -o @/by-counts -w 1
    report: train code.txt --extend @/base -n +40 -o @/reported --report @/report.html -w 1
    itself: train code.txt --extend @/base -n +40 -o @/base -w 1
    small: train code.txt --extend @/base -n 400 -o @/small -w 1
    pattern: train code.txt --extend @/base -n +40 -p o200k -o @/p -w 1
    nothing: train empty.txt --extend @/base -n +40 -o @/nothing -w 1`,
  like: `
    base: ${base} ${eot} -s '<pad>'
    ${each(
      ["nfc", "prefix", "ignore-merges", "added", "normalized-added", "split", "digits", "post", "unigram"],
      (edit) => `
    + edit @/base/tokenizer.json @/${edit}/tokenizer.json ${edit}
    ${edit}: train scripts.txt --like @/${edit} -n 500 -o @/${edit}-like -w 2`,
    )}
    own: train scripts.txt --like @/base -n 500 -o @/own -w 1
    typed: train scripts.txt --like @/base -n 400,500 -s '<s>' --bos '<s>' --add-bos --compat rustbpe -o @/typed -w 1
    pattern: train scripts.txt --like @/base -p o200k -n 500 -o @/pattern -w 1
    itself: train scripts.txt --like @/base -n 500 -o @/base -w 1`,
  whole: `
    ${each(["lines.jsonl", "scripts.txt", "invalid.txt"], (file) => `${file}: train ${file} -n 500 --compat huggingface --whole-texts ${eot} -o @/${file} -w 2`)}
    like: train scripts.txt --like @/scripts.txt --whole-texts -n 400 -o @/like -w 1
    counts: train lines.jsonl -n 400 --compat huggingface --whole-texts ${eot} -o @/c -w 1 --save-counts @/c.tsv
    other: train --counts @/c.tsv -n 400 --compat huggingface ${eot} -o @/other
    rule: train lines.jsonl -n 400 --whole-texts -o @/rule -w 1`,
  superwords: `
    base: train english.txt -n 700 ${eot} --superwords-from 500 -o @/base -w 1
    two: train english.txt -n 700 ${eot} --superwords-from 500 -o @/two -w 2
    seven: train big.txt -n 900 ${eot} --superwords-from 600 -p o200k --compat huggingface -o @/seven -w 7
    rustbpe: train english.txt code.txt -n 700 --superwords-from 400 --compat rustbpe -o @/rustbpe -w 1
    pattern: train english.txt -n 600 --superwords-from 400 --superword-pattern '[^\\n]+|\\n+' -o @/pattern -w 1
    sizes: train english.txt -n 550,650 --superwords-from 500 ${eot} -o @/sizes -w 1
    records: train lines.jsonl -n 500 --superwords-from 400 -o @/records -w 2
    limits: train english.txt -n 900 --superwords-from 400 --min-frequency 4 --max-token-length 9 -o @/limits -w 1
    encode: encode english.txt scripts.txt repetitive.txt --tokenizer @/base -w 1
    encode-two: encode big.txt --tokenizer @/seven -w 2 -o @/big.npy
    inspect: inspect @/base --text english.txt
    eval: eval @/base @/pattern --text english.txt -w 1
    extend: train scripts.txt --extend @/base -n +50 -o @/extended -w 1
    prune: prune @/base --text english.txt -n 600 -o @/pruned -w 1
    report: train english.txt -n 600 --superwords-from 500 -o @/reported --report @/r.html -w 1
    pipe: train - -n 600 --superwords-from 500 -o @/pipe -w 1 < english.txt
    above: train english.txt -n 600 --superwords-from 700 -o @/above -w 1
    alone: train english.txt -n 600 --superword-pattern '[^\\n]+' -o @/alone -w 1
    tiktoken: train english.txt -n 600 --superwords-from 500 --format tiktoken -o @/tiktoken -w 1`,
  seeds: `
    ${each(rules, (rule) => `${rule}: train english.txt -n 500 --compat ${rule} --seed-token 1234 --seed-token ' the' --seed-token naïve -o @/${rule} -w 1`)}
    sizes: train scripts.txt -n 300,400 --seed-token 日本 --whole-characters -o @/sizes -w 2
    cut: train english.txt -n 300 -p cl100k --seed-token 1234 -o @/cut -w 1
    small: train english.txt -n 258 --seed-token abcdef -o @/small -w 1
    encode: encode one.txt --tokenizer @/cs336 -w 1`,
  characters: `
    ${each(rules, (rule) => `${rule}: train scripts.txt invalid.txt -n 700 --compat ${rule} --whole-characters -p o200k -o @/${rule} -w 1`)}
    lines: train scripts.txt -n 600 -p none --whole-characters -o @/lines -w 2
    superwords: train scripts.txt -n 700 --superwords-from 500 --whole-characters -o @/superwords -w 1
    base: train scripts.txt -n 500 -o @/base -w 1
    extend: train scripts.txt --extend @/base -n +100 --whole-characters -o @/extended -w 1
    early: train ties.txt -n 3000 --whole-characters -o @/early -w 1
    ids: ids train lines.jsonl -n +90 -o @/ids`,
  normalized: `
    ${each(rules, (rule) => `${rule}: train scripts.txt invalid.txt -n 500 --compat ${rule} --normalize NFKC,lowercase ${eot} -o @/${rule} -w 1`)}
    nfd: train scripts.txt -n 400 --normalize nfd --model-card -o @/nfd -w 2
    count: count scripts.txt --normalize NFC -o @/words.counts -w 1
    counts: train --counts @/words.counts -n 400 -o @/counted
    other: train scripts.txt --counts @/words.counts --normalize NFD -n 400 -o @/other -w 1
    inspect: inspect @/nfd
    extend: train scripts.txt --extend @/nfd -n +20 -o @/extended --save-counts @/more.tsv -w 1
    unknown: train scripts.txt -n 400 --normalize NFX -o @/unknown -w 1
    tiktoken: train scripts.txt -n 400 --normalize NFC --format tiktoken -o @/tiktoken -w 1
    plan: plan scripts.txt --normalize NFC -o @/plan.jsonl
    ranges: count --ranges @/plan.jsonl --normalize NFC -w 1 -o @/ranges.tsv
    ranges-raw: count --ranges @/plan.jsonl -w 1`,
  sizes: `
    sizes: train english.txt -n 300,400,500 ${eot} -o @/sizes -w 1
    padded: train english.txt -n 333 --pad-to 64 ${eot} -o @/padded -w 1
    both: train code.txt -n 300,450 --pad-to 50 --ledger --compat huggingface -o @/both -w 1 --report @/r.html
    numbers: train code.txt -n 1k -o @/1k -w 1 --format gpt2
    eval: eval @/sizes --text english.txt -w 1
    twice: train english.txt -n 300,300 -o @/twice -w 1
    small: train english.txt -n 255 -o @/small -w 1
    early: train ties.txt -n 300,3000 -o @/early -w 1`,
  model: `
    roles: train english.txt -n 300 ${eot} -s '<pad>' -s '<bos>' --bos '<bos>' --pad '<pad>' --unk '<|endoftext|>' --add-bos -o @/roles -w 1
    none: train english.txt -n 300 ${eot} --bos '' --eos '' -o @/none -w 1
    chatml: train english.txt -n 300 -s '<|im_start|>' -s '<|im_end|>' --chat-template chatml -o @/chatml -w 1
    llama3: train english.txt -n 320 -s '<|begin_of_text|>' -s '<|start_header_id|>' -s '<|end_header_id|>' -s '<|eot_id|>' --chat-template llama3 -o @/llama3 -w 1
    card: train english.txt lines.jsonl -n 300 ${eot} --model-card --model-max-length 2k --class GPT2TokenizerFast -o @/card -w 1
    unknown: train english.txt -n 300 --bos '<x>' -o @/unknown -w 1
    template: train english.txt -n 300 --chat-template nothing -o @/template -w 1
    missing: train english.txt -n 300 --chat-template chatml -o @/missing -w 1
    encode: encode one.txt --tokenizer @/roles -w 1`,
  weights: `
    integers: train english.txt code.txt ${eot} -n 400 --weight code.txt:3 -o @/integers -w 2
    repeated: train english.txt code.txt code.txt code.txt ${eot} -n 400 -o @/repeated -w 1
    fractions: train dir english.txt.gz lines.jsonl -n 400 --weight d=dir:0.25 --weight '*.gz:1.333333' -o @/fractions -w 1
    cached: train dir english.txt.gz lines.jsonl -n 400 --weight d=dir:0.25 --weight '*.gz:1.333333' --cache @/cache -o @/cached -w 2
    counts: count english.txt -o @/english.counts
    counted: train code.txt -n 400 --counts @/english.counts --weight '*.counts:0.1' -o @/counted -w 1
    missed: train english.txt -n 400 --weight 'x=*.fr:2' -o @/missed
    nothing: train english.txt -n 400 --weight 'english.txt:0' -o @/nothing
    wrong: train english.txt -n 400 --weight 'english.txt:1e3' -o @/wrong
    excluded: train english.txt -n 400 --weight 'english.txt:2' --save-counts @/c -o @/excluded`,
  parity: `
    ratio: train --language en=english.txt --language code=code.txt -n 600,500 --language-ratio 1,1.5 --compat huggingface -o @/ratio -w 2
    window: train --language en=english.txt code=code.txt --language more=scripts.txt -n 500 --language-window 20:1.2 --global-merges 40 -o @/window -w 1
    both: train --language en=english.txt --language-dev en=scripts.txt -n 500 --language-ratio 1 -o @/both
    fewer: train --language en=english.txt --language code=code.txt -n 500 --language-ratio 1 -o @/fewer
    none: train english.txt -n 500 --global-merges 10 -o @/none`,
  languages: `
    three: train --language en=english.txt code=code.txt --language more=lines.jsonl -n 500 -o @/three -w 1
    again: train --language en=english.txt code=code.txt --language more=lines.jsonl -n 500 -o @/again -w 2 --cache @/cache
    dev: train --language en=english.txt --language code=code.txt --language-dev en=scripts.txt code=crlf.txt -n 500 -o @/dev -w 2 --compat huggingface
    weighed: train --language en=english.txt --language code=code.txt -n 500 --weight code.txt:0.5 -o @/weighed -w 1
    none: train english.txt --language code=code.txt -n 500 -o @/none
    bare: train --language en=english.txt --language code=code.txt --language-dev en=scripts.txt -n 500 -o @/bare
    unnamed: train --language english.txt -n 500 -o @/unnamed`,
  cache: `
    first: count english.txt dir ${eot} -w 1 --cache @/cache -o @/first.counts
    second: count english.txt dir ${eot} -w 1 --cache @/cache -o @/second.counts
    grown: train english.txt dir code.txt ${eot} -n 400 -w 2 --cache @/cache -o @/t
    unchanged: train english.txt dir code.txt ${eot} -n 400 -w 2 --cache @/cache -o @/t --if-changed
    changed: train english.txt dir ${eot} -n 400 -w 2 --cache @/cache -o @/t --if-changed
    records: count lines.jsonl snappy.parquet -w 2 --cache @/cache
    again: count snappy.parquet lines.jsonl -w 1 --cache @/cache
    linewise: train english.txt -n 400 --compat huggingface --cache @/cache -o @/h -w 1
    superwords: train english.txt -n 500 --superwords-from 400 --cache @/cache -o @/s -w 1
    extend: train code.txt --extend @/h -n +30 --cache @/cache -o @/x -w 1
    extend-again: train code.txt --extend @/h -n +30 --cache @/cache -o @/x2 -w 1
    stream: train - -n 300 --cache @/cache -o @/stream -w 1 < english.txt
    extend-stream: train - --extend @/h -n +30 --cache @/cache -o @/x3 -w 1 < english.txt
    alone: train english.txt -n 300 --if-changed -o @/alone -w 1
    limit: train english.txt -n 300 --cache-limit 1MB -o @/limit -w 1`,
  prune: `
    base: ${base} ${eot} -s '<pad>'
    o200k: train big.txt -n 900 -p o200k --compat huggingface ${eot} -o @/o200k -w 2
    base-400: prune @/base --text english.txt -n 400 -o @/a -w 1
    few: prune @/base --text code.txt -n 270 -o @/few -w 2
    same: prune @/base --text code.txt -n 500 -o @/same -w 1
    more: prune @/base --text code.txt -n 600 -o @/more -w 1
    less: prune @/base --text code.txt -n 200 -o @/less -w 1
    o200k-600: prune @/o200k --text scripts.txt lines.jsonl -n 600 -o @/o -w 2
    json: prune @/o200k/tokenizer.json --text scripts.txt -n 700 -o @/json -w 1
    vocab: prune @/o200k/vocab.json --text scripts.txt -n 700 -p o200k -o @/vocab -w 1
    ranks: prune @/base/tokenizer.tiktoken --text scripts.txt -n 400 -p gpt2 ${eot} -o @/ranks -w 1
    itself: prune @/base --text english.txt -n 400 -o @/base -w 1
    encode: encode english.txt --tokenizer @/a -w 1
    diff: diff @/base @/a --text english.txt -w 1`,
  measures: `
    a: train english.txt -n 500 ${eot} -o @/a -w 1
    b: train scripts.txt code.txt -n 600 -p o200k -o @/b -w 1
    c: train english.txt -n 300,400 -p llama3 --compat huggingface ${eot} -o @/c -w 1
    inspect: inspect @/a
    inspect-json: inspect @/b --json
    inspect-text: inspect @/a --text english.txt --json
    inspect-sizes: inspect @/c
    inspect-file: inspect @/b/vocab.json -p o200k
    inspect-report: inspect @/a --text english.txt --report @/inspect.html
    eval: eval @/a @/b --text english.txt --text code=code.txt scripts.txt -w 1
    eval-two: eval @/a x=@/b/tokenizer.json @/c --text english.txt -w 2
    eval-json: eval @/a @/b --text english.txt --text mixed=scripts.txt mixed=code.txt --json -w 1
    eval-terms: eval @/a @/b @/c --text english.txt --term the --term 12,345 --term 漢字 --numbers -w 2
    eval-csv: eval @/a @/b @/c --text english.txt scripts.txt --csv -w 7
    eval-all: eval @/a @/b @/c --text english.txt scripts.txt code.txt --measure all --numbers --words 2 -w 2
    eval-measures: eval @/a @/b --text english.txt --measure fertility,renyi_efficiency_2.5,texts -w 1
    eval-one: eval @/a --text english.txt scripts.txt code.txt --measure tokens,digit_alignment -w 1
    eval-wide: eval 分词器=@/a b=@/b a-tokenizer-with-a-long-name=@/c/300 another-tokenizer=@/c/400 --text 漢字=scripts.txt english.txt a-text-with-a-long-name=code.txt --term the -w 1
    eval-records: eval @/a --text lines.jsonl snappy.parquet --csv -w 2
    eval-as-text: eval @/a --text english.txt --special-tokens-as-text --csv -w 1
    eval-report: eval @/a @/b --text english.txt scripts.txt --report @/eval.html -w 1
    eval-empty: eval @/a --text empty.txt -w 1
    eval-invalid: eval @/a @/b --text invalid.txt repetitive.txt --csv -w 1
    diff: diff @/a @/b
    diff-text: diff @/a @/b --text english.txt code.txt -w 1
    diff-json: diff @/a @/c/300 --json
    diff-text-json: diff @/c/300 @/c/400 --text scripts.txt --json -w 2
    diff-same: diff @/a @/a/tokenizer.json
    diff-sizes: diff @/a @/c`,
  reports: `
    report: train english.txt code.txt -n 500 ${eot} --report @/report.html -o @/t -w 1
    hostile: train scripts.txt invalid.txt repetitive.txt -n 600 -s '</script><b>' -s '\u2028&amp;' --report @/hostile.html -o @/hostile -w 1
    counts: count english.txt -w 1 -o @/c.tsv
    by-counts: train --counts @/c.tsv -n 400 --report @/counts.html -o @/c -w 1
    again: train code.txt -n 300 --report @/report.html -o @/t -w 1
    not-ours: train code.txt -n 300 --report @/c.tsv -o @/n -w 1`,
  ids: `
    lines: ids train tracks.txt -n +80 -o @/lines
    npy: ids train tracks.npy -n +80 -o @/npy
    bin: ids train tracks.bin -n 350 -o @/bin
    two: ids train tracks.txt more-tracks.txt -n +50 --compat huggingface -o @/two
    large: ids train large-ids.txt -n +50 -o @/large
    length: ids train tracks.txt -n +90 --max-token-length 4 --min-frequency 3 -o @/length
    stdin: ids train - -n +9 -o @/stdin < tracks.txt
    encode: ids encode more-tracks.txt --tokenizer @/lines
    encode-npy: ids encode tracks.npy --tokenizer @/npy -o @/e.npy
    encode-bin: ids encode tracks.bin --tokenizer @/npy -o @/e.bin
    encode-large: ids encode large-ids.txt --tokenizer @/large -o @/l.npy
    decode: ids decode @/e.npy --tokenizer @/npy
    decode-file: ids decode @/e.bin --tokenizer @/npy -o @/d.npy
    inspect: ids inspect @/two
    gone: encode tracks.txt --input-format ids --tokenizer @/lines
    commands: ids
    train-help: ids train --help
    inspect-json: inspect @/two --json
    outside: ids encode large-ids.txt --tokenizer @/lines
    text: encode english.txt --tokenizer @/lines
    eval: eval @/lines --text english.txt
    special: ids train tracks.txt -n +9 -s x -o @/special
    small: ids train tracks.txt -n 200 -o @/small
    words: ids train english.txt -n +9 -o @/words
    cs336: ids train tracks.txt -n +9 --compat cs336 -o @/cs336`,
  mistakes: each(
    Object.entries({
      nothing: "train",
      "no-size": "train english.txt -o @/t",
      "no-output": "train english.txt -n 300",
      "unknown-option": "train english.txt --vocab-sise 300 -o @/t",
      "unknown-command": "trian english.txt",
      "option-first": "-n 300 train english.txt",
      "other-command": "train english.txt --tokenizer x",
      "no-value": "train english.txt -o @/t -n",
      "a-value": "train english.txt -n 300 -o @/t --quiet=yes",
      twice: "train english.txt -n 300 -n 400 -o @/t",
      "no-number": "train english.txt -n many -o @/t",
      negative: "train english.txt -n -5 -o @/t",
      "too-large": "train english.txt -n 99999999999 -o @/t",
      missing: "train no-such-file.txt -n 300 -o @/t",
      "no-match": "train 'no-such*' -n 300 -o @/t",
      "empty-output": "train english.txt -n 300 -o ''",
      "unknown-pattern": "train english.txt -n 300 -p gtp2 -o @/t",
      "bad-pattern": "train english.txt -n 300 -p '[a-' -o @/t",
      "bad-class": "train english.txt -n 300 -p '\\p{Foo}+' -o @/t",
      "bad-group": "train english.txt -n 300 -p '(?<n>a)\\k<m>' -o @/t",
      "empty-match": "train english.txt -n 300 -p 'a*' -o @/t",
      "unknown-rule": "train english.txt -n 300 --compat hugingface -o @/t",
      extension: "train english.txt -n 300 --compat extension -o @/t",
      "unknown-format": "train english.txt -n 300 --format hf -o @/t",
      "no-tiktoken": "train english.txt -n 300 -p deepseek-v3 --format tiktoken -o @/t",
      "two-ledgers": "train english.txt -n 300 --ledger --no-ledger -o @/t",
      "special-empty": "train english.txt -n 300 -s '' -o @/t",
      "special-byte": "train english.txt -n 300 -s a -o @/t",
      "special-twice": "train english.txt -n 300 -s '<a>' -s '<a>' -o @/t",
      "special-learned": "train english.txt -n 400 -s 'Ġin' -o @/t -w 1",
      workers: "train english.txt -n 300 -o @/t -w 0",
      "bare-size": "train english.txt -n 300 -o @/t --memory-limit 64k",
      "text-field": "train english.txt -n 300 -o @/t --text-field body",
      "no-field": "train lines.jsonl -n 300 -o @/t --text-field nobody",
      "bad-field": "train bad.jsonl -n 300 -o @/t",
      "broken-line": "train broken.jsonl -n 300 -o @/t",
      "cut-parquet": "train cut.parquet -n 300 -o @/t",
      utf16: "train utf16.txt -n 300 -o @/t",
      image: "train image.png -n 300 -o @/t",
      include: "train english.txt --include '*.txt' -n 300 -o @/t",
      "foreign-output": "train english.txt -n 300 -o dir",
      "output-file": "train english.txt -n 300 -o english.txt",
      "stdin-twice": "count - -",
      keep: "train english.txt -n 300 -o @/t --keep x",
      dtype: "train english.txt -n 300 -o @/t --dtype uint16",
      progress: "train english.txt -n 300 -o @/t --progress bars",
      superwords: "train --counts dir -n 300 --superwords-from 280 -o @/t",
      "no-tokenizer": "encode english.txt",
      "missing-tokenizer": "encode english.txt --tokenizer @/none",
      "no-such-tokenizer": "encode english.txt --tokenizer english.txt",
      "tokens-no-tokenizer": "tokens english.txt",
      "tokens-ids": "tokens english.txt --tokenizer @/t --input-format ids",
      "tokens-output": "tokens english.txt --tokenizer @/t -o x",
      "ids-ending": "encode english.txt --tokenizer @/t -o ids.csv",
      "ids-dtype": "encode english.txt --tokenizer @/t --dtype uint16",
      "decode-nothing": "decode --tokenizer @/t",
      "decode-two": "decode a b --tokenizer @/t",
      "diff-one": "diff @/t",
      "eval-no-text": "eval @/t",
      "eval-term": "eval @/t --text english.txt --term x --csv",
      "eval-terms": "eval @/t --text english.txt --terms empty.txt",
      "eval-both": "eval @/t --text english.txt --json --csv",
      "eval-measure": "eval @/t --text english.txt --measure bytes-per-token",
      "eval-measure-csv": "eval @/t --text english.txt --measure all --csv",
      "eval-parity": "eval @/t --text english.txt --measure parity",
      "eval-words": "eval @/t --text english.txt --words 21",
      "prune-size": "prune @/t --text english.txt -o @/p",
      "plan-stdin": "plan -",
      "plan-size": "plan english.txt --range-size 1",
      "plan-both": "plan english.txt --tokenizer @/t --compat rustbpe",
      "ranges-files": "count english.txt --ranges x",
      "ranges-missing": "count --ranges @/none.jsonl",
      "cache-ranges": "count --ranges x --cache y",
      "counts-missing": "count --counts @/none.tsv",
      "report-name": "train english.txt -n 300 -o @/t --report ''",
      "report-inside": "train english.txt -n 300 -o @/t --report @/t/r.html",
      "log-inside": "train english.txt -n 300 -o @/t --log-file @/none/x.log",
      "not-a-shell": "completions csh",
      "help-topic": "help train tokenss",
      "help-command": "help trian",
      "help-page": "help docs/nothing.md",
    }),
    ([name, line]) => `${name}: ${line}`,
  ),
  help: `
    none:
    help: help
    patterns: train -p help
    ${each(
      [
        "train",
        "count",
        "plan",
        "encode",
        "tokens",
        "decode",
        "inspect",
        "eval",
        "diff",
        "prune",
        "completions",
      ],
      (command) => `
    ${command}: ${command} --help
    ${command}-all: help ${command} all`,
    )}
    ${each(["input", "tokens", "output", "model", "speed", "nightly", "general"], (topic) => `train-${topic}: train --help ${topic}`)}
    ${each(["bash", "zsh", "fish"], (shell) => `${shell}: completions ${shell}`)}`,
};

/** Groups for larger corpora, given by their paths below the working directory. */
export function largeGroups(files: readonly string[]): Record<string, string> {
  const groups = files.map((file): [string, string] => [
    file,
    `
    ${each(named.slice(0, -1), (name) => `count-${name}: count ${file} ${eot} -p ${name} -w 2 -o @/${name}.counts`)}
    ${each(userPatterns.slice(0, 5), ([name, pattern]) => `count-${name}: count ${file} -p "${pattern}" -w 2 -o @/${name}.counts`)}
    count-7: count ${file} ${eot} -p o200k -w 7 -o @/seven.counts
    count-lines: count ${file} ${eot} -p gpt2 -w 2 --compat huggingface -o @/lines.tsv
    count-memory: count ${file} ${eot} -p cl100k -w 2 --memory-limit 64MB -o @/memory.counts
    cs336: train ${file} ${eot} -n 10000 -w 1 -o @/cs336
    huggingface: train ${file} ${eot} -n 16000 -p o200k --compat huggingface -w 2 -o @/huggingface
    rustbpe: train ${file} ${eot} -n 9k -p gpt4 --compat rustbpe -w 7 -o @/rustbpe
    limits: train ${file} ${eot} -n 30000 -p deepseek-v3 --min-frequency 20 --max-token-length 12 -w 2 -o @/limits
    sizes: train ${file} ${eot} -n 5000,8000 --pad-to 64 -p llama3 -w 2 -o @/sizes --report @/report.html
    superwords: train ${file} ${eot} -n 8000 --superwords-from 6000 -w 2 -o @/superwords
    extend: train ${file} --extend @/rustbpe -n +2000 -w 2 -o @/extended
    + edit @/huggingface/tokenizer.json @/nfc/tokenizer.json nfc
    + edit @/cs336/tokenizer.json @/prefix/tokenizer.json prefix
    extend-prefix: train ${file} --extend @/prefix -n +1000 -w 2 -o @/prefix-extended
    ${each(["cs336", "huggingface", "rustbpe", "limits", "superwords", "extended", "nfc", "prefix"], (name) => `encode-${name}: encode ${file} --tokenizer @/${name} -w 2 -o @/${name}.npy`)}
    encode-7: encode ${file} --tokenizer @/cs336 -w 7 -o @/seven.bin
    decode: decode @/superwords.npy --tokenizer @/superwords -o @/decoded.txt
    prune: prune @/huggingface --text ${file} -n 8000 -w 2 -o @/pruned
    eval: eval @/cs336 @/superwords @/pruned --text ${file} --json -w 2
    diff: diff @/cs336 @/rustbpe --text ${file} --json -w 2
    plan: plan ${file} ${eot} -p o200k --range-size 1MB -o @/plan.jsonl
    ranges: count --ranges @/plan.jsonl ${eot} -p o200k -w 2 -o @/ranges.counts
    inspect: inspect @/superwords --json`,
  ]);
  return Object.fromEntries(groups);
}
