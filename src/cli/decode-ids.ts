import { refuseOverwriting } from "../corpus/input.ts";
import { usageError } from "../errors.ts";
import { idTypesOf, readIdMerges, symbolsOf } from "../formats/id-merges.ts";
import { readSequences, SequenceList } from "../formats/id-reader.ts";
import { statOf } from "../runtime/system-error.ts";
import { nextTurn } from "../runtime/turns.ts";
import type { Invocation } from "./arguments.ts";
import { lockOutputFile } from "./data-output.ts";
import { throughWriter } from "./ids-command.ts";
import type { Output } from "./output.ts";
import { counted, seconds } from "./units.ts";

/** Refuses options that a tokenizer of ids has no use for. */
export function refuseForIds({ options }: Invocation, names: readonly string[]): void {
  for (const name of names) {
    if (options.has(name)) throw usageError(`--${name} does not go with a tokenizer of ids`);
  }
}

/** `bpe decode` with a tokenizer of ids: the ids of the alphabet, in the form that `bpe encode` reads. */
export async function runDecodeIds(
  invocation: Invocation,
  mergesPath: string,
  output: Output,
): Promise<void> {
  const startMs = performance.now();
  refuseForIds(invocation, ["pattern", "special-token"]);
  const { options } = invocation;
  const file = invocation.files[0]!;
  const path = options.text("output") === "-" ? undefined : options.text("output");
  await lockOutputFile(invocation, output, path);
  const stats = statOf(file);
  if (stats?.isFile()) {
    refuseOverwriting([{ path: file, isStream: false, device: stats.dev, inode: stats.ino }], [path]);
  }
  const merges = readIdMerges(mergesPath);
  const idLimit = merges.alphabetSize + merges.left.length;
  const documents = new SequenceList();
  const { symbolType, tokenType } = idTypesOf(merges);
  const readType = { asked: options.word("dtype"), needed: tokenType };
  for await (const _ of readSequences(file, readType, documents, idLimit)) await nextTurn();
  const { tokens, starts, count, documentCount } = documents;
  const symbolCount = await throughWriter(path, symbolType, async (writer, drained) => {
    for (let d = 0; d < documentCount; d++) {
      for (const symbols of symbolsOf(merges, tokens.subarray(starts[d], starts[d + 1]))) {
        writer.write(symbols);
        await (drained() ?? nextTurn());
      }
      writer.endInput();
    }
    writer.finish();
    return writer.idCount;
  });
  const elapsedMs = Math.round(performance.now() - startMs);
  const summary = `decoded ${counted(count, "token")} in ${counted(documentCount, "document")} to ${counted(symbolCount, "id")} in ${seconds(elapsedMs / 1000)}`;
  output.succeed(summary, { idCount: count, documentCount, symbolCount, elapsedMs, output: path ?? "-" });
}
