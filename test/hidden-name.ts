import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { stageDirectory } from "../src/store/staged-directory.ts";

/** The path that some run of this host has for the output that it stages. */
export function hiddenPath(output: string, kind: string, run = "01234567"): string {
  const parent = dirname(output);
  const probe = "hidden-name-probe";
  const staged = stageDirectory(join(parent, probe));
  const name = readdirSync(parent).find((name) => name.startsWith(`.${probe}.`))!;
  staged.discard();
  const [, host] = /\.(bpe-\w+)-\w+\.new$/.exec(name)!;
  return join(parent, `.${basename(output)}.${host}-${run}.${kind}`);
}
