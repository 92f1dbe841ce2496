import type { Input } from "../../../src/corpus/input.ts";
import type * as tasks from "../../../src/corpus/task.ts";

export const stream: Input = {
  path: "-",
  isStream: true,
  compression: "none",
  format: "text",
  formatFrom: "name",
  isBinaryText: false,
  textField: "text",
  sizeBytes: 0,
  device: 0,
  inode: 0,
  modifiedMs: 0,
};

/** Splits a text into chunks of this size. */
export function chunksOf(bytes: Uint8Array, sizeBytes: number): tasks.ChunkTask[] {
  const chunks: tasks.ChunkTask[] = [];
  for (let startByte = 0; startByte < bytes.length; startByte += sizeBytes) {
    const endByte = Math.min(bytes.length, startByte + sizeBytes);
    const isLast = endByte === bytes.length;
    chunks.push({
      kind: "chunk",
      inputIndex: 0,
      startByte,
      endByte,
      startsInside: false,
      endsInside: false,
      endsInput: isLast,
      continues: !isLast,
      bytes: new Uint8Array(bytes.subarray(startByte, endByte)),
      inputBytes: endByte - startByte,
    });
  }
  return chunks;
}
