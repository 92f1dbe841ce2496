import { describe, expect, test } from "bun:test";
import { exportForm } from "../../src/pattern/pattern.ts";
import { trainingPattern } from "../../src/pipeline/training.ts";
import { errorOf } from "../thrown.ts";

describe("the pattern of a training", () => {
  test("for HF is read as HF's engine reads it, and given back to it as typed", () => {
    const typed = "\\w+$|\\w|\\W";
    const pattern = trainingPattern(typed, "huggingface");
    expect(pattern.sources).not.toEqual([typed]);
    expect(exportForm(pattern)).toMatchObject({ regexes: [typed] });
    expect(trainingPattern("\\p{L}+|.", "huggingface").sources).toEqual(["\\p{L}+|."]);
    expect(errorOf(() => trainingPattern("(?i:ss)|.", "huggingface")).exitCode).toBe(2);
  });

  test("otherwise is tiktoken's, and spelled out for HF", () => {
    const pattern = trainingPattern("a$|[\\s\\S]", "cs336");
    expect(pattern.sources).toEqual(["a$|[\\s\\S]"]);
    expect(exportForm(pattern)).toMatchObject({ regexes: ["a\\z|[\\s\\S]"] });
  });

  test("that HF's engine has no form for is refused", () => {
    const error = errorOf(() => trainingPattern("(?<=a(?!b))c|.", "cs336"));
    expect(error.message).toContain("tokenizer.json cannot say the pattern");
    expect([error.exitCode, error.hint]).toEqual([2, expect.any(String)]);
  });

  test.each([
    "[a-z]+",
    "deepseek-v3",
    "\\s+(?!\\S)|\\S+",
  ])("for rustbpe is refused if rustbpe would cut otherwise: %s", (text) => {
    const error = errorOf(() => trainingPattern(text, "rustbpe"));
    expect(error.message).toContain("--compat rustbpe");
    expect([error.exitCode, error.hint]).toEqual([2, expect.any(String)]);
    expect(trainingPattern(text, "cs336").sources.length).toBeGreaterThan(0);
  });
});
