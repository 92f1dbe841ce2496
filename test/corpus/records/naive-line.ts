/** What a line of JSON says, by strings and JSON.parse: the twin of `readLine`. */
export function naiveLine(line: string, field: string): { text: string } | "blank" | string {
  if (/^[ \t\r]*$/.test(line)) return "blank";
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "notJson";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "notObject";
  if (!Object.hasOwn(value, field)) return "fieldMissing";
  const text = (value as Record<string, unknown>)[field];
  if (typeof text !== "string") return "fieldNotString";
  return text.isWellFormed() ? { text } : "loneSurrogate";
}
