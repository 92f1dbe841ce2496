// The commands train and count.

export { idsSummary } from "./train-summary.ts";
