/** Elements of a list that are made text together. */
const sliceLength = 2_000;

/** What JSON.stringify makes of plain data, in pieces: long lists anywhere in its objects are cut, so that no piece takes long. */
export function* jsonChunks(value: unknown): Generator<string, void> {
  if (Array.isArray(value) && value.length > sliceLength) {
    for (let start = 0; start < value.length; start += sliceLength) {
      yield start === 0 ? "[" : ",";
      yield JSON.stringify(value.slice(start, start + sliceLength)).slice(1, -1);
    }
    yield "]";
  } else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    let separator = "{";
    for (const [key, field] of Object.entries(value)) {
      yield `${separator}${JSON.stringify(key)}:`;
      yield* jsonChunks(field);
      separator = ",";
    }
    yield separator === "{" ? "{}" : "}";
  } else yield JSON.stringify(value);
}
