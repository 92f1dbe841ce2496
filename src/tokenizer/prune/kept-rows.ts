import { shown } from "../../bytes/schema.ts";
import type { RankedMerges } from "../encoding-model.ts";
import type { TokenIds } from "../load/assemble-model.ts";
import { refuse } from "../load/checked-json.ts";
import { gone, type Numbering } from "./token-numbering.ts";

/** What stays of a vocabulary and its merges, spelled as in their file. */
export type KeptRows = {
  /** By new ids, ascending. */
  readonly tokens: readonly (readonly [text: string, id: number])[];
  /** In the order of ranks. */
  readonly merges: () => Generator<readonly [left: string, right: string]>;
};

/** A merge stays if its halves and what it makes stay. */
export function keptRows(
  vocab: TokenIds,
  merges: RankedMerges,
  { newIds }: Numbering,
  path: string,
): KeptRows {
  const textOf: string[] = [];
  const tokens: [string, number][] = [];
  for (const [text, id] of vocab) {
    const other = textOf[id];
    if (other !== undefined) refuse(path, `the tokens ${shown(other)} and ${shown(text)} have one id, ${id}`);
    textOf[id] = text;
    const newId = newIds[id] ?? gone;
    if (newId !== gone) tokens.push([text, newId]);
  }
  tokens.sort(([, a], [, b]) => a - b);
  const stays = (id: number) => newIds[id] !== gone;
  return {
    tokens,
    *merges() {
      const { left, right, merged } = merges;
      for (let rank = 0; rank < merged.length; rank++) {
        const [l, r] = [left[rank]!, right[rank]!];
        if (stays(l) && stays(r) && stays(merged[rank]!)) yield [textOf[l]!, textOf[r]!];
      }
    },
  };
}
