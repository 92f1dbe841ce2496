/** Groups items by key, like `Map.groupBy`, which Node 20 lacks. */
export function groupBy<Key, Item>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Returns a copy of an array that is at least twice as long, and has at least `length` elements. */
export function grow<Numbers extends Uint8Array | Int32Array | Float64Array>(
  array: Numbers,
  length = 0,
): Numbers {
  const longer = new (array.constructor as new (length: number) => Numbers)(
    Math.max(2 * array.length, length),
  );
  longer.set(array);
  return longer;
}

/** Returns a view of an array's bytes, in the same memory. */
export const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array<ArrayBuffer> =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);

/** A binary min-heap of (key, id) pairs, ordered by key, then by id. */
export class Heap {
  count = 0;
  private keys = new Float64Array(1 << 12);
  private ids = new Int32Array(1 << 12);

  /** The key of the smallest pair. Meaningless if the heap is empty. */
  get topKey(): number {
    return this.keys[0]!;
  }

  get topId(): number {
    return this.ids[0]!;
  }

  push(key: number, id: number): void {
    if (this.count === this.keys.length) {
      this.keys = grow(this.keys);
      this.ids = grow(this.ids);
    }
    const { keys, ids } = this;
    let index = this.count++;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (keys[parent]! < key || (keys[parent] === key && ids[parent]! <= id)) break;
      keys[index] = keys[parent]!;
      ids[index] = ids[parent]!;
      index = parent;
    }
    keys[index] = key;
    ids[index] = id;
  }

  /** Removes the smallest pair. */
  pop(): void {
    const { keys, ids } = this;
    const count = --this.count;
    const key = keys[count]!;
    const id = ids[count]!;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= count) break;
      const other = child + 1;
      if (
        other < count &&
        (keys[other]! < keys[child]! || (keys[other] === keys[child] && ids[other]! < ids[child]!))
      ) {
        child = other;
      }
      if (keys[child]! > key || (keys[child] === key && ids[child]! >= id)) break;
      keys[index] = keys[child]!;
      ids[index] = ids[child]!;
      index = child;
    }
    keys[index] = key;
    ids[index] = id;
  }
}

/**
 * Copies bytes [start, stop) of `from` to position `end` of `to`. Returns where the copy ends. Most copies are short,
 * and for them a loop is cheaper than a native copy.
 */
export function copyBytes(
  from: Uint8Array,
  start: number,
  stop: number,
  to: Uint8Array,
  end: number,
): number {
  if (stop - start > 256) {
    to.set(from.subarray(start, stop), end);
    return end + stop - start;
  }
  for (let pos = start; pos < stop; pos++) to[end++] = from[pos]!;
  return end;
}

/**
 * Returns a function that computes a value on its first call, and returns that value on every call. The value must not
 * be null or undefined.
 */
export function lazy<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
