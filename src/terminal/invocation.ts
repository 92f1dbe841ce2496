/** The parsed arguments of a command. */
export type Invocation = {
  readonly options: TypedOptions;
  readonly files: readonly string[];
  /** The arguments exactly as typed. */
  readonly typed: readonly string[];
};

/** Options by their long names, with the texts typed for them; a flag has none. */
export class TypedOptions extends Map<string, readonly string[]> {
  /** Every value with the name of its option, in the order typed. */
  readonly inOrder: (readonly [name: string, value: string])[] = [];

  add(name: string, value: string): void {
    this.set(name, [...(this.get(name) ?? []), value]);
    this.inOrder.push([name, value]);
  }

  /** Returns the first text typed for an option; undefined if the option was not given. */
  text(name: string): string | undefined {
    return this.get(name)?.[0];
  }
}
