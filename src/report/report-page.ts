import { createHash } from "node:crypto";
import { inTurns, nextTurn } from "../runtime/turns.ts";
import { scriptShares } from "../tokenizer/vocabulary-statistics.ts";
import pageScript from "./browser/page-script.js" with { type: "text" };
import pageStyle from "./browser/page-style.css" with { type: "text" };
import { matrixSection, sampleSection, sideBySideSection } from "./comparison-sections.ts";
import { type Html, html, type Section, sectionHtml, tableHtml, trustedHtml } from "./html.ts";
import { type Deflate, packVocabulary, treeSection } from "./packed-vocabulary.ts";
import { type Fact, type ReportBody, type ReportData, type ReportFrame, reportMark } from "./report-data.ts";
import { compressionSection, intermediateSection } from "./training-sections.ts";
import {
  frequencySection,
  lengthSection,
  longestIdsOf,
  longestSection,
  scriptSection,
} from "./vocabulary-sections.ts";

/**
 * The report as one HTML page, in pieces: nothing in it comes from elsewhere. Its policy lets only its own script and its own
 * style in, by their hashes, so that no text in it can act, even if it were not escaped.
 */
export async function* reportPage(data: ReportData, deflate: Deflate): AsyncGenerator<Html> {
  yield pageHead(data);
  yield* pageSections(data, deflate);
  yield pageEnd(data);
}

/** What the page says of the tokenizers: all between its head and its end. */
export async function* pageSections(data: ReportBody, deflate: Deflate): AsyncGenerator<Html> {
  const { tokenizers, compression, matrix, sideBySide = [], samples } = data;
  const names = tokenizers.map(({ name }) => name);
  const soFar: (Section | null)[] = [
    matrix === undefined ? null : matrixSection(matrix),
    sideBySideSection(names, sideBySide),
    compression === undefined ? null : compressionSection(compression),
    frequencySection(tokenizers),
  ];
  for (const section of soFar) if (section !== null) yield sectionHtml(section);
  await nextTurn();
  yield sectionHtml(lengthSection(tokenizers));
  const shares = [];
  for (const { tokens, addedTokens, merges } of tokenizers) {
    shares.push(await inTurns(scriptShares(tokens, addedTokens, merges)));
  }
  yield sectionHtml(scriptSection(tokenizers, shares));
  for (const tokenizer of tokenizers) {
    const section = intermediateSection(tokenizer);
    if (section !== null) yield sectionHtml(section);
  }
  const longest = tokenizers.map((tokenizer) => longestIdsOf(tokenizer, longestShown));
  yield sectionHtml(longestSection(tokenizers, longest));
  const cuts = sampleSection(names, samples);
  if (cuts !== null) yield sectionHtml(cuts);
  const vocabularies = [];
  for (const [i, tokenizer] of tokenizers.entries()) {
    await nextTurn();
    vocabularies.push(packVocabulary(tokenizer, longest[i]![0] ?? 0, deflate));
  }
  yield sectionHtml(treeSection(vocabularies));
}

/** Where all comes from, and the script. */
export const pageEnd = ({
  provenance,
}: ReportFrame) => html`${sectionHtml(provenanceSection(provenance))}</main>
<script type="module">${trustedHtml(pageScript)}</script>
</body>
</html>
`;

const longestShown = 24;

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

export function pageHead({ title, highlights }: ReportFrame): Html {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(pageScript)}`,
    `style-src ${hashOf(pageStyle)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${trustedHtml(reportMark)}
<meta http-equiv="Content-Security-Policy" content="${trustedHtml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${trustedHtml(pageStyle)}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<dl class="highlights">${highlights.map(
    ({ name, value, note }) =>
      html`<div><dt>${name}</dt><dd>${value}</dd>${note && html`<dd class="quiet">${note}</dd>`}</div>`,
  )}</dl>
</header>
<main>`;
}

const provenanceSection = (facts: readonly Fact[]): Section => ({
  id: "provenance",
  title: "Where this comes from",
  isWide: true,
  content: html`<div class="facts">${tableHtml({ head: ["what", "value"], rows: facts })}</div>`,
});
