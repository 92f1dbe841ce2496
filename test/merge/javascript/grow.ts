/** A longer copy of a typed array; what is new is zero. */
export function grow<A extends Uint8Array | Uint16Array | Int32Array | Float64Array>(
  array: A,
  length: number,
): A {
  const longer = new (array.constructor as new (length: number) => A)(length);
  longer.set(array);
  return longer;
}
