import { UserError } from "#runtime";

// Fields of records that stay beside their ids: `--keep-field id,url`.

/** What a column holds. */
export const keptKinds = ["text", "int", "double", "bool"] as const;
export type KeptKind = (typeof keptKinds)[number];

/** A field, and what its column holds, if that is said: `score:double`. */
export type KeptField = { readonly name: string; readonly kind?: KeptKind | undefined };

/** A bigint is a whole number, a number one with a fraction. Objects and lists are their JSON. */
export type KeptValue = string | bigint | number | boolean | null;

/** About what a value takes in memory. */
export const keptBytesOf = (value: KeptValue) => 16 + (typeof value === "string" ? 2 * value.length : 0);

/** The kind that holds a value; null: any does. */
export function kindOf(value: KeptValue): KeptKind | null {
  if (value === null) return null;
  if (typeof value === "string") return "text";
  if (typeof value === "boolean") return "bool";
  return typeof value === "bigint" ? "int" : "double";
}

/** The value of valid JSON; undefined: text with half a surrogate pair. A column of text gets numbers as they are written. */
export function keptValue(json: string, { kind }: KeptField): KeptValue | undefined {
  if (json === "null") return null;
  if (json[0] === '"') {
    const text = JSON.parse(json) as string;
    return text.isWellFormed() ? text : undefined;
  }
  if (kind === "text" || json[0] === "{" || json[0] === "[") return json;
  if (json === "true" || json === "false") return json === "true";
  return /^-?\d+$/.test(json) ? BigInt(json) : Number(json);
}

const kindNames: Record<KeptKind, string> = {
  text: "text",
  int: "whole numbers of 64 bits",
  double: "numbers of 64 bits",
  bool: "true and false",
};

const [int64Min, int64Max] = [-(2n ** 63n), 2n ** 63n - 1n];

/** The columns of what is kept. One whose kind is not said has that of its first value; null is in any. */
export class KeptColumns {
  /** null: no value has come. */
  readonly kinds: (KeptKind | null)[];

  /** @param kinds those that earlier shards have */
  constructor(
    readonly fields: readonly KeptField[],
    kinds?: readonly (KeptKind | null)[],
  ) {
    this.kinds = fields.map(({ kind = null }, k) => kinds?.[k] ?? kind);
  }

  /** A value of column k, as that column holds it. */
  taken(k: number, value: KeptValue): KeptValue {
    const own = kindOf(value);
    if (own === null) return value;
    this.kinds[k] ??= own;
    const kind = this.kinds[k];
    const isInRange = typeof value !== "bigint" || (value >= int64Min && value <= int64Max);
    if (kind === own && isInRange) return value;
    if (kind === "double" && own === "int" && BigInt(Number(value)) === value) return Number(value);
    const { name } = this.fields[k]!;
    const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : String(value);
    throw new UserError(`--keep-field "${name}": ${shown} does not fit its column of ${kindNames[kind]}`, {
      hint: `the first value decides, unless it is said: ${name}:text keeps each as text, ${name}:double takes whole numbers, too`,
    });
  }

  /** The kinds, to be written: of a column that has only null so far, from now on, too. */
  settled(): readonly KeptKind[] {
    for (const [k, kind] of this.kinds.entries()) this.kinds[k] = kind ?? "text";
    return this.kinds as KeptKind[];
  }
}
