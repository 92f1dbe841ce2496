import { html, type PageSection, type Section, sectionHtml, tableHtml } from "./html.ts";
import type { Fact, FrameTable, ReportFrame } from "./report-data.ts";

/** What stands before the sections about tokenizers: what a run says at its end, and tables of what it read. */
export function frameSections({ warnings = [], summary = [], tables = [] }: ReportFrame): PageSection[] {
  const sections = summary.length + warnings.length === 0 ? [] : [summarySection(warnings, summary)];
  return [...sections, ...tables.map(tableSection)].map((section) => ({
    ...section,
    html: sectionHtml(section),
  }));
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
export const provenanceSection = (facts: readonly Fact[]): Section => ({
  id: "provenance",
  title: "Where this comes from",
  isWide: true,
  content: factsHtml(facts),
});

const factsHtml = (facts: readonly Fact[], more = "") =>
  html`<dl class="facts${more}">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`;
