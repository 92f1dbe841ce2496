import { mkdirSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Place } from "./output-place.ts";

/** Makes the parents that a place lacks. The value takes them back, as far as nothing else is in them by then. */
export function makeParents(place: Place): () => void {
  const outermost = mkdirSync(place.parent, { recursive: true });
  if (outermost === undefined) return () => {};
  return () => {
    try {
      for (let path = place.parent; path.length >= outermost.length; path = dirname(path)) rmdirSync(path);
    } catch {
      // Something else is in it.
    }
  };
}
