import { asOption, phrase, UserError } from "#runtime";

// Record fields that are written next to the ids of each record: `--keep-field id,url`.

/** The types of columns. */
export const kinds = ["text", "int", "double", "bool"] as const;
export type Kind = (typeof kinds)[number];

/** A field, and the type of its column if given: `score:double`. */
export type Field = { readonly name: string; readonly kind?: Kind | undefined };

/**
 * The value of a kept field. A bigint is a whole number; a number may have a fraction. Objects and lists are kept as
 * JSON.
 */
export type Value = string | bigint | number | boolean | null;

/** The approximate size of a value in memory, in bytes. */
export const bytesOf = (value: Value) => 16 + (typeof value === "string" ? 2 * value.length : 0);

/** Returns the kind of a value; null for the value null, which fits every column. */
export function kindOf(value: Value): Kind | null {
  if (value === null) return null;
  if (typeof value === "string") return "text";
  if (typeof value === "boolean") return "bool";
  return typeof value === "bigint" ? "int" : "double";
}

/**
 * Returns the value to keep for the JSON of a value; undefined for a string with a lone surrogate. Objects and lists
 * are kept as their JSON. In a field declared as text, numbers, true and false are kept as their JSON, too.
 */
export function keptValue(json: string, { kind }: Field): Value | undefined {
  if (json === "null") return null;
  if (json[0] === '"') {
    const text = JSON.parse(json) as string;
    return text.isWellFormed() ? text : undefined;
  }
  if (kind === "text" || json[0] === "{" || json[0] === "[") return json;
  if (json === "true" || json === "false") return json === "true";
  return /^-?\d+$/.test(json) ? BigInt(json) : Number(json);
}

const kindNames: Record<Kind, string> = {
  text: "text",
  int: "64-bit integers",
  double: "64-bit floating-point numbers",
  bool: "booleans",
};

const [int64Min, int64Max] = [-(2n ** 63n), 2n ** 63n - 1n];

/**
 * The columns of kept fields. A column whose type was not given takes the type of its first value other than null,
 * unless `fixKinds` has made it text.
 */
export class Columns {
  /** The type of each column; null if it is not known yet. */
  readonly kinds: (Kind | null)[];

  /** @param kinds the types that the columns have in earlier shards */
  constructor(
    readonly fields: readonly Field[],
    kinds?: readonly (Kind | null)[],
  ) {
    this.kinds = fields.map(({ kind = null }, k) => kinds?.[k] ?? kind);
  }

  /** Converts a value to the type of column k. Throws a UserError if it does not fit. */
  convert(k: number, value: Value): Value {
    const own = kindOf(value);
    if (own === null) return value;
    this.kinds[k] ??= own;
    const kind = this.kinds[k];
    const isInRange = typeof value !== "bigint" || (value >= int64Min && value <= int64Max);
    if (kind === own && isInRange) return value;
    if (kind === "double" && own === "int" && BigInt(Number(value)) === value) return Number(value);
    const { name } = this.fields[k]!;
    const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : String(value);
    throw new UserError(
      phrase`${asOption("keep-field", `"${name}"`)}: the value ${shown} does not fit into a column of ${kindNames[kind]}`,
      {
        hint: `state the type of the column, which the first value decides otherwise: ${name}:text accepts every value, ${name}:double every number`,
      },
    );
  }

  /** Returns the kinds to write. A column with only nulls so far becomes text. */
  fixKinds(): readonly Kind[] {
    for (const [k, kind] of this.kinds.entries()) this.kinds[k] = kind ?? "text";
    return this.kinds as Kind[];
  }
}
