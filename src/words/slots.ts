import { UserError } from "../errors.ts";

/**
 * Slots: an open-addressing hash table with linear probing, its slots of a few Int32 lanes each end to end in one
 * array. What a slot holds is the table's own affair (short-words.ts, middle-words.ts, long-words.ts).
 *
 * The home slot of a key is the top `slotBits` bits of its hash. So keys stand in the order of their hashes, nearly,
 * whatever the size: growing and adding up walk through both arrays from front to back.
 */
export type Slots = {
  lanes: Int32Array;
  /** The table has 2^slotBits slots. */
  slotBits: number;
  usedCount: number;
};

/** Slots are at most five eighths full: a missing key is then found to be missing in 4 probes on average. */
const fullestNumerator = 5;
const fullestDenominator = 8;

/** No array may be larger than 2^32 bytes, the runtime's limit. */
export const arrayLaneCountMax = 2 ** 30;

export function allocateSlots(slotBits: number, slotLanes: number): Slots {
  return { lanes: new Int32Array(slotLanes << slotBits), slotBits, usedCount: 0 };
}

/** The bits of a table that has room for this many keys. */
export function slotBitsFor(slots: Slots, keyCount: number): number {
  let { slotBits } = slots;
  while (keyCount * fullestDenominator > fullestNumerator * 2 ** slotBits) slotBits++;
  return slotBits;
}

/** Refuses a table that no array can hold. */
export function checkSlotBits(slotBits: number, slotLanes: number): void {
  if (slotLanes * 2 ** slotBits <= arrayLaneCountMax) return;
  const wordCountMax = Math.floor(
    ((arrayLaneCountMax / slotLanes) * fullestNumerator) / fullestDenominator / 1e6,
  );
  throw tooManyWords(`more than ${wordCountMax} million distinct words of one length class`);
}

export function tooManyWords(what: string): UserError {
  return new UserError(`the corpus has ${what}, more than can be counted`, {
    hint: "train on a part of the corpus, or choose a --pattern that cuts it into shorter words",
  });
}
