import { pageMark } from "../pages/page-file.ts";
import { createSha256 } from "../runtime/host.ts";
import { inTurns, nextTurn } from "../runtime/turns.ts";
import { scriptClasses, scriptShares } from "../tokenizer/vocabulary-statistics.ts";
import ownScript from "./browser/page-script.js" with { type: "text" };
import pageStyle from "./browser/page-style.css" with { type: "text" };
import pageTips from "./browser/page-tips.js" with { type: "text" };
import {
  type Html,
  html,
  type PageSection,
  type Section,
  sectionHtml,
  tableHtml,
  trustedHtml,
} from "./html.ts";
import {
  type Deflate,
  mergesSection,
  mergesShown,
  packVocabularies,
  treeSection,
} from "./packed-vocabulary.ts";
import type { Fact, FrameTable, ReportBody, ReportData, ReportFrame } from "./report-data.ts";
import { sampleSection } from "./text-sections.ts";
import { compressionSection, intermediateSection, specialSection } from "./training-sections.ts";
import {
  firstShownOf,
  frequencySection,
  lengthSection,
  longestIdsOf,
  longestSection,
  scriptSection,
} from "./vocabulary-sections.ts";

const pageScript = ownScript + pageTips;

/**
 * The report as one HTML page, in pieces: nothing in it comes from elsewhere. Its policy lets only its own script and its own
 * style in, by their hashes, so that no text in it can act, even if it were not escaped.
 */
export async function* reportPage(data: ReportData, deflate: Deflate): AsyncGenerator<Html> {
  const sections = frameSections(data);
  for await (const section of pageSections(data, deflate)) sections.push(section);
  yield pageHead(data, sections);
  for (const { html } of sections) yield html;
  yield pageEnd(data);
}

const made = (section: Section): PageSection => ({ ...section, html: sectionHtml(section) });

/** What stands before the sections about tokenizers: what a run says at its end, and tables of what it read. */
export function frameSections({ warnings = [], summary = [], tables = [] }: ReportFrame): PageSection[] {
  const sections = summary.length + warnings.length === 0 ? [] : [summarySection(warnings, summary)];
  return [...sections, ...tables.map(tableSection)].map(made);
}

const summarySection = (warnings: readonly string[], summary: readonly Fact[]): Section => ({
  id: "summary",
  title: "Summary",
  isWide: true,
  content: html`${warnings.map((warning) => html`<p class="warning"><b>Warning:</b> ${warning}</p>\n`)}${factsHtml(summary, " pairs")}`,
});

const tableSection = ({ id, title, text, head, rows }: FrameTable): Section => ({
  id,
  title,
  isWide: true,
  text,
  content: tableHtml({ head, rows, isSortable: true }, title),
});

/** Where all comes from. */
const provenanceSection = (facts: readonly Fact[]): Section => ({
  id: "provenance",
  title: "Where this comes from",
  isWide: true,
  content: factsHtml(facts),
});

const factsHtml = (facts: readonly Fact[], more = "") =>
  html`<dl class="facts${more}">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`;

/** What the page says of the tokenizers: all between its head and its end. */
export async function* pageSections(data: ReportBody, deflate: Deflate): AsyncGenerator<PageSection> {
  const { tokenizers, compression, samples } = data;
  const soFar: (Section | null)[] = [
    compression === undefined ? null : compressionSection(compression),
    tokenizers.length > 1 ? null : mergesSection(tokenizers[0]!),
    tokenizers.length > 1 ? null : specialSection(tokenizers[0]!),
  ];
  for (const section of soFar) if (section !== null) yield made(section);
  await nextTurn();
  const shares = [];
  const long: number[][] = [];
  for (const tokenizer of tokenizers) {
    const { tokens, merges, addedTokens } = tokenizer;
    const classes = tokenizer.classes ?? (await inTurns(scriptClasses(tokens, merges)));
    shares.push(await inTurns(scriptShares(classes, tokens, addedTokens, 2)));
    long.push(longestIdsOf(tokenizer, longestLookedAt));
  }
  const longest = long.map((ids) =>
    ids.slice(0, tokenizers.length > 1 ? longestShownOfSeveral : longestShown),
  );
  const frequency = frequencySection(tokenizers);
  const [scripts, lengths] = [scriptSection(tokenizers, shares), lengthSection(tokenizers)];
  // The table of merges has all of few tokens.
  const areFew = tokenizers.length === 1 && tokenizers[0]!.merges.merged.length <= mergesShown;
  const longestTokens = areFew ? null : longestSection(tokenizers, longest);
  // Two are beside each other where there is room: those of about one height.
  const order =
    shares[0]!.length < tallScripts
      ? [frequency, longestTokens, lengths, scripts]
      : frequency === null
        ? [scripts, longestTokens, lengths]
        : [frequency, scripts, lengths, longestTokens];
  for (const section of tokenizers.length > 1 ? [frequency, lengths, scripts, longestTokens] : order) {
    if (section !== null) yield made(section);
  }
  for (const tokenizer of tokenizers) {
    const section = intermediateSection(tokenizer);
    if (section !== null) yield made(section);
  }
  const cuts = sampleSection(samples);
  if (cuts !== null) yield made(cuts);
  const firstShown = long.map((ids, t) => firstShownOf(tokenizers[t]!, ids));
  yield made(treeSection(await inTurns(packVocabularies(tokenizers, firstShown, deflate))));
}

/** Where all comes from, and the script. */
export const pageEnd = ({
  provenance,
}: ReportFrame) => html`${sectionHtml(provenanceSection(provenance))}</main>
<script type="module">${trustedHtml(pageScript)}</script>
</body>
</html>
`;

/** So many scripts are as high as a curve. */
const tallScripts = 9;
const longestShown = 24;
const longestShownOfSeveral = 12;
/** Among so many is the one whose tree is shown first. */
const longestLookedAt = 200;

const hashOf = (text: string) => `'sha256-${createSha256().update(text).digest("base64")}'`;

/** The head, and an index of the sections. */
export function pageHead({ title, highlights }: ReportFrame, sections: readonly PageSection[]): Html {
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
${trustedHtml(pageMark)}
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
<nav aria-label="Sections"><ul>${[...sections, provenanceSection([])].map(
    ({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`,
  )}</ul></nav>
</header>
<main>`;
}
