/** The part of JSON Schema that the schemas in docs/ use. */
export type Schema = {
  readonly [keyword: string]: unknown;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: false;
  readonly unevaluatedProperties?: false;
  readonly anyOf?: readonly Schema[];
};

/** Returns the paths at which a value violates a schema, each with a reason. */
export function misfits(schema: Schema, value: unknown, root: Schema, path = "$"): string[] {
  const unknown = Object.keys(schema).filter((keyword) => !knownKeywords.has(keyword));
  if (unknown.length > 0) throw new Error(`unknown keyword ${unknown[0]} at ${path}`);
  const found: string[] = [];
  const ref = referredTo(schema, root);
  if (ref !== undefined) found.push(...misfits(ref, value, root, path));
  if (schema.type !== undefined && ![schema.type].flat().some((type) => isOfType(type, value))) {
    return [`${path} is no ${[schema.type].flat().join(" or ")}`];
  }
  if ("const" in schema && value !== schema.const) found.push(`${path} is not ${schema.const}`);
  if (schema.enum !== undefined && !schema.enum.includes(value)) found.push(`${path} is none of the enum`);
  if (schema.anyOf?.every((one) => misfits(one, value, root, path).length > 0)) {
    found.push(`${path} is none of anyOf`);
  }
  if (typeof value === "string" && schema.pattern !== undefined && !new RegExp(schema.pattern).test(value))
    found.push(`${path} is not as its pattern`);
  if (typeof value === "number") {
    if (value < (schema.minimum ?? value) || value > (schema.maximum ?? value))
      found.push(`${path} is out of range`);
  }
  if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0) || value.length > (schema.maxItems ?? value.length)) {
      found.push(`${path} has ${value.length} items`);
    }
    if (schema.items !== undefined) {
      for (const [i, item] of value.entries())
        found.push(...misfits(schema.items, item, root, `${path}[${i}]`));
    }
  } else if (typeof value === "object" && value !== null) {
    found.push(...misfitsOfObject(schema, value as Record<string, unknown>, root, path));
  }
  return found;
}

function referredTo({ $ref }: Schema, root: Schema): Schema | undefined {
  const schema = $ref === undefined ? undefined : root.$defs![$ref.replace("#/$defs/", "")];
  if ($ref !== undefined && schema === undefined) throw new Error(`${$ref} is nowhere`);
  return schema;
}

function misfitsOfObject(
  schema: Schema,
  value: Record<string, unknown>,
  root: Schema,
  path: string,
): string[] {
  const ref = referredTo(schema, root);
  const properties = { ...ref?.properties, ...schema.properties };
  const isClosed = schema.additionalProperties === false || schema.unevaluatedProperties === false;
  return [
    ...(schema.required ?? []).filter((name) => !(name in value)).map((name) => `${path}.${name} is missing`),
    ...Object.entries(value).flatMap(([name, item]) => {
      const property = properties[name];
      if (property !== undefined) return misfits(property, item, root, `${path}.${name}`);
      return isClosed ? [`${path}.${name} is not in the schema`] : [];
    }),
  ];
}

const knownKeywords = new Set(
  `$schema title description $defs $ref type const enum pattern anyOf minimum maximum minItems maxItems items
   required properties additionalProperties unevaluatedProperties`.split(/\s+/),
);

function isOfType(type: string, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isSafeInteger(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}
