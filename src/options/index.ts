// Options as values: how each is typed, checked and described.
// It is one module because help, checks, the library and Python are made of the same table, whose entries are of
// these kinds.

export * as kinds from "./kinds.ts";
export * as optionTables from "./option.ts";
export * as sharedOptions from "./shared-options.ts";
export { type RequestedTraining, trainingOptions } from "./training-table.ts";
