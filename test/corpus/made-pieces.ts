import type { PieceTask } from "../../src/corpus/task.ts";

/** A text in pieces of the size given, none of which ends at a cut. */
export function piecesOf(bytes: Uint8Array, sizeBytes: number): PieceTask[] {
  const pieces: PieceTask[] = [];
  for (let startByte = 0; startByte < bytes.length; startByte += sizeBytes) {
    const endByte = Math.min(bytes.length, startByte + sizeBytes);
    const isLast = endByte === bytes.length;
    pieces.push({
      kind: "piece",
      inputIndex: 0,
      startByte,
      endByte,
      startsInside: false,
      endsInside: false,
      endsInput: isLast,
      goesOn: !isLast,
      bytes: new Uint8Array(bytes.subarray(startByte, endByte)),
      inputBytes: endByte - startByte,
    });
  }
  return pieces;
}
