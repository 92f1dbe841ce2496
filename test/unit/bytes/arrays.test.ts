import { expect, test } from "bun:test";
import { Heap } from "../../../src/bytes/arrays.ts";
import { randomNumbers } from "../../random.ts";

test("a heap returns the pairs in sorted order, with many equal keys, and when it grows", () => {
  const random = randomNumbers(7);
  const heap = new Heap();
  const naive: [key: number, id: number][] = [];
  for (let step = 0; step < 9_000; step++) {
    if (naive.length > 0 && random(10) < (step < 8_000 ? 2 : 8)) {
      const least = naive.reduce((best, pair) =>
        pair[0] < best[0] || (pair[0] === best[0] && pair[1] < best[1]) ? pair : best,
      );
      expect([heap.topKey, heap.topId]).toEqual(least);
      heap.pop();
      naive.splice(naive.indexOf(least), 1);
    } else {
      const pair: [number, number] = [random(50), random(2000) - 1000];
      heap.push(...pair);
      naive.push(pair);
    }
    expect(heap.count).toBe(naive.length);
  }
});
