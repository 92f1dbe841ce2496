import { fieldsOf, wholeNumber } from "../bytes/schema.ts";

/** `RangeStatistics` as the files of a cache hold them. */
export const statisticsCheck = fieldsOf({
  textBytes: wholeNumber(),
  documentCount: wholeNumber(),
  invalidByteCount: wholeNumber(),
  firstInvalidByte: wholeNumber(-1),
});
