import { closeSync } from "node:fs";
import { FileSource } from "./byte-sources.ts";
import { type Input, openInput } from "./input.ts";

/** The file read last stays open: neighbouring ranges are mostly of one file. */
export class OpenFile {
  private inputIndex = -1;
  private source: FileSource | undefined;

  constructor(private readonly inputs: readonly Input[]) {}

  /** The bytes of one input, until another one is asked for. */
  of(inputIndex: number): FileSource {
    if (this.source === undefined || this.inputIndex !== inputIndex) {
      this.close();
      const input = this.inputs[inputIndex]!;
      this.source = new FileSource(openInput(input), input);
      this.inputIndex = inputIndex;
    }
    return this.source;
  }

  close(): void {
    if (this.source !== undefined) closeSync(this.source.fd);
    this.source = undefined;
  }
}
