// Options as values: how each is typed, checked and described.

export * as kinds from "./kinds.ts";
export * as optionTables from "./option.ts";
export * as sharedOptions from "./shared-options.ts";
export { type RequestedTraining, trainingOptions } from "./training-table.ts";
