import { usageError } from "../errors.ts";
import { readTyped } from "../options/option.ts";
import { type AskedTraining, trainingOptions } from "../options/training-table.ts";
import type { Invocation } from "./arguments.ts";
import { checkReportPath } from "./report-option.ts";
import { readTokenList } from "./token-lists.ts";

/** What is typed of a training. Looks at no file but a chat template's and that of seed tokens. */
export function readTraining({ options, files }: Invocation): AskedTraining {
  const typed = readTyped(trainingOptions, options);
  const { seedTokensFile: path } = typed;
  const listed = path === undefined ? [] : readTokenList("--seed-tokens", path);
  const [file] = files;
  if (typed.languages !== undefined && file !== undefined) {
    throw usageError(
      `"${file}" belongs to no language; with --language, every file needs one`,
      `--language NAME=${file}`,
    );
  }
  checkReportPath(typed.report);
  return {
    ...typed,
    seedTokens: [...(typed.seedTokens ?? []), ...listed],
    ledger: typed.noLedger ? false : typed.ledger,
  };
}
