import type { CompiledPattern } from "./compile.ts";

/**
 * A hash of all that decides where a pattern cuts, in hexadecimal: of its tables, or of its programs. Patterns
 * that were compiled ahead and those that were compiled now have the same.
 */
export function patternDigest(compiled: CompiledPattern): string {
  const hasher = new Bun.CryptoHasher("sha256");
  addTo(hasher, compiled);
  return hasher.digest("hex");
}

/** Made of other fields, or for people: they decide nothing. */
const derived = new Set(["quads", "masks", "reason"]);

/** Plain data as bytes: what an array holds and a field is called cannot be taken for one another, each has its size before it. */
function addTo(hasher: Bun.CryptoHasher, value: unknown): void {
  if (ArrayBuffer.isView(value)) {
    hasher.update(`${value.constructor.name} ${value.byteLength} `);
    hasher.update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  } else if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([name]) => !derived.has(name));
    hasher.update(`${fields.length} `);
    for (const [name, field] of fields.sort(([a], [b]) => (a < b ? -1 : 1))) {
      hasher.update(`${JSON.stringify(name)} `);
      addTo(hasher, field);
    }
  } else hasher.update(`${JSON.stringify(value)} `);
}
