/** The parsed arguments of a command. */
export type Invocation = {
  readonly options: TypedOptions;
  readonly files: readonly string[];
  /** The arguments exactly as typed. */
  readonly typed: readonly string[];
};

/** The options of a command by their long names, each with the texts typed for it. A flag has no texts. */
export class TypedOptions extends Map<string, readonly string[]> {
  /** Every value with the name of its option, in the order typed. */
  readonly inOrder: (readonly [name: string, value: string])[] = [];

  add(name: string, value: string): void {
    this.set(name, [...(this.get(name) ?? []), value]);
    this.inOrder.push([name, value]);
  }

  /** Returns the first text typed for an option; undefined if there is none. */
  text(name: string): string | undefined {
    return this.get(name)?.[0];
  }
}
