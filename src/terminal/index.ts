// What commands print, and how they open the files and tokenizers that the command line names.

export * as commands from "./command.ts";
export * as dataOutput from "./data-output.ts";
export * as embeddedPages from "./embedded-pages.ts";
export * as inputFiles from "./input-options.ts";
export { type Invocation, TypedOptions } from "./invocation.ts";
export { openRanges } from "./open-ranges.ts";
export { Output } from "./output.ts";
export * as pipes from "./pipes.ts";
export * as stopping from "./stop.ts";
export * as styling from "./styling.ts";
export * as summaryRows from "./summary-rows.ts";
export * as givenTokenizers from "./tokenizer-options.ts";
