import { fieldsOf, wholeNumber } from "../bytes/schema.ts";

/** `RangeFindings` as the files of a cache hold them. */
export const findingsCheck = fieldsOf({
  textBytes: wholeNumber(),
  documentCount: wholeNumber(),
  invalidByteCount: wholeNumber(),
  firstInvalidByte: wholeNumber(-1),
});
