// Text and numbers as bytes, and checks of data from outside.

export * as argument from "./argument.ts";
export { bytesOf, copyBytes, groupBy, grow, Heap, lazy } from "./arrays.ts";
export * as ascii from "./ascii.ts";
export * as byteCharacters from "./byte-characters.ts";
export * as decimal from "./decimal.ts";
export { escapeBytes, escapeText, spacesWithSigns } from "./escape.ts";
export * as json from "./json.ts";
export {
  countNoun,
  formatBytes,
  formatClock,
  formatDay,
  formatSeconds,
  groupDigits,
} from "./quantities.ts";
export * as schema from "./schema.ts";
export type { Text } from "./text.ts";
export * as textBuffers from "./text.ts";
export * as utf8 from "./utf8-characters.ts";
export { describeValue, isPlainObject, showValue, typedArrayClass } from "./values.ts";
