import { expect, test } from "bun:test";
import { RecordBatch } from "../../src/corpus/records/record-batch.ts";
import { RecordCounter } from "../../src/count/record-counter.ts";
import type { Pretokens, TextPart } from "../../src/text/pretokens.ts";

/** What millions of short records leave is more than the collector is in time for. */
test("no record makes an object of its own", () => {
  const parts = new Set<TextPart>();
  const ends: number[] = [];
  const pretokens = {
    documentCount: 0,
    searchText() {},
    start() {},
    take(part: TextPart) {
      parts.add(part);
      ends.push(part.end);
      return true;
    },
  } as unknown as Pretokens;
  const batch = new RecordBatch();
  batch.restart(10);
  for (const end of [3, 3, 10]) batch.endRecord(end);
  for (const _ of new RecordCounter(pretokens).count([10], batch));
  expect(ends).toEqual([3, 3, 10]);
  expect(parts.size).toBe(1);
});
