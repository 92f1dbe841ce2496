// Options as values: how each is typed, checked and described.
// It is one module because help, checks, the library and Python are made of the same table, whose entries are of
// these kinds.

export {
  commandLineKind,
  flag,
  type Kind,
  keptFields,
  type Named,
  namedFiles,
  oldAndNew,
  oneOf,
  oneSize,
  path,
  readNamed,
  readTextFile,
  size,
  sizes,
  text,
  texts,
  whole,
  word,
  words,
  wrongKind,
} from "./kinds.ts";
export {
  checkCombinations,
  checkGiven,
  type Exclusion,
  nameInLibrary,
  type Option,
  type Options,
  type PathRead,
  type Requested,
  readTyped,
  type Topic,
  tableOf,
  topics,
} from "./option.ts";
export {
  commonOptions,
  idType,
  readingOptions,
  sharedOptions,
  sharedWithTraining,
  specialTokensAsText,
  tokenizerSupplements,
  unattendedOptions,
} from "./shared-options.ts";
export { type RequestedTraining, trainingOptions } from "./training-table.ts";
