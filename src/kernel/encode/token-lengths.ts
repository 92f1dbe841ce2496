import { reserveTable } from "./encoding-memory";
import { EncodingModel } from "./model-layout";

/**
 * How many bytes of text each id stands for: a table of a u32 for each id below `idLimit`, 0 for ids that merging does not make.
 * Ranks only rise.
 */
let lengths: usize = 0;

/** The table of a model, made once; 0 without room. */
export function tokenLengths(model: EncodingModel): usize {
  if (lengths !== 0) return lengths;
  lengths = reserveTable(4 * <usize>model.idLimit);
  if (lengths === 0) return 0;
  for (let byte: u32 = 0; byte < 256; byte++) {
    store<u32>(lengths + (load<u32>(model.byteIds + (byte << 2)) << 2), 1);
  }
  for (let rank: u32 = 0; rank < model.mergeCount; rank++) {
    const left = lengths + (load<u32>(model.lefts + (rank << 2)) << 2);
    const right = lengths + (load<u32>(model.rights + (rank << 2)) << 2);
    const merged = lengths + (load<u32>(model.mergedIds + (rank << 2)) << 2);
    store<u32>(merged, load<u32>(left) + load<u32>(right));
  }
  return lengths;
}
