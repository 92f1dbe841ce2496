export type Ids = Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/** Gathers ids: ids[0 .. count), of 16 bits if the vocabulary is narrow, else of 32. */
export class IdBuffer {
  ids: Ids;
  count = 0;
  /** Ascending positions at which records end among the ids. A text that is no record adds none. */
  private recordEnds: number[] = [];

  constructor(
    private readonly isNarrow: boolean,
    capacity = 1 << 12,
  ) {
    this.ids = this.allocate(capacity);
  }

  /** Makes room for so many ids more. */
  private reserve(idCount: number): void {
    const needed = this.count + idCount;
    if (needed <= this.ids.length) return;
    const longer = this.allocate(Math.max(2 * this.ids.length, needed));
    longer.set(this.ids.subarray(0, this.count));
    this.ids = longer;
  }

  push(id: number): void {
    this.reserve(1);
    this.ids[this.count++] = id;
  }

  append(ids: Uint16Array | Uint32Array): void {
    this.reserve(ids.length);
    this.ids.set(ids, this.count);
    this.count += ids.length;
  }

  /** Appends all[first .. first + count), one by one. */
  appendFrom(all: Uint16Array | Uint32Array, first: number, count: number): void {
    this.reserve(count);
    const { ids, count: before } = this;
    for (let i = 0; i < count; i++) ids[before + i] = all[first + i]!;
    this.count = before + count;
  }

  /** A record ends behind the ids gathered so far. */
  endRecord(): void {
    this.recordEnds.push(this.count);
  }

  get isEmpty(): boolean {
    return this.count === 0 && this.recordEnds.length === 0;
  }

  /** Where records end among the ids that are flushed or taken next; undefined without any. */
  takeRecordEnds(): Uint32Array | undefined {
    if (this.recordEnds.length === 0) return undefined;
    const taken = Uint32Array.from(this.recordEnds);
    this.recordEnds = [];
    return taken;
  }

  /** The ids gathered, valid until the next one is added: the memory stays the buffer's. */
  flush(): Uint16Array | Uint32Array {
    const gathered = this.ids.subarray(0, this.count);
    this.count = 0;
    return gathered;
  }

  /** The ids gathered, and their memory with them; the buffer goes on with `spare`, or with new memory. */
  take(spare?: ArrayBuffer): Ids {
    const taken = this.ids.subarray(0, this.count) as Ids;
    if (spare === undefined) this.ids = this.allocate(this.ids.length);
    else this.ids = this.isNarrow ? new Uint16Array(spare) : new Uint32Array(spare);
    this.count = 0;
    return taken;
  }

  /** Gives back memory after a text that was much longer than most. */
  shrink(): void {
    if (this.count > 0 || this.ids.length <= keptIdsMax) return;
    this.ids = this.allocate(keptIdsMax);
  }

  private allocate(capacity: number) {
    return this.isNarrow ? new Uint16Array(capacity) : new Uint32Array(capacity);
  }
}

const keptIdsMax = 2 ** 20;
