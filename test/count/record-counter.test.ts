import { expect, test } from "bun:test";
import { RecordBatch } from "../../src/corpus/records/record-batch.ts";
import type { DocumentPart, Documents } from "../../src/count/documents.ts";
import { RecordCounter } from "../../src/count/record-counter.ts";

/** What millions of short records leave is more than the collector is in time for. */
test("no record makes an object of its own", () => {
  const parts = new Set<DocumentPart>();
  const ends: number[] = [];
  const documents = {
    documentCount: 0,
    searchText() {},
    start() {},
    count(part: DocumentPart) {
      parts.add(part);
      ends.push(part.end);
      return true;
    },
  } as unknown as Documents;
  const batch = new RecordBatch();
  batch.restart(10);
  for (const end of [3, 3, 10]) batch.endRecord(end);
  for (const _ of new RecordCounter(documents).count([10], batch));
  expect(ends).toEqual([3, 3, 10]);
  expect(parts.size).toBe(1);
});
