// Part of `npm run suite real`: `bpe doctor` must find no errors in published tokenizers, and only the expected
// warnings.
import { expect, setDefaultTimeout, test } from "bun:test";
import { bpe } from "../../binary.ts";
import { pathOf } from "./programs.ts";
import { readTokenizers } from "./tokenizers.ts";

setDefaultTimeout(600_000);

/** The expected warnings. Each was checked manually and is right. */
const warnings: Readonly<Record<string, readonly string[]>> = {
  // The warning is about tokens that are numbers, such as "20031218".
  claude: ["private-data"],
  // For each letter of flag emoji, two tokens have the same bytes.
  "command-r-plus": ["same-bytes"],
};

for (const tokenizer of readTokenizers())
  test(`${tokenizer.name}: no errors, and only the expected warnings`, () => {
    const { stdout } = bpe(["doctor", pathOf(tokenizer), "--json", ...(tokenizer.options ?? [])]);
    const { errors, findings } = JSON.parse(stdout);
    const found = findings.filter(({ severity }: { severity: string }) => severity === "warning");
    expect({ errors, warnings: found.map(({ check }: { check: string }) => check) }).toEqual({
      errors: 0,
      warnings: [...(warnings[tokenizer.name] ?? [])],
    });
  });
