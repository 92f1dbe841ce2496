// The commands train, count and ids train.

export { type IdInput, trainIds, writeIds } from "./train-ids.ts";
export { idsSummary, whitespaceAndSeparators } from "./train-summary.ts";
