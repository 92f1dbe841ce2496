import { countNoun, formatBytes, formatSeconds, showValue } from "#bytes";
import { modelFiles, namedTokenizers } from "#formats";
import { optionTables } from "#options";
import { patternForms } from "#pattern";
import { shell } from "#runtime";
import { dataOutput, givenTokenizers, type Invocation, type Output, stopping, summaryRows } from "#terminal";
import { digestOfParts, tokenizerImage } from "#tokenizer";
import { imageFactsOf } from "#training";
import { convertTokenizer } from "./convert-tokenizer.ts";
import { convertOptions, imageOptions } from "./edit-options.ts";
import { saveTokenizer } from "./save-tokenizer.ts";

/** `bpe convert`: writes the same tokenizer in other formats, or copies its files with `--copy`. */
export async function runConvert(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const { options, files, typed } = invocation;
  const found = namedTokenizers.find(files[0]!);
  const { path } = found;
  const asked = optionTables.readTyped(convertOptions, options);
  const formatNames = asked.formats;
  const directory = asked.output!;
  const loadOptions = await givenTokenizers.readSupplements(asked);
  if (asked.copy) {
    const opened = await givenTokenizers.open({ ...found, ...loadOptions }, true, output);
    const { specialTokensAsText: _, ...parts } = opened;
    const names = await saveTokenizer({
      ...{ path, output: directory, guard: stopping.onStop },
      fingerprint: digestOfParts(parts),
    });
    output.succeed(() => [`copied to ${directory}: ${names.join(", ")}`], {
      output: directory,
      files: names,
    });
    return;
  }
  await dataOutput.lockDirectory(output, directory);
  const parts = await givenTokenizers.open({ ...found, ...loadOptions }, true, output);
  if ((parts.controlTokens?.length ?? 0) > 0)
    output.warn(
      parts.model.beginning === undefined
        ? "special tokens in a text: the new files find them, but tekken.json does not"
        : "control pieces in a text: programs that read the new files may find them, but sentencepiece does not",
    );
  if (formatNames?.includes("tekken") === true && parts.addedTokens.length > 0)
    output.warn("special tokens in a text: the original files find them, but tekken.json does not");
  if (formatNames?.includes("gguf") === true) {
    const said = patternForms.describeLlamaCpp(parts.description.patternName);
    if (said.includes(";")) output.warn(`llama.cpp: ${said}`);
  }
  const { llamaControls, ...converted } = await convertTokenizer({
    ...{ path, parts, formatNames, output: directory },
    command: shell.line(["bpe", "convert", ...typed]),
    arguments: ["convert", ...typed],
    startMs,
    guard: stopping.onStop,
  });
  if (llamaControls.length > 0 && formatNames?.includes("gguf") === true)
    output.warn(
      `llama.cpp treats ${llamaControls.map(showValue).join(", ")} as special tokens because of their names`,
    );
  const elapsedMs = Math.round(performance.now() - startMs);
  const result = { ...converted, elapsedMs, output: directory };
  output.succeed(
    (columns) =>
      summaryRows.rowLines(
        [
          ["tokens", countNoun(result.size, "token")],
          ["time", formatSeconds(elapsedMs / 1000)],
          ["written", `${directory}: ${result.files.join(", ")}`],
        ],
        columns,
      ),
    result,
  );
}

/** `bpe image`: compiles a tokenizer into a file with which other programs can encode. */
export async function runImage(invocation: Invocation, output: Output): Promise<void> {
  const { name, path } = namedTokenizers.find(invocation.files[0]!);
  const asked = optionTables.readTyped(imageOptions, invocation.options);
  const file = asked.output;
  await dataOutput.lockFiles(output, file);
  const supplements = await givenTokenizers.readSupplements(asked);
  const opened = await givenTokenizers.open({ path, ...supplements }, true, output);
  // An image does not have the setting `specialTokensAsText`, because the callers of an image choose for each text
  // whether special tokens are found in it.
  const { specialTokensAsText: _, ...parts } = opened;
  const isUnchanged = supplements.pattern === undefined && supplements.specialTokens.length === 0;
  const facts = imageFactsOf(parts, modelFiles.roleTokensAt(path), path, isUnchanged);
  const image = tokenizerImage(parts, name === undefined ? facts : { ...facts, foundAt: path });
  await dataOutput.writeChunks(file, [image]);
  output.succeed(`wrote an image of ${formatBytes(image.length)}`, {
    sizeBytes: image.length,
    output: file ?? "-",
  });
}
