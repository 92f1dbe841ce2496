import { describe, expect, test } from "bun:test";
import { copyFileSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer as HuggingFace } from "tokenizers";
import { bpe, mergesOf, put, scratch, tokenizerFiles } from "../binary.ts";
import { turns } from "../rounds.ts";

const home = scratch();
const words = "low lower lowest new newer newest wide wider widest of the other and another ";
const corpus = put(home, "corpus.txt", `${words.repeat(30)}aaaa aaaaaaa<|end|>één été\n`.repeat(3));

function train(name: string, ...options: string[]) {
  const output = join(home, name);
  const { code, stderr } = bpe(["train", corpus, "-o", output, "-w", "1", ...options]);
  return { code, stderr, output };
}

const recordIn = (directory: string) => JSON.parse(readFileSync(join(directory, "training.json"), "utf8"));

/**
 * Returns all files except training.json and tokens.tsv. An extension counts tokens only from its own start on, so its
 * tokens.tsv differs.
 */
function vocabularyFiles(directory: string): Record<string, string> {
  const { "tokens.tsv": _, ...files } = tokenizerFiles(directory);
  return files;
}

describe("an own tokenizer, on its own corpus", () => {
  test("equals a single longer run, byte for byte, under every rule", () => {
    for (const [turn, compat] of ["cs336", "huggingface", "rustbpe"].entries()) {
      // Under HF's rule special tokens have the first ids, and a merge may spell one.
      const special = compat === "huggingface" ? ["-s", "<|end|>", "-s", "Ġlo", "-s", "we"] : [];
      const long = train("long", "-n", "330", "--compat", compat, ...special).output;
      for (const shorter of turns(["256", "270", "290"], turn)) {
        const least = String(Number(shorter) + special.length / 2);
        const short = train("short", "-n", least, "--compat", compat, ...special).output;
        const { code, stderr, output } = train("extended", "--extend", short, "-n", "330", ...special);
        expect({ code, stderr }).toMatchObject({ code: 0 });
        expect(vocabularyFiles(output)).toEqual(vocabularyFiles(long));
        expect(recordIn(output).options.compat).toBe(compat);
      }
    }
  });

  test("special tokens after the merges keep their ids, and the record says so", () => {
    const base = train("base", "-n", "280", "-s", "<|end|>").output;
    const longer = train("longer", "-n", "300", "-s", "<|end|>").output;
    const { output, stderr } = train("extended", "--extend", base, "-n", "+20", "-s", "<|end|>");
    expect(stderr).toContain("ids 280 to 299");
    expect(mergesOf(output).slice(0, 43)).toEqual(mergesOf(longer));
    expect(recordIn(output)).toMatchObject({
      base: { vocabSize: 280, path: base },
      options: {
        vocabSize: 300,
        newTokens: 20,
        specialTokens: ["<|end|>"],
        specialIds: [279],
        documentsEndAt: ["<|end|>"],
      },
    });
    const { files } = recordIn(output).base;
    expect(files.map(({ path }: { path: string }) => path)).toContain(join(base, "tokenizer.json"));
    expect(files[0].sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(train("more", "--extend", output, "-n", "+5").code).toBe(0);
    expect(train("again", "--extend", base, "-n", "305", "-s", "<|end|>").code).toBe(0);
  });
});

describe("the written files", () => {
  const base = train("kinds", "-n", "270").output;

  test("have the format that was named", () => {
    for (const names of [["tokenizer.json"], ["merges.txt", "vocab.json"], ["tokenizer.tiktoken"]]) {
      const { output } = train("one-kind", "--extend", join(base, names[0]!), "-n", "+4");
      expect(Object.keys(tokenizerFiles(output))).toEqual(names);
    }
  });
});

describe("refusals", () => {
  const base = train("refusing", "-n", "270", "-s", "<|end|>").output;
  const refusal = (...options: string[]) => {
    const { code, stderr } = train("refused", "--extend", base, ...options);
    return { code, stderr };
  };

  test("options that the base decides, and invalid sizes", () => {
    for (const [options, message] of [
      [["-n", "+4", "--pad-to", "0"], "--pad-to is 0, but must be at least 1"],
      [["-n", "+4", "-p", "cl100k"], 'tokenizer.json" has its own pattern, so --pattern cannot be given'],
      [["-n", "270"], "--vocab-size 270 adds nothing to the 270 ids of the base"],
      [["-n", "+0"], "--vocab-size is +0, but must add at least one token"],
      [["-n", "274,+4"], "--vocab-size: 274, or +4, is given twice"],
      [["-n", "+4,"], '--vocab-size is "+4,", but must be a whole number'],
    ] as const) {
      expect(refusal(...options)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    }
    const { code, stderr } = train("refused", "-n", "300", "--compat", "extension");
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--compat extension needs --extend"),
    });
  });

  test("the base itself as output, under any name, because that would replace its files and lose others", () => {
    symlinkSync(base, join(home, "link"));
    symlinkSync(join(base, "tokenizer.json"), join(home, "linked.json"));
    const before = tokenizerFiles(base);
    for (const [path, output] of [
      [base, base],
      [join(base, "tokenizer.json"), base],
      [join(home, "link"), base],
      [join(home, "linked.json"), `${base}/../refusing/`],
    ] as const) {
      const { code, stderr } = bpe(["train", corpus, "--extend", path, "-n", "+4", "-w", "1", "-o", output]);
      expect({ code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(
          /would replace .*, which this run reads|is in .*, which this run writes/,
        ),
      });
    }
    expect(tokenizerFiles(base)).toEqual(before);
  });

  test("a base whose files are of different tokenizers", () => {
    const other = train("other", "-n", "275", "-s", "<|end|>").output;
    copyFileSync(join(other, "merges.txt"), join(base, "merges.txt"));
    copyFileSync(join(other, "vocab.json"), join(base, "vocab.json"));
    expect(refusal("-n", "+4")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("are different tokenizers in one directory"),
    });
  });
});

describe("the base's own special tokens", () => {
  const end = "<|endoftext|>";
  const text = `the text here${end}and the text there${end}`.repeat(20);
  const corpus = put(home, "ended.txt", text);
  const run = (name: string, ...options: string[]) => {
    const output = join(home, name);
    const { code, stderr } = bpe(["train", "-o", output, "-w", "1", ...options]);
    return { code, stderr, output };
  };
  const base = run("ended", corpus, "-n", "265", "-s", end).output;
  const long = run("ended-long", corpus, "-n", "275", "-s", end).output;

  test("end documents without being named, as in the continued training; none of their text is learned", () => {
    for (const path of [base, join(base, "tokenizer.json"), join(base, "vocab.json")]) {
      const { output, stderr } = run("going-on", corpus, "--extend", path, "-n", "+10");
      expect(stderr).toContain("documents   end at <|endoftext|>\n");
      expect(recordIn(output).options.documentsEndAt).toEqual([end]);
      const named = run("named", corpus, "--extend", path, "-n", "+10", "-s", end).output;
      expect(vocabularyFiles(named)).toEqual(vocabularyFiles(output));
      if (path === base) expect(mergesOf(output)).toEqual(mergesOf(long));
    }
    const ranks = join(base, "tokenizer.tiktoken");
    const extended = run("ranks", corpus, "--extend", ranks, "-n", "+10");
    expect(recordIn(extended.output).options.documentsEndAt).toEqual([end]);
    // An extended tokenizer is extended again, and its reserved tokens end no documents.
    const padded = run("padded", corpus, "--extend", base, "-n", "+2", "--pad-to", "8").output;
    const more = run("more", corpus, "--extend", padded, "-n", "+2");
    expect(recordIn(more.output).options).toMatchObject({ documentsEndAt: [end], padTo: 1 });
    expect(recordIn(more.output).options.reservedTokens).toHaveLength(5);
    expect(more.stderr).toContain("documents   end at <|endoftext|>\n");
    const other = run("other-end", corpus, "--extend", padded, "-n", "+2", "-s", "here!");
    expect(other.stderr).toContain("documents   end at <|endoftext|> here!\n");
  });

  test("end documents under any rule, even one under which a training could not have them", () => {
    const base = run("letter", corpus, "-n", "262", "-s", "x", "--compat", "huggingface").output;
    const { code, stderr } = run("by-cs336", corpus, "--extend", base, "-n", "+2", "--compat", "cs336");
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("documents   end at x\n") });
    const named = run("named", corpus, "--extend", base, "-n", "+2", "--compat", "cs336", "-s", "x");
    expect(named.stderr).toContain(
      '"x" cannot be a special token: the vocabulary already spells a single byte that way',
    );
    const twice = run("twice", corpus, "--extend", base, "-n", "+2", "-s", "y!", "-s", "y!");
    expect(twice.stderr).toContain('special token "y!" is given twice');
  });

  test("are text on request, and the summary lists them", () => {
    const spelled = /^(o f|e ndoftext|< \||\| >|nd oftext)$/;
    const asText = ["--extend", base, "-n", "+10", "--special-tokens-as-text"];
    const { output, stderr } = run("as-text", corpus, ...asText);
    expect(stderr).toContain("documents   one per input or record; -s also ends them at <|endoftext|>\n");
    expect(recordIn(output).options.documentsEndAt).toEqual([]);
    expect(mergesOf(output).some((merge) => spelled.test(merge))).toBe(true);
    expect(mergesOf(run("named", corpus, ...asText, "-s", end).output)).toEqual(mergesOf(long));
  });

  test("of any other base are text unless they are named, and the summary says so", () => {
    const alone = put(scratch(), "tokenizer.json", readFileSync(join(base, "tokenizer.json")));
    const { stderr } = run("alone", corpus, "--extend", alone, "-n", "+4");
    expect(stderr).toContain("documents   one per input or record; -s also ends them at <|endoftext|>\n");
    const named = run("alone", corpus, "--extend", alone, "-n", "+4", "-s", end);
    expect(named.stderr).toContain("documents   end at <|endoftext|>\n");
  });

  test("must have ended the documents of word counts", () => {
    const counts = join(home, "ended.counts");
    const extend = (...options: string[]) =>
      run("counted", "--counts", counts, "--extend", base, "-n", "+10", ...options);
    expect(bpe(["count", corpus, "-o", counts, "-q"]).code).toBe(0);
    expect(extend()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'the word counts were made without the base\'s special token "<|endoftext|>", so they may contain it as text',
      ),
    });
    expect(extend("--special-tokens-as-text").code).toBe(0);
    expect(bpe(["count", corpus, "-o", counts, "-q", "-s", end, "-s", "here"]).code).toBe(0);
    expect(extend().stderr).toContain("documents   end at <|endoftext|> here\n");
    expect(bpe(["count", corpus, "-o", counts, "-q", "-s", end]).code).toBe(0);
    expect(extend().code).toBe(0);
    expect(mergesOf(join(home, "counted"))).toEqual(mergesOf(long));
  });
});

describe("several sizes", () => {
  const special = ["-s", "<|end|>"];

  test("each equals a separate run, under every rule and for each kind of file", () => {
    const base = train("sizes-base", "-n", "268", ...special).output;
    // Adds tokens that no merge produces. New merges may produce them.
    const json = JSON.parse(readFileSync(join(base, "tokenizer.json"), "utf8"));
    for (const token of ["id", "wid", "wes", "oth"])
      json.model.vocab[token] ??= Object.keys(json.model.vocab).length;
    const bases = [base, put(home, "tokenizer.json", JSON.stringify(json))];
    for (const [turn, compat] of ["cs336", "huggingface", "rustbpe", "extension"].entries()) {
      for (const path of turns(bases, turn)) {
        const idLimit = path === base ? 268 : Object.keys(json.model.vocab).length;
        expect(idLimit >= 270).toBe(path !== base);
        const options = ["--extend", path, "--compat", compat, "--pad-to", "8", ...special];
        const several = train("several", "-n", `+9,${idLimit + 3},+1,+6000`, ...options);
        expect(several).toMatchObject({ code: 0 });
        const sizes = [1, 3, 9, 6000].map((count) => idLimit + count);
        expect(readdirSync(several.output).sort()).toEqual([...sizes.map(String), "training.json"].sort());
        for (const size of sizes) {
          const own = train("own", "-n", String(size), ...options).output;
          const among = join(several.output, String(size));
          expect(tokenizerFiles(among)).toEqual(tokenizerFiles(own));
          for (const field of ["mergeCount", "mergesSha256", "files", "options", "base", "bytesPerToken"]) {
            expect(recordIn(among)[field]).toEqual(recordIn(own)[field]);
          }
        }
        expect(recordIn(several.output).options.sizes).toEqual(sizes);
        expect(several.stderr).toContain(`${several.output}/${sizes.join(", ")}: `);
      }
    }
  });
});

describe("--pad-to", () => {
  test("fills each size with reserved tokens after all others, in all kinds of file, also for HF", async () => {
    const specials = ["-s", "<|end|>", "-s", "<|reserved_special_token_1|>"];
    const base = train("padded-base", "-n", "270", ...specials).output;
    const { output, stderr } = train(
      "padded",
      "--extend",
      base,
      "-n",
      "+4",
      "--pad-to",
      "16",
      "--summary",
      "full",
    );
    expect(stderr).toContain("new tokens  4, ids 270 to 273");
    expect(stderr).toContain("reserved    14 tokens, to 288 ids");
    const { added_tokens: added, model } = JSON.parse(readFileSync(join(output, "tokenizer.json"), "utf8"));
    const names = [0, ...Array.from({ length: 13 }, (_, i) => i + 2)];
    expect(added.slice(2).map(({ id, content, special }: never) => [id, content, special])).toEqual(
      names.map((n, i) => [274 + i, `<|reserved_special_token_${n}|>`, true]),
    );
    expect(Object.keys(model.vocab).length).toBe(288);
    const text = "the<|reserved_special_token_14|>lowest<|end|>wide<|reserved_special_token_0|>";
    const theirs = HuggingFace.fromFile(join(output, "tokenizer.json"));
    const ids = (await theirs.encode(text, null, { addSpecialTokens: false })).getIds().join(" ");
    const file = put(home, "special.txt", text);
    for (const name of ["tokenizer.json", "vocab.json", "tokenizer.tiktoken"]) {
      const { stdout } = bpe(["encode", file, "--tokenizer", join(output, name), "-q"]);
      expect([name, stdout]).toEqual([name, `${ids}\n`]);
    }
    expect(ids.split(" ")).toContain("287");
    // The reserved tokens of a base keep their ids, too.
    const more = train("padded-more", "--extend", output, "-n", "+3", "--pad-to", "32");
    expect(more.stderr).toContain("new tokens  3, ids 288 to 290");
    expect(recordIn(more.output).options).toMatchObject({ vocabSize: 320, padTo: 32 });
  });

  test("puts them into a file in its layout, also if it has no added tokens", () => {
    const base = train("unpadded-base", "-n", "270").output;
    const json = JSON.parse(readFileSync(join(base, "tokenizer.json"), "utf8"));
    const { added_tokens: _, ...without } = json;
    const texts = [
      JSON.stringify(json, null, 2),
      JSON.stringify(json),
      JSON.stringify(without, null, 2),
      JSON.stringify({ ...json, added_tokens: [special(270, "<x>")] }, null, 2),
      JSON.stringify({ ...json, added_tokens: [special(270, "<x>")] }),
    ];
    for (const [k, text] of texts.entries()) {
      const path = put(home, "tokenizer.json", text);
      const { output, code } = train("layouts", "--extend", path, "-n", "+2", "--pad-to", "4");
      expect(code).toBe(0);
      const written = readFileSync(join(output, "tokenizer.json"), "utf8");
      const parsed = JSON.parse(written);
      const size = k < 3 ? 272 : 276;
      expect(Object.keys(parsed.model.vocab).length).toBe(size);
      expect(parsed.added_tokens?.length ?? 0).toBe(k < 3 ? 0 : 4);
      if (k === 3) expect(written).toBe(JSON.stringify(parsed, null, 2));
      if (k === 4) expect(written).toBe(JSON.stringify(parsed));
    }
    for (const [text, indent] of [
      [texts[0], 2],
      [texts[1], undefined],
      [texts[2], null],
    ] as const) {
      const path = put(home, "tokenizer.json", text!);
      const { output } = train("layouts", "--extend", path, "-n", "+3", "--pad-to", "4");
      const written = readFileSync(join(output, "tokenizer.json"), "utf8");
      const parsed = JSON.parse(written);
      expect(parsed.added_tokens.map(({ id }: { id: number }) => id)).toEqual([273, 274, 275]);
      if (indent !== null) expect(written).toBe(JSON.stringify(parsed, null, indent));
    }
  });

  const special = (id: number, content: string) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  });
});

test("word counts, which do not say that a space was put before a text, are refused with a base that does so", () => {
  const base = train("prefixing", "-n", "270").output;
  const json = JSON.parse(readFileSync(join(base, "tokenizer.json"), "utf8"));
  json.pre_tokenizer.add_prefix_space = true;
  const path = put(home, "tokenizer.json", JSON.stringify(json));
  for (const option of ["--cache", "--save-counts"]) {
    const { code, stderr } = train("refused", "--extend", path, "-n", "+4", option, join(home, "some"));
    expect(code).toBe(2);
    expect(stderr).toContain(`${option} cannot be combined with --extend here`);
  }
  expect(train("normalized", "--extend", path, "-n", "+4").code).toBe(0);
});

test("word counts replace the corpus, and the cache replaces the parts that it has", () => {
  const base = train("counted", "-n", "270").output;
  const counts = join(home, "words.counts");
  const fresh = train("fresh", "--extend", base, "-n", "+20", "--save-counts", counts).output;
  const output = join(home, "from-counts");
  expect(bpe(["train", "--counts", counts, "--extend", base, "-n", "+20", "-o", output]).code).toBe(0);
  expect(vocabularyFiles(output)).toEqual(vocabularyFiles(fresh));
  for (const name of ["first", "second"]) {
    const cached = train(name, "--extend", base, "-n", "+20", "--cache", join(home, "cache")).output;
    expect(vocabularyFiles(cached)).toEqual(vocabularyFiles(fresh));
  }
});
