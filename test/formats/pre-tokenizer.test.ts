import { expect, test } from "bun:test";
import { readPreTokenizer } from "../../src/formats/pre-tokenizer.ts";
import { exportForm, type NamedPattern, patterns } from "../../src/pattern/pattern.ts";

/** The name that is read from a pre-tokenizer of these Splits. */
function nameOf(regexes: readonly string[]): string | null {
  const splits = regexes.map((regex) => ({
    type: "Split",
    pattern: { Regex: regex },
    behavior: "Isolated",
    invert: false,
  }));
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, use_regex: false };
  return readPreTokenizer({ type: "Sequence", pretokenizers: [...splits, byteLevel] }, "a").name;
}

const entries = Object.entries<NamedPattern>(patterns);
/** Patterns of the same splits as one before them. */
const twins: Record<string, string> = { p50k: "r50k", nemotron: "tekken", smollm: "starcoder" };

test("a named pattern is known by its own expressions, or those of other writers", () => {
  for (const [name, { sources, foreignSources }] of entries) {
    expect(nameOf(foreignSources ?? sources)).toBe(twins[name] ?? name);
  }
});

test("and by what is written of it, though some are written as another that cuts alike", () => {
  const writtenAs: Record<string, string> = { ...twins, r50k: "gpt2", p50k: "gpt2", gpt4: "llama3" };
  for (const [name, { sources }] of entries) {
    const form = exportForm({ name, sources });
    if (form.kind === "splits") expect(nameOf(form.regexes)).toBe(writtenAs[name] ?? name);
  }
});
