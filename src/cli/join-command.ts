import { counted, seconds } from "../bytes/quantities.ts";
import { filesMatching } from "../corpus/find-inputs.ts";
import { UserError, usageError } from "../errors.ts";
import { readTyped } from "../options/option.ts";
import { isPart, pathsToLock } from "../pipeline/id-files.ts";
import { joinParts } from "../pipeline/join-parts.ts";
import { statOf } from "../runtime/system-error.ts";
import { lockFiles } from "./data-output.ts";
import { filesLine, idFilesOf } from "./encode-command.ts";
import { idsJoining } from "./encode-options.ts";
import type { Invocation } from "./invocation.ts";
import type { Output } from "./output.ts";
import { onStop } from "./stop.ts";

/** `bpe ids join`: what many machines encoded, as one would have written it. */
export async function runJoinIds(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const asked = readTyped(idsJoining, invocation.options);
  const files = idFilesOf(asked);
  if (files === undefined || isPart(files.format))
    throw usageError(
      `--output "${asked.output}" is not what parts are joined to`,
      "name a file: -o corpus.npy",
    );
  await lockFiles(output, ...pathsToLock(files));
  const partPaths = invocation.files.flatMap((path) =>
    statOf(path) === undefined && /[*?[]/.test(path) ? [...filesMatching(path).paths] : [path],
  );
  if (partPaths.length === 0) throw new UserError(`no file matches "${invocation.files.join('", "')}"`);
  const joined = await joinParts({
    ...{ planPath: asked.plan!, partPaths, files, type: asked.idType, guard: onStop },
    report: (done, total) => output.progress({ stage: "joining", done, total, unit: "bytes" }),
    checking: output.checking,
  });
  const { isUnchanged, omitsEmpty, ...counts } = joined;
  const elapsedMs = performance.now() - startMs;
  const summary = isUnchanged
    ? [`unchanged: "${files.base}.json" is of the same inputs with the same options`]
    : [
        `joined ${counted(partPaths.length, "part")} to ${counted(counts.idCount, "id")} in ${seconds(elapsedMs / 1000)}`,
        ...filesLine(joined, files),
      ];
  output.succeed(summary, {
    ...{ changed: !isUnchanged, ...counts, partCount: partPaths.length },
    ...{ elapsedMs: Math.round(elapsedMs), output: asked.output },
  });
}
