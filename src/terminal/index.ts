// What commands print, and how they open the files and tokenizers that the command line names. This is one module
// because an error in any option, input or output has to be reported in the same way.

export {
  type Command,
  type CommandSpec,
  corpusFiles,
  type Example,
  oneTokenizer,
  replacesDirectory,
  usageLine,
} from "./command.ts";
export {
  ClosedReader,
  drain,
  lockDirectory,
  lockFiles,
  lockOutputs,
  writeChunks,
  writeData,
  writeJson,
  writeLines,
  writeStdout,
} from "./data-output.ts";
export { readPage, readPageTemplate, readPlayground, readSample } from "./embedded-pages.ts";
export { checkFiles, findFiles, inspectStreams, openInputs } from "./input-options.ts";
export { type Invocation, TypedOptions, typedPath } from "./invocation.ts";
export { openRanges } from "./open-ranges.ts";
export {
  corpusNoteLines,
  corpusNotes,
  isTerminal,
  type Line,
  LogFile,
  lineColumns,
  Output,
  type OutputOptions,
  type Piece,
  piece,
  plainStyles,
  type Styles,
  stylesFor,
  terminalColumns,
  withFigure,
} from "./output.ts";
export { copyPipe, isPipe, spoolPipes } from "./pipes.ts";
export { onStop, serveCrashes, serveSignals, undoAll } from "./stop.ts";
export {
  embeddingsRow,
  nameColumns,
  namesWithin,
  packedLines,
  type Row,
  rowLines,
  shownWidth,
  usualColumns,
  widthOf,
  withCommas,
} from "./summary-rows.ts";
export {
  type AskedTokenizer,
  nameOfTokenizer,
  openTokenizer,
  readSupplements,
  tokenizerOf,
  warnOfTokenizers,
} from "./tokenizer-options.ts";
