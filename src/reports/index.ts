// The pages that `--report` writes.

export { checkReportPath, refuseOtherFile, takeReportPlace, writtenLine } from "./report-option.ts";
export {
  cutSamples,
  pageFacts,
  phrasesOf,
  sampleTextsOf,
  searchedBytes,
  type Warn,
  writePage,
} from "./report-writer.ts";
