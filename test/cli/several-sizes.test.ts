import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch, tokenizerFiles } from "../binary.ts";

const home = scratch();
const words = "low lower lowest new newer newest wide wider widest <pad> of the other ";
const corpus = put(home, "corpus.txt", `${words.repeat(30)}aaaa aaaaaaa\n`.repeat(3));

function train(name: string, sizes: string, ...options: string[]) {
  const output = join(home, name);
  const { code, stderr } = bpe(["train", corpus, "-n", sizes, "-o", output, "-w", "1", ...options]);
  return { code, stderr, output };
}

const recordIn = (directory: string) => JSON.parse(readFileSync(join(directory, "training.json"), "utf8"));

describe("several sizes", () => {
  test("each is what a run of its own gives, by every rule", () => {
    for (const compat of ["cs336", "huggingface", "rustbpe"]) {
      // HF gives a special token that a merge spells its id; then there is one merge more.
      const special = compat === "huggingface" ? ["-s", "Ġlo", "-s", "we"] : ["-s", "<|end|>"];
      const options = ["--compat", compat, "--pad-to", "16", ...special];
      const { code, output } = train("several", "285,265,275,1000", ...options);
      expect(code).toBe(0);
      expect(readdirSync(output).sort()).toEqual(["1000", "265", "275", "285", "training.json"]);
      for (const size of [265, 275, 285, 1000]) {
        const own = train("own", String(size), ...options).output;
        const among = join(output, String(size));
        expect(tokenizerFiles(among)).toEqual(tokenizerFiles(own));
        for (const field of ["mergeCount", "mergesSha256", "files", "options"]) {
          expect(recordIn(among)[field]).toEqual(recordIn(own)[field]);
        }
      }
      expect(recordIn(output).options).toMatchObject({ vocabSize: 1000, sizes: [265, 275, 285, 1000] });
      expect(recordIn(output).files).toContain("265/tokenizer.json");
    }
  });

  test("the summary names the directories, and a wrong tokenizer path names the sizes", () => {
    const { stderr, output } = train("named", "260,270");
    expect(stderr).toContain(`written     ${output}/260, ${output}/270: tokenizer.json, `);
    const { code, stderr: error } = bpe(["encode", corpus, "--tokenizer", output]);
    expect(code).toBe(1);
    expect(error).toBe(
      `bpe: error: "${output}" holds tokenizers of 2 sizes: 260, 270\nhint: name one of them, e.g. "${output}/270"\n`,
    );
  });

  test("a size given twice, too small or no number is refused before anything is read", () => {
    for (const [sizes, error] of [
      ["270,270", "--vocab-size: 270 is given twice"],
      ["2700,255", "--vocab-size 255 is too small: 256 bytes need 256"],
      ["270,", '--vocab-size: "" is not a whole number'],
      ["270,x", '--vocab-size: "x" is not a whole number'],
    ] as const) {
      const { code, stderr } = train("refused", sizes);
      expect([code, stderr.split("\n")[0]]).toEqual([2, `bpe: error: ${error}`]);
    }
    expect(readdirSync(home)).not.toContain("refused");
  });

  test("results of one and of several sizes replace each other, are kept, and are known as unchanged", () => {
    const cached = ["--cache", join(home, "cache"), "--if-changed", "--keep", "2"];
    train("kept", "260", ...cached);
    train("kept", "260,270", ...cached);
    expect(train("kept", "260,270", ...cached).stderr).toContain("unchanged: ");
    const { output } = train("kept", "265", ...cached);
    expect(readdirSync(output)).toContain("tokenizer.json");
    const kept = readdirSync(home).filter((name) => name.startsWith("kept."));
    expect(kept.map((name) => readdirSync(join(home, name)).length).sort()).toEqual([3, 8]);
    train("kept", "260,270", "--keep", "0");
    expect(readdirSync(home).filter((name) => name.startsWith("kept."))).toEqual([]);
  });
});

describe("--pad-to", () => {
  const padded = (compat: string) =>
    train(
      "padded",
      "270",
      "--pad-to",
      "64",
      "-s",
      "<pad>",
      "-s",
      "<|reserved_special_token_1|>",
      "--compat",
      compat,
    ).output;

  test("fills the vocabulary with reserved special tokens behind all others", () => {
    for (const compat of ["cs336", "huggingface"]) {
      const output = padded(compat);
      const { added_tokens, model } = JSON.parse(readFileSync(join(output, "tokenizer.json"), "utf8"));
      expect(Object.keys(model.vocab).length).toBe(320);
      const names = Array.from({ length: 51 }, (_, n) => `<|reserved_special_token_${n}|>`).filter(
        (_, n) => n !== 1,
      );
      const reserved = added_tokens.slice(-50);
      expect(reserved.map(({ content }: { content: string }) => content)).toEqual(names);
      expect(reserved.map(({ id }: { id: number }) => id)).toEqual(names.map((_, n) => 270 + n));
      expect(recordIn(output).options).toMatchObject({ vocabSize: 270, padTo: 64, reservedTokens: names });
    }
  });

  test("every file gives the reserved tokens the same ids", () => {
    const text = put(home, "reserved.txt", "low<|reserved_special_token_50|><pad>wide");
    for (const compat of ["cs336", "huggingface"]) {
      const output = padded(compat);
      const ids = ["tokenizer.json", "vocab.json", "tokenizer.tiktoken"].map((name) => {
        const { stdout } = bpe(["encode", text, "--tokenizer", join(output, name)]);
        return stdout.trim().split(" ").map(Number);
      });
      expect(ids[0]).toContain(319);
      expect(ids[1]).toEqual(ids[0]!);
      expect(ids[2]).toEqual(ids[0]!);
    }
  });

  test("adds none where the size is a multiple, also where the corpus gave fewer merges", () => {
    expect(recordIn(train("even", "272", "--pad-to", "16").output).options.reservedTokens).toEqual([]);
    const { stderr, output } = train("short", "5000", "--pad-to", "1000");
    expect(stderr).toContain("stopped early");
    const size = 256 + recordIn(output).mergeCount;
    expect(recordIn(output).options.reservedTokens.length).toBe(1000 - size);
  });

  test("0 is refused", () => {
    expect(train("zero", "300", "--pad-to", "0").stderr).toContain("--pad-to: 0 is too small");
  });
});
