import { expect, test } from "bun:test";
import { type PieceTask, type Task, TaskQueue } from "../../src/corpus/tasks.ts";
import { nextTurn } from "../../src/next-turn.ts";

/** More than what is handed out at a time. */
const pieceBytes = 1e6;

function pieceAt(startByte: number, goesOn: boolean): PieceTask {
  const place = {
    inputIndex: 0,
    startByte,
    endByte: startByte + pieceBytes,
    startsInside: goesOn,
    endsInside: goesOn,
  };
  return {
    ...place,
    kind: "piece",
    endsInput: false,
    bytes: new Uint8Array(0),
    goesOn,
    inputBytes: pieceBytes,
  };
}

async function* given(tasks: readonly Task[]): AsyncGenerator<Task, void> {
  yield* tasks;
}

test("takers go on in the order of the tasks, also where one has to get the next and another waits already", async () => {
  const pieces = [true, false, false, true, true, false, false].map((goesOn, i) =>
    pieceAt(i * pieceBytes, goesOn),
  );
  for (const aheadBytes of [1, 1e9]) {
    const queue = new TaskQueue(given(pieces), aheadBytes);
    const order: number[] = [];
    const holders = new Map<number, number>();
    const take = async (taker: number) => {
      for (const task of await queue.next(taker)) {
        order.push(task.startByte);
        holders.set(task.startByte, taker);
      }
    };
    const first = take(0);
    const second = take(1);
    await first;
    await nextTurn();
    const asks = [take(0), take(1), take(0), take(0), take(1), take(1)];
    await Promise.all([second, ...asks]);
    queue.close();
    expect(order).toEqual(pieces.map(({ startByte }) => startByte));
    expect(holders.get(0)).toBe(holders.get(pieceBytes)!);
  }
});
