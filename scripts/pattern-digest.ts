import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
/** It is made of patterns, and compiling one does not read it. */
const made = "src/pattern/named-masks.ts";

/** A hash of all that compiles patterns: what is made of the named ones is made anew when it changes. That takes 9 s. */
export function patternDigest(): string {
  const hash = new Bun.CryptoHasher("sha256");
  const names = ["src/pattern", "src/bytes", "scripts", "scripts/masks"].flatMap((directory) =>
    readdirSync(join(root, directory))
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `${directory}/${name}`),
  );
  for (const name of names.sort())
    if (name !== made) hash.update(`${name}\n`).update(readFileSync(join(root, name)));
  return hash.digest("hex");
}
