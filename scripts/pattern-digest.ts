import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
/** The generated masks. They come from compiled patterns, so they are not hashed. */
const made = "src/pattern/named-masks.ts";

/** Returns a hash of all sources that compile patterns. If it changes, the named patterns are compiled again. */
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
