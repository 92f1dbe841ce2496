import type { InputFormat } from "./input.ts";

/**
 * What is between two records of a format in lines; the next record begins behind its first byte. In JSON lines every line
 * is a record, in FASTA one that begins with `>` opens it.
 */
export const recordSeparator = (format: InputFormat): Buffer =>
  format === "fasta" ? beforeHeader : afterLine;

const afterLine = Buffer.from("\n");
const beforeHeader = Buffer.from("\n>");
