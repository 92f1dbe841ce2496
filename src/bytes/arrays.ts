/** The items by what `keyOf` says of them, in their order: Map.groupBy, which Node 20 lacks. */
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

/** A copy of an array with room for `length` elements, and for twice as many as before. */
export function grown<Numbers extends Uint8Array | Int32Array | Float64Array>(
  array: Numbers,
  length = 0,
): Numbers {
  const longer = new (array.constructor as new (length: number) => Numbers)(
    Math.max(2 * array.length, length),
  );
  longer.set(array);
  return longer;
}
