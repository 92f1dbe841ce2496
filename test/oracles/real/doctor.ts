// Part of `npm run suite real`: `bpe doctor` finds no errors in published tokenizers, and only the expected warnings.
import { expect, setDefaultTimeout, test } from "bun:test";
import { bpe } from "../../binary.ts";
import { pathOf } from "./programs.ts";
import { readTokenizers } from "./tokenizers.ts";

setDefaultTimeout(600_000);

/**
 * The expected warnings. Each was checked manually and is right: numbers such as "20031218", and letters of flag
 * emoji, for each of which two tokens have the same bytes.
 */
const warnings: Readonly<Record<string, readonly string[]>> = {
  claude: ["private-data"],
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
