import { expect, test } from "bun:test";
import { IdsOutput } from "../../src/pipeline/encode-corpus.ts";
import { Outbox } from "../../src/pipeline/task-thread.ts";
import { IdBuffer, type Ids } from "../../src/tokenizer/id-buffer.ts";

/** A quarter of what may be on its way. */
const idsAtATime = 2 ** 20;

function fill(out: IdBuffer, id: number): void {
  for (let i = 0; i < idsAtATime; i++) out.push(id);
}

test("who has too much on its way waits until some are written", async () => {
  const out = new IdBuffer(true);
  const posted: Ids[] = [];
  const outbox = new Outbox(new IdsOutput(out), ({ ids }) => posted.push(ids));
  for (let id = 0; id < 4; id++) {
    fill(out, id);
    await outbox.send();
  }
  fill(out, 4);
  let isSent = false;
  const sending = outbox.send().then(() => {
    isSent = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(isSent).toBe(false);
  expect(posted.length).toBe(4);
  outbox.written(posted[0]!.byteLength, posted[0]!.buffer);
  await sending;
  expect(posted.map((ids) => ids.length)).toEqual(Array.from({ length: 5 }, () => idsAtATime));
});

test("the memory of what was written is used again, and its old ids are not sent twice", async () => {
  const out = new IdBuffer(true);
  const posted: Ids[] = [];
  const outbox = new Outbox(new IdsOutput(out), ({ ids }) => posted.push(ids));
  fill(out, 1);
  await outbox.send();
  const [first] = posted;
  outbox.written(first!.byteLength, first!.buffer);
  out.push(2);
  await outbox.send();
  out.push(3);
  await outbox.send();
  expect(posted.slice(1).map((ids) => [...ids])).toEqual([[2], [3]]);
  expect(posted[2]!.buffer).toBe(first!.buffer);
});
