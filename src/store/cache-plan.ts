import type { EntryId } from "./cache-names.ts";
import type { SumTerm } from "./cache-sums.ts";

/**
 * How to build a word table from the cache: take a sum, add entries, subtract entries, and count the rest. An entry is
 * listed as often as it is added.
 */
export type Plan = {
  /** Index of the sum; undefined for none. */
  readonly sumIndex: number | undefined;
  readonly added: readonly EntryId[];
  /** Each once, with how often it is subtracted. */
  readonly removed: readonly (readonly [id: EntryId, times: number])[];
  /** Contents that the cache does not have, each once. */
  readonly missing: ReadonlySet<EntryId>;
};

/**
 * The plan with the least to count, and then the fewest files to read.
 * @param wanted the contents of the inputs, and how often each occurs
 * @param hasEntry whether there is an entry of a content
 */
export function makePlan(
  wanted: ReadonlyMap<EntryId, number>,
  hasEntry: (id: EntryId) => boolean,
  sums: readonly (readonly SumTerm[])[],
): Plan {
  const plans = [undefined, ...sums.keys()].flatMap((sumIndex) => {
    const terms = sumIndex === undefined ? [] : sums[sumIndex]!;
    const plan = planWith(wanted, hasEntry, sumIndex, terms);
    return plan === undefined ? [] : [plan];
  });
  const filesToRead = ({ sumIndex, added, removed }: Plan) =>
    (sumIndex === undefined ? 0 : 1) + added.length + removed.length;
  return plans.reduce((best, plan) => {
    const less = plan.missing.size - best.missing.size || filesToRead(plan) - filesToRead(best);
    return less < 0 ? plan : best;
  });
}

function planWith(
  wanted: ReadonlyMap<EntryId, number>,
  hasEntry: (id: EntryId) => boolean,
  sumIndex: number | undefined,
  terms: readonly SumTerm[],
): Plan | undefined {
  const added: EntryId[] = [];
  const removed: [EntryId, number][] = [];
  const missing = new Set<EntryId>();
  const timesInSum = new Map(terms.map(([id, times]) => [id, times]));
  for (const id of new Set([...wanted.keys(), ...timesInSum.keys()])) {
    const more = (wanted.get(id) ?? 0) - (timesInSum.get(id) ?? 0);
    if (more === 0) continue;
    if (hasEntry(id)) {
      for (let left = more; left > 0; left--) added.push(id);
      if (more < 0) removed.push([id, -more]);
    } else if (timesInSum.has(id)) {
      // Without its entry, a content can neither be subtracted from this sum nor added to it.
      return undefined;
    } else {
      missing.add(id);
    }
  }
  return { sumIndex, added, removed, missing };
}
