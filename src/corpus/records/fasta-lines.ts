import { carriageReturn, lineFeed, space, type Text, tab } from "../../bytes/text.ts";
import type { RecordBatch } from "./record-batch.ts";
import type { LinesRead, RecordLines } from "./record-lines.ts";

const headerMark = 0x3e; // >
const commentMark = 0x3b; // ;

/** What is done with a byte of a sequence: letters and signs stay, blanks go, anything else is no sequence. */
const isKept = new Uint8Array(256).fill(1, 0x21, 0x7f);
const isBlank = new Uint8Array(256);
for (const blank of [space, tab, carriageReturn]) isBlank[blank] = 1;

/**
 * FASTA: a line that begins with `>` opens a record and names it; the lines up to the next one are its sequence. The text
 * of the record is the sequence alone, without line ends and blanks, in the case in which it is written.
 */
export class FastaLines implements RecordLines {
  readonly tooLongHint = "split the sequence into shorter records";

  firstPos(): number {
    return 0;
  }

  read({ bytes }: Text, start: number, end: number, batch: RecordBatch): LinesRead {
    let lineCount = 0;
    let isOpen = false;
    let outPos = batch.byteCount;
    for (let pos = start; pos < end; lineCount++) {
      const first = bytes[pos]!;
      if (first === headerMark) {
        if (isOpen) batch.endRecord(outPos);
        isOpen = true;
        pos = bytes.indexOf(lineFeed, pos) + 1;
        continue;
      }
      const lineStart = pos;
      const out = batch.text.bytes;
      let byte = first;
      for (; byte !== lineFeed; byte = bytes[++pos]!) {
        if (isKept[byte] === 1) out[outPos++] = byte;
        else if (isBlank[byte] === 0) return { lineCount, fault: faultOf(byte) };
      }
      pos++;
      const fault =
        first === commentMark ? comment : isOpen || isBlankLine(bytes, lineStart) ? undefined : noHeader;
      if (fault !== undefined) return { lineCount, fault };
    }
    if (isOpen) batch.endRecord(outPos);
    return { lineCount };
  }
}

function isBlankLine(bytes: Uint8Array, start: number): boolean {
  let pos = start;
  while (isBlank[bytes[pos]!] === 1) pos++;
  return bytes[pos] === lineFeed;
}

const faultOf = (byte: number) => ({
  what: `byte 0x${byte.toString(16).padStart(2, "0")} is no letter of a sequence`,
  hint: "a sequence of FASTA is ASCII; text is read without --input-format fasta",
});

const noHeader = {
  what: "a sequence without a header: a record of FASTA begins with a line >NAME",
  hint: "text is read without --input-format fasta",
};

const comment = {
  what: "a comment of old FASTA (;), which is no sequence",
  hint: "remove such lines, e.g. with grep -v '^;'",
};
