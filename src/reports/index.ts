// The pages that `--report` writes.

export { checkReportPath, refuseOtherFile, takeReportPlace, writtenLine } from "./report-option.ts";
export {
  cutSamples,
  headBytesMax,
  pageFacts,
  phrasesOf,
  sampleTextsOf,
  type Warn,
  writePage,
} from "./report-writer.ts";
