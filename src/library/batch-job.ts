import { jobs } from "#jobs";
import { kernels } from "#runtime";
import { TextEncoding, type tokenizers } from "#tokenizer";

/** The initial data of an encoding thread. */
export type BatchSetup = {
  readonly kernelModule: WebAssembly.Module;
  readonly parts: tokenizers.EncodingParts;
};

/** Consecutive texts of a batch, end to end: text i ends at byte ends[i]. */
export type TextShare = {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ends: Float64Array<ArrayBuffer>;
  readonly specialTokensAsText: boolean;
};

/** The ids of the texts, end to end, and how many ids each text has. */
export type EncodedShare = {
  readonly ids: Uint32Array<ArrayBuffer>;
  readonly counts: Uint32Array<ArrayBuffer>;
};

/** The work of a thread for `encodeBatchAsync`. */
export class BatchJob {
  private encoding: TextEncoding | undefined;

  begin({ kernelModule, parts }: BatchSetup): void {
    kernels.adoptModule(kernelModule);
    this.encoding = new TextEncoding(parts);
  }

  encode({ bytes, ends, specialTokensAsText }: TextShare): jobs.Transferred<EncodedShare> {
    const encoding = this.encoding!;
    encoding.open(specialTokensAsText);
    const counts = new Uint32Array(ends.length);
    let start = 0;
    ends.forEach((end, i) => {
      const before = encoding.out.count;
      encoding.pushText(bytes, start, end);
      counts[i] = encoding.out.count - before;
      start = end;
    });
    const ids = new Uint32Array(encoding.out.flush());
    encoding.out.shrink();
    return new jobs.Transferred({ ids, counts }, [ids.buffer, counts.buffer]);
  }
}
