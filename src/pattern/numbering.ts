/** Gives equal things equal numbers, counted up from 0. */
export class Numbering<T> {
  readonly items: T[] = [];
  private readonly ids = new Map<string, number>();
  private readonly keyOf: (item: T) => string;

  constructor(keyOf: (item: T) => string) {
    this.keyOf = keyOf;
  }

  idOf(item: T): number {
    const key = this.keyOf(item);
    let id = this.ids.get(key);
    if (id === undefined) {
      id = this.items.push(item) - 1;
      this.ids.set(key, id);
    }
    return id;
  }
}
