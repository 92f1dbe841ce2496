import { basename, join } from "node:path";
import { baseFiles, recordedFiles, tokenizerFiles } from "#formats";
import { loadInWorker } from "#jobs";
import { files, UserError } from "#runtime";
import { outputLock, outputPlaces, placesToWrite, type stagedFile } from "#store";
import { digestOfParts, imageFile, type TokenizerParts } from "#tokenizer";
import { results } from "#training";

export type Saving = {
  /** The path of the tokenizer that was loaded: a file or a directory. */
  readonly path: string;
  /** The digest of the loaded tokenizer (`digestOfParts`). */
  readonly fingerprint: string;
  readonly output: string;
  readonly guard: stagedFile.Guard;
};

/** Copies a tokenizer's files, all or none. The copy is compared with the loaded tokenizer before it is published. */
export async function saveTokenizer({ path, fingerprint, output, guard }: Saving): Promise<string[]> {
  placesToWrite.checkDirectory(output);
  const lock = outputLock.takeNow(outputPlaces.placeOf(output));
  const unregister = guard(() => lock.release());
  const sources = [...filesOf(path)].map(([name, from]) => ({ name, chunks: () => [files.readBytes(from)] }));
  const check = async (stagedPath: string) => {
    const copy = await loadInWorker({ path: stagedPath, options: {}, isDecoded: true }).catch((error) => {
      if (error instanceof UserError) throw notWhole(path);
      throw error;
    });
    if (digestOfParts(copy) !== fingerprint) throw notWhole(path);
  };
  try {
    await results.publishFiles(output, sources, { guard, check });
    return sources.map(({ name }) => name);
  } finally {
    lock.release();
    unregister();
  }
}

const writeJson =
  'write a tokenizer.json, with bpe convert without --copy or, in Python, with save("tokenizer.json")';

const notWhole = (path: string) =>
  new UserError(`"${path}" cannot be copied: its files do not contain the whole tokenizer`, {
    hint: files.isDirectory(path)
      ? `${writeJson}: no file here contains the pattern or the special tokens that you gave`
      : `name the directory that contains this file; if you gave a pattern or special tokens, ${writeJson}`,
  });

/** Returns the paths of a tokenizer's files, by the names that loading a directory expects. */
function filesOf(path: string): Map<string, string> {
  const isWhole = files.isDirectory(path);
  const inside = (name: string): [string, string] => [name, join(path, name)];
  const listed = isWhole ? recordedFiles.readRecordedFiles(join(path, recordedFiles.recordName)) : undefined;
  if (listed !== undefined) {
    const missing = listed.find((name) => name !== basename(name) || !files.isFile(join(path, name)));
    if (missing === undefined) return new Map(listed.map(inside));
    throw new UserError(`"${path}" lacks "${missing}", which its ${recordedFiles.recordName} lists`, {
      hint: "copy the missing file into the directory",
    });
  }
  const sources = tokenizerFiles
    .findAt(path)
    .flatMap(({ format, paths }) =>
      paths.map((from, i): [string, string] => [
        isWhole ? basename(from) : (format.names[0]?.[i] ?? imageFile.name),
        from,
      ]),
    );
  const companions = isWhole ? baseFiles.readCompanionFiles(path).map(({ name }) => inside(name)) : [];
  return new Map([...sources, ...companions]);
}

/**
 * Returns the parts of a tokenizer in a form that can be sent to another thread: a token table that is built only on
 * demand cannot be sent, so it is built here.
 */
export const toSendable = (parts: TokenizerParts): TokenizerParts => ({
  ...parts,
  tokens: { ...parts.tokens },
});
