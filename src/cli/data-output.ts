import { nextTurn } from "../next-turn.ts";
import { stageFile } from "../publish/file.ts";
import { onStop } from "./stop.ts";
import { StdoutWriter } from "./streams.ts";

/** Takes a chunk; what it gives back is to be awaited before the next one, and lets signals be served. */
export type Put = (chunk: Uint8Array) => Promise<void>;

/** Data into a file that appears when it is whole, or onto stdout where the path is undefined or `-`. */
export async function writeData(path: string | undefined, make: (put: Put) => Promise<void>): Promise<void> {
  if (path === undefined || path === "-") return ontoStdout(make);
  const staged = stageFile(path);
  const forget = onStop(() => staged.discard());
  try {
    await make((chunk) => {
      staged.write(chunk);
      return nextTurn();
    });
    staged.publish();
  } catch (error) {
    staged.discard();
    throw error;
  } finally {
    forget();
  }
}

/** Chunks that are already there, or made one by one. */
export const writeChunks = (path: string | undefined, chunks: Iterable<Uint8Array>) =>
  writeData(path, async (put) => {
    for (const chunk of chunks) await put(chunk);
  });

async function ontoStdout(make: (put: Put) => Promise<void>): Promise<void> {
  const out = new StdoutWriter();
  try {
    await make((chunk) => {
      out.write(chunk);
      return out.drained() ?? nextTurn();
    });
  } catch (error) {
    // What came before a mistake in the input is still wanted.
    await out.end().catch(() => {});
    throw error;
  }
  await out.end();
}
