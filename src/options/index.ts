// Options as values: how each is typed, checked and described.

export {
  flag,
  type Kind,
  keptFields,
  type Named,
  namedFiles,
  oneOf,
  oneSize,
  path,
  readNamed,
  readTextFile,
  size,
  sizes,
  text,
  texts,
  typedOnly,
  whole,
  word,
  words,
  wrong,
} from "./kinds.ts";
export {
  type Asked,
  checkGiven,
  checkTogether,
  type Exclusion,
  nameInLibrary,
  type Option,
  type Options,
  type PathRead,
  readTyped,
  type Topic,
  tableOf,
  topics,
} from "./option.ts";
export { besideTokenizer, everywhere, reading, shared, unattended } from "./shared-options.ts";
export { type AskedTraining, idType, specialTokensAsText, trainingOptions } from "./training-table.ts";
