import { countNoun, formatSeconds } from "#bytes";
import { inputSearch } from "#corpus";
import { optionTables } from "#options";
import { asOption, phrase, usageError } from "#runtime";
import { dataOutput, type Invocation, type Output, stopping } from "#terminal";
import { filesLine, idFilesOf } from "./encode-command.ts";
import { isPart, pathsToLock } from "./id-files.ts";
import { joinIdsOptions } from "./ids-options.ts";
import { joinParts } from "./join-parts.ts";

/** `bpe ids join`: joins parts that several machines encoded. */
export async function runJoinIds(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const asked = optionTables.readTyped(joinIdsOptions, invocation.options);
  const idFiles = idFilesOf(asked, false);
  if (idFiles === undefined)
    throw usageError(
      phrase`${asOption("output", `"${asked.output}"`)} cannot store the joined parts: it is not a regular file`,
      "name a regular file, not a pipe or a device",
    );
  if (isPart(idFiles.format))
    throw usageError(
      'the joined parts cannot be written in the format "part", which is only for files to be joined',
      asked.idsFormat === undefined
        ? phrase`choose a format with ${asOption("ids-format")}, or end the name in .npy, .bin, .parquet or .ds`
        : phrase`choose another format, e.g. ${asOption("ids-format", "npy")}`,
    );
  await dataOutput.lockFiles(output, ...pathsToLock(idFiles));
  const partPaths = invocation.files.flatMap((path) =>
    inputSearch.pathsNamed(
      path,
      `"${path}"`,
      "check the path; a part is the NAME.json that bpe encode --ids-format part -o NAME wrote",
    ),
  );
  const joined = await joinParts({
    ...{ planPath: asked.plan!, partPaths, files: idFiles, type: asked.idType, guard: stopping.onStop },
    report: (done, total) => output.progress({ stage: "joining", done, total, unit: "bytes" }),
    checking: output.checking,
  });
  const { isUnchanged, omitsEmpty, ...counts } = joined;
  const elapsedMs = performance.now() - startMs;
  const summary = isUnchanged
    ? [`unchanged: "${idFiles.base}.json" was made from the same inputs with the same options`]
    : [
        `joined ${countNoun(partPaths.length, "part")} to ${countNoun(counts.idCount, "id")} in ${formatSeconds(elapsedMs / 1000)}`,
        ...filesLine(joined, idFiles),
      ];
  output.succeed(summary, {
    ...{ changed: !isUnchanged, ...counts, partCount: partPaths.length },
    ...{ elapsedMs: Math.round(elapsedMs), output: asked.output },
  });
}
