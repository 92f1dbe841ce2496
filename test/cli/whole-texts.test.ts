import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { trainTokenizer } from "../../src/index.ts";
import { bpe, mergesOf, put, scratch } from "../binary.ts";

const home = scratch();
const texts = ["low\n\nlower\r\n newest", "the <e>wide<e>\n", "", "\n\n\n", "low <e>low\n", "新\n新\u2028x"];
const records = put(
  home,
  "texts.jsonl",
  texts
    .flatMap((text) => [text, `${text}${text}`].map((one) => `${JSON.stringify({ text: one })}\n`))
    .join(""),
);
const size = ["-n", "300", "-q"];
const train = (name: string, ...options: string[]) =>
  bpe(["train", records, ...size, "-o", join(home, name), ...options]);
const huggingface = ["--compat", "huggingface", "-s", "<e>"];

describe("--whole-texts", () => {
  test("counts like a trainer that ignores lines and special tokens", () => {
    const [whole, plain] = ["whole.tsv", "plain.tsv"].map((name) => join(home, name));
    expect(train("whole", ...huggingface, "--whole-texts", "--save-counts", whole!)).toMatchObject({
      code: 0,
    });
    expect(train("plain", "--save-counts", plain!)).toMatchObject({ code: 0 });
    const counts = readFileSync(whole!, "utf8");
    expect(counts).toBe(readFileSync(plain!, "utf8"));
    expect(counts).toContain("\nĊĊĊ\t");
    expect(counts).toContain("\n<\t");
    const again = ["train", "--counts", whole!, ...size, "-o", join(home, "again"), ...huggingface];
    expect(bpe([...again, "--whole-texts"])).toMatchObject({ code: 0 });
    for (const name of ["tokenizer.json", "merges.txt"])
      expect(readFileSync(join(home, "again", name), "utf8")).toBe(
        readFileSync(join(home, "whole", name), "utf8"),
      );
    expect(bpe(again)).toMatchObject({ code: 1 });
  });

  test("its special tokens have ids, and the record states how texts were cut", () => {
    const tokenizer = JSON.parse(readFileSync(join(home, "whole/tokenizer.json"), "utf8"));
    expect(tokenizer.model.vocab["<e>"]).toBe(0);
    const { options } = JSON.parse(readFileSync(join(home, "whole/training.json"), "utf8"));
    expect(options).toMatchObject({ wholeTexts: true, compat: "huggingface", specialTokens: ["<e>"] });
    const { options: others } = JSON.parse(readFileSync(join(home, "plain/training.json"), "utf8"));
    expect("wholeTexts" in others).toBe(false);
  });

  test("any number of threads gives the same, with a cache too, and the library", async () => {
    const merges = mergesOf(join(home, "whole"));
    const cache = ["--cache", join(home, "cache")];
    for (const [name, ...more] of [
      ["w1", "-w", "1"],
      ["w3", "-w", "3"],
      ["c", ...cache],
      ["d", ...cache],
    ]) {
      expect(train(name!, ...huggingface, "--whole-texts", ...more)).toMatchObject({ code: 0 });
      expect(mergesOf(join(home, name!))).toEqual(merges);
    }
    expect(train("lines", ...huggingface, ...cache)).toMatchObject({ code: 0 });
    expect(mergesOf(join(home, "lines"))).not.toEqual(merges);
    const options = { files: records, vocabSize: 300, specialTokens: ["<e>"], wholeTexts: true } as const;
    const output = join(home, "library");
    await trainTokenizer({ ...options, compat: "huggingface", output });
    expect(mergesOf(output)).toEqual(merges);
    expect(trainTokenizer(options)).rejects.toThrow("wholeTexts needs compat");
  });

  test("is refused where it has no meaning", () => {
    expect(train("none", "--whole-texts")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        "--whole-texts needs --compat huggingface; cs336 never splits text at line ends anyway",
      ),
    });
    expect(train("none", ...huggingface, "--whole-texts", "--superwords-from", "280")).toMatchObject({
      code: 2,
    });
    expect(train("none", "--extend", join(home, "whole"), "--whole-texts")).toMatchObject({ code: 2 });
  });
});

describe("--special-tokens-as-text", () => {
  const marked = put(home, "marked.txt", "low <e>low\n\n<e>newest <e> wide\n".repeat(9));
  const learn = (name: string, ...options: string[]) =>
    bpe(["train", marked, "-n", "300", "-o", join(home, name), "--compat", ...options]);
  const asText = ["-s", "<e>", "--special-tokens-as-text"];

  test("lines are counted as without special tokens, which still have ids", () => {
    const [marks, plain] = ["marks.tsv", "marks-plain.tsv"].map((name) => join(home, name));
    expect(learn("marks", "huggingface", ...asText, "-w", "2", "--save-counts", marks!).stderr).not.toContain(
      "warning: doc",
    );
    learn("marks-plain", "huggingface", "--save-counts", plain!);
    expect(readFileSync(marks!, "utf8")).toBe(readFileSync(plain!, "utf8"));
    const tokenizer = JSON.parse(readFileSync(join(home, "marks/tokenizer.json"), "utf8"));
    expect(tokenizer.model.vocab).toHaveProperty("Ġ<");
    const { options } = JSON.parse(readFileSync(join(home, "marks/training.json"), "utf8"));
    expect(options).toMatchObject({ specialTokensAsText: true, specialTokens: ["<e>"] });
  });

  test("without it, a warning says that special tokens end documents", () => {
    const { stderr } = learn("ended", "huggingface", "-s", "<e>");
    expect(stderr).toContain(`documents end at special tokens in "${marked}"`);
    expect(stderr).toContain("to do as HF does, add --special-tokens-as-text");
    expect(learn("none-marked", "huggingface").stderr).not.toContain("documents end");
  });

  test("is refused where no trainer does so", () => {
    const { code, stderr } = learn("none", "cs336", ...asText);
    expect(code).toBe(2);
    expect(stderr).toContain(
      "needs --extend or --compat huggingface; cs336 always ends documents at special tokens",
    );
  });
});
