import { open } from "node:fs/promises";
import { refusal } from "../runtime/system-error.ts";
import { nextTurn } from "../runtime/turns.ts";
import { placeOfFile, stageFile } from "../store/staged-file.ts";
import { onStop } from "./stop.ts";
import { StreamWriter } from "./stream-writer.ts";

/** Takes a chunk. Await the promise before the next one: signals are served meanwhile, and memory stays bounded. */
type Put = (chunk: Uint8Array) => Promise<void>;

/** Writes data into a file that appears when it is whole, or to stdout if the path is undefined or `-`. */
export async function writeData<T>(path: string | undefined, make: (put: Put) => Promise<T>): Promise<T> {
  const throughStream = (out: StreamWriter) =>
    make((chunk) => {
      out.write(chunk);
      return out.drained() ?? nextTurn();
    });
  if (path === undefined || path === "-") return intoStream(new StreamWriter(), throughStream);
  if (placeOfFile(path) === null) return intoPipe(path, throughStream);
  const staged = stageFile(path);
  const forget = onStop(() => staged.discard());
  try {
    const made = await make((chunk) => {
      staged.write(chunk);
      return nextTurn();
    });
    staged.publish();
    return made;
  } catch (error) {
    staged.discard();
    throw error;
  } finally {
    forget();
  }
}

/** Writes chunks in the same way. */
export const writeChunks = (path: string | undefined, chunks: Iterable<Uint8Array>) =>
  writeData(path, async (put) => {
    for (const chunk of chunks) await put(chunk);
  });

/** Opens a named pipe, which waits for its reader, and writes into it. Signals are served meanwhile. */
export async function intoPipe<T>(path: string, write: (out: StreamWriter) => Promise<T>): Promise<T> {
  const file = await open(path, "w").catch((error) => {
    throw refusal(`"${path}" cannot be written`, error);
  });
  try {
    return await intoStream(new StreamWriter(file.fd, path), write);
  } finally {
    await file.close();
  }
}

export async function intoStream<T>(out: StreamWriter, write: (out: StreamWriter) => Promise<T>): Promise<T> {
  let made: T;
  try {
    made = await write(out);
  } catch (error) {
    // What came before a mistake in the input is written all the same.
    await out.end().catch(() => {});
    throw error;
  }
  await out.end();
  return made;
}
