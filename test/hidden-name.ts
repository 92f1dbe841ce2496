import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { stageDirectory } from "../src/store/staged-directory.ts";

/**
 * Returns the hidden path next to an output that a run on this host would use. `kind` is "new", "old" or "keep-MARK", as
 * described at `HiddenKind` (src/store/output-lock.ts).
 */
export function hiddenPath(output: string, kind: string, run = "01234567"): string {
  const parent = dirname(output);
  const probe = "hidden-name-probe";
  const staged = stageDirectory(join(parent, probe));
  const name = readdirSync(parent).find((name) => name.startsWith(`.${probe}.`))!;
  staged.discard();
  const [, host] = /\.(bpe-\w+)-\w+\.new$/.exec(name)!;
  return join(parent, `.${basename(output)}.${host}-${run}.${kind}`);
}
