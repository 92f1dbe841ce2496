/** Bytes of the memory that this instance works in. */
export function memoryBytes(): f64 {
  return <f64>memory.size() * 65536;
}
