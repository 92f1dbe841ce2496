/** Identifies a change. Lines have no indents; `before` is the line before `line`. */
export type Explained = {
  readonly file: string;
  readonly before: string;
  readonly line: string;
  readonly changed: string;
};

/** Changes that no test can detect, or that are not worth a test, each with the reason. */
export const explained: readonly (Explained & { readonly why: string })[] = [
  {
    file: "src/merge/merge-engine.ts",
    before: "const sliceBytes = budget.sliceWork * bytesPerWork;",
    line: "for (let from = 0; from < source.length; from += sliceBytes) {",
    changed: "for (let from = 0; from <= source.length; from += sliceBytes) {",
    why: "The last slice is then empty.",
  },
  {
    file: "src/terminal/data-output.ts",
    before: "",
    line: "const queuedBytesMax = 1 << 20;",
    changed: "const queuedBytesMax = 2 << 20;",
    why: "So much may wait in memory: what is written is the same.",
  },
  {
    file: "src/tokenizer/token-counts.ts",
    before: "const { mergeCount, left, right } = pairs;",
    line: "if (mergeCount === pairCounts.length) return tokenCounts;",
    changed: ";",
    why: "Saves computing the same counts again.",
  },
  {
    file: "src/store/file-lock.ts",
    before: "/** ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED: the file system or its server has no locks. */",
    line: "const lockUnsupportedErrors = new Set([1, 50]);",
    changed: "const lockUnsupportedErrors = new Set([1, 51]);",
    why: "A number of Windows: wine's file systems all have locks.",
  },
  {
    file: "src/encode/truncate-ids-command.ts",
    before: ": await intoFiles({ ...files, type, inputs: found!.paths.map((path) => ({ path })) }, cutInto);",
    line: "const elapsedMs = performance.now() - startMs;",
    changed: "const elapsedMs = performance.now() + startMs;",
    why: "Only a clock could tell.",
  },
  {
    file: "src/merge/inherited-merges.ts",
    before: "const bytes = new Uint8Array(byteTotal);",
    line: "for (let token = 0; token < count; token++) bytes.set(tokenBytes.copy(token), starts[token]!);",
    changed:
      "for (let token = 0; token <= count; token++) bytes.set(tokenBytes.copy(token), starts[token]!);",
    why: "There is no token after the last one, so it has no bytes.",
  },
  {
    file: "src/merge/inherited-merges.ts",
    before: "for (let i = starts[w]!; i < last; i++) {",
    line: "if ((flags[tokens[i]!]! & mayEnd) !== 0 && (flags[tokens[i + 1]!]! & mayBegin) !== 0)",
    changed: "if ((flags[tokens[i]!]! & mayEnd) !== 0 && (flags[tokens[i + 1]!]! & mayBegin) !== 1)",
    why: "Skips pairs for which `look` would find nothing.",
  },
  {
    file: "src/words/tsv.ts",
    before: "return {",
    line: "options: optionsOf(path, read.subarray(opening.length - 1, end)),",
    changed: "options: optionsOf(path, read.subarray(opening.length - 2, end)),",
    why: "The tab before the JSON is read with it, and means nothing.",
  },
  {
    file: "src/words/counts-file-reader.ts",
    before: "close(): void {",
    line: "if (this.file.fd >= 0) closeSync(this.file.fd);",
    changed: "if (this.file.fd > 0) closeSync(this.file.fd);",
    why: "A file that is opened gets the number 0 only where stdin is closed; then it stays open until the process ends.",
  },
  {
    file: "src/words/cache-directory.ts",
    before: "const { stats } = this;",
    line: "if (!trustedFiles.isOpenToAll(stats)) return names;",
    changed: ";",
    why: "Saves looking at each file: in a directory that is not open to all, `isTrusted` says yes to every one.",
  },
  {
    file: "src/store/existing-output.ts",
    before: "} catch {",
    line: "return false;",
    changed: "return true;",
    why: "Only where there is no /proc/self/mountinfo: not on a machine that runs the tests.",
  },
  {
    file: "src/store/existing-output.ts",
    before: "} finally {",
    line: "closeSync(fd);",
    changed: ";",
    why: "One descriptor for each kept result stays open until the process ends.",
  },
  {
    file: "src/training/write-result.ts",
    before: "mergeMs: Math.round(trained.mergeMs),",
    line: "writeMs: Math.round(nowMs - writeStartMs),",
    changed: "writeMs: Math.round(nowMs + writeStartMs),",
    why: "A time for people; what time it was is not tested.",
  },
  {
    file: "src/words/sort-by-bytes.ts",
    before: "}",
    line: "for (let bucket = 0, first = 0, sinceYield = 0; bucket < bucketCount; bucket++) {",
    changed: "for (let bucket = 1, first = 0, sinceYield = 0; bucket < bucketCount; bucket++) {",
    why: "The words of the first two buckets are then sorted as one range, to the same end.",
  },
  {
    file: "src/jobs/run-tasks.ts",
    before: "await (this.job.sink.drain?.() ?? yieldToEventLoop());",
    line: "if (this.isStopped) return undefined;",
    changed: ";",
    why: "After a failure this thread continues in vain for a while; the failure is still reported.",
  },
  {
    file: "src/runtime/file-window.ts",
    before: "const pageBytes = 1 << 16;",
    line: "const worthwhileBytes = 1 << 20;",
    changed: "const worthwhileBytes = 1 << 21;",
    why: "From which size on memory is given back: the array is zero either way.",
  },
  {
    file: "src/runtime/file-window.ts",
    before:
      "/** A multiple of every page size of Linux on x64 and arm64. Huge pages are larger, but the system splits them. */",
    line: "const pageBytes = 1 << 16;",
    changed: "const pageBytes = 2 << 16;",
    why: "Less is given back at the ends, and filled with zeros instead.",
  },
  {
    file: "src/runtime/nearest.ts",
    before: "const exchanged = isExchange ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY;",
    line: "next.push(Math.min(replaced, exchanged, row[j]! + 1, next[j - 1]! + 1));",
    changed: "next.push(Math.min(replaced, exchanged, row[j]! + 1, next[j - 1]! + 2));",
    why: "Which name is offered for one that was mistyped: at most a worse guess.",
  },
  {
    file: "src/formats/output-file.ts",
    before: "get isFull(): boolean {",
    line: "return this.length >= fullBytes;",
    changed: "return this.length > fullBytes;",
    why: "Where a file is cut into chunks: its bytes are the same.",
  },
  {
    file: "src/formats/output-file.ts",
    before: "export class Chunk {",
    line: "bytes: Uint8Array = new Uint8Array(2 * fullBytes);",
    changed: "bytes: Uint8Array = new Uint8Array(2 / fullBytes);",
    why: "A first capacity: it grows as it must.",
  },
  {
    file: "src/pattern/parse-pattern.ts",
    before: 'return character === "\\\\"',
    line: "? this.escapedSet(this.pos - 1, true)",
    changed: "? this.escapedSet(this.pos + 1, true)",
    why: "Only the place that the message about a mistake names.",
  },
  {
    file: "src/pattern/parse-pattern.ts",
    before: 'return character === "\\\\"',
    line: "? this.escapedSet(this.pos - 1, true)",
    changed: "? this.escapedSet(this.pos, true)",
    why: "Only the place that the message about a mistake names.",
  },
  {
    file: "src/jobs/job.ts",
    before: "};",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it quotes a line of the source
    line: "worker.onerror = (event) => this.fail(new Error(`${name}: ${event.message}`));",
    changed: ";",
    why: "The close that follows ends the run, too, with a message that says less.",
  },
];
