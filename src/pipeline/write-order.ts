import type { Input } from "../corpus/input.ts";
import type { Task } from "../corpus/task.ts";
import type { IdSink } from "./encode-corpus.ts";
import type { WrittenIds } from "./encode-protocol.ts";

/** Whether a text that is no record ends with the task. */
export const endsText = ({ endsInput, inputIndex }: Task, inputs: readonly Input[]) =>
  endsInput && inputs[inputIndex]!.format === "text";

/** One task's place in the output. */
export type Turn = {
  readonly parts: WrittenIds[];
  readonly endsInput: boolean;
  /** So many ids were written; gives back their memory. */
  readonly written: (idCount: number, memory: ArrayBuffer) => void;
  isFinished: boolean;
};

/** Writes what threads make in the order in which tasks were handed out; what comes too early waits. */
export class WriteOrder {
  private readonly turns: Turn[] = [];

  constructor(private readonly sink: IdSink) {}

  add(endsInput: boolean, written: Turn["written"]): Turn {
    const turn: Turn = { parts: [], endsInput, written, isFinished: false };
    this.turns.push(turn);
    return turn;
  }

  /** All before it is written, and all that it took. */
  isNext(turn: Turn): boolean {
    return this.turns[0] === turn;
  }

  take(turn: Turn, part: WrittenIds): void {
    turn.parts.push(part);
    this.write();
  }

  finish(turn: Turn): void {
    turn.isFinished = true;
    this.write();
  }

  private write(): void {
    for (let turn = this.turns[0]; turn !== undefined; turn = this.turns[0]) {
      const { written } = turn;
      for (const { ids, recordEnds } of turn.parts.splice(0)) {
        this.sink.write(ids, recordEnds);
        const drained = this.sink.drained?.();
        if (drained === undefined) written(ids.length, ids.buffer);
        else void drained.then(() => written(ids.length, ids.buffer));
      }
      if (!turn.isFinished) return;
      if (turn.endsInput) this.sink.endInput();
      this.turns.shift();
    }
  }
}
