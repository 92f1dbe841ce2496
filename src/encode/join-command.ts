import { countNoun, formatSeconds } from "#bytes";
import { inputSearch } from "#corpus";
import { optionTables } from "#options";
import { asOption, files, phrase, UserError, usageError } from "#runtime";
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
  if (idFiles === undefined || isPart(idFiles.format))
    throw usageError(
      phrase`${asOption("output", `"${asked.output}"`)} cannot store the joined parts`,
      "write files of ids in a format other than part, e.g. -o corpus.npy",
    );
  await dataOutput.lockFiles(output, ...pathsToLock(idFiles));
  const partPaths = invocation.files.flatMap((path) =>
    files.stat(path) === undefined && /[*?[]/.test(path)
      ? [...inputSearch.filesMatching(path).paths]
      : [path],
  );
  if (partPaths.length === 0)
    throw new UserError(`no file matches "${invocation.files.join('", "')}"`, {
      hint: "check the path; a part is the NAME.json that bpe encode --ids-format part -o NAME wrote",
    });
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
