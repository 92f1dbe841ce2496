import { countNoun, formatBytes, formatSeconds } from "#bytes";
import { idFormats, idReaders, idWriters } from "#ids";
import { optionTables } from "#options";
import { asOption } from "#runtime";
import { dataOutput, givenTokenizers, type Invocation, type Output } from "#terminal";
import { decoding, tokenTables } from "#tokenizer";
import { decodeOptions } from "./encode-options.ts";
import { checkEncodedBy } from "./encoded-by.ts";

function* idsOf({ read }: idFormats.FormattedIds) {
  for (const { ids } of read()) yield ids;
}

/**
 * Ids are decoded in slices that give at most this many bytes of text; a token that is longer is decoded alone. The
 * limit is not a number of ids, because a file may repeat the id of a very long token.
 */
const sliceBytesMax = 1 << 22;

/** `bpe decode`: writes the bytes of ids while the ids are read. */
export async function runDecode(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const asked = optionTables.readTyped(decodeOptions, invocation.options);
  const { output: path, idType } = asked;
  const tokenizer = await givenTokenizers.tokenizerOf(asked);
  const file = invocation.files[0]!;
  await dataOutput.lockFiles(output, path);
  const parts = await givenTokenizers.open(tokenizer, true, output);
  await checkEncodedBy(parts, file, asOption("tokenizer", "PATH"));
  const type = { asked: idType, needed: idWriters.typeFor(parts) };
  const decoder = new decoding.TokenDecoder(parts.tokens);

  let idCount = 0;
  let sizeBytes = 0;
  await dataOutput.writeData(path, async (out) => {
    const formatted = idFormats.openFormattedIds(file, idType ?? type.needed);
    for await (const read of formatted === undefined ? idReaders.readIds(file, type) : idsOf(formatted)) {
      for (let start = 0; start < read.length; ) {
        const ids = read.subarray(start, tokenTables.decodableEnd(parts.tokens, read, start, sliceBytesMax));
        const decoded = decoder.decode(ids);
        const bytes = decoded.bytes.subarray(
          idCount > 0 ? 0 : decoding.leadingBytes(parts, ids[0], decoded.bytes),
        );
        out.write(bytes);
        await dataOutput.drain(out);
        sizeBytes += bytes.length;
        if (decoded.unknownIndex >= 0) {
          throw decoding.unknownId(
            ids[decoded.unknownIndex]!,
            idCount + decoded.unknownIndex,
            parts.tokens.idLimit,
          );
        }
        idCount += ids.length;
        start += ids.length;
      }
    }
  });
  const elapsedMs = performance.now() - startMs;
  const summary = `decoded ${countNoun(idCount, "id")} to ${formatBytes(sizeBytes)} in ${formatSeconds(elapsedMs / 1000)}`;
  output.succeed(summary, { idCount, sizeBytes, elapsedMs: Math.round(elapsedMs), output: path ?? "-" });
}
