import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A library that Bun links or embeds, as Bun's page on licences lists it. */
export type BunPart = {
  readonly name: string;
  readonly address: string;
  /** As the page spells it: "MIT", "BSD 3-Clause / IJG / zlib". */
  readonly licence: string;
};

/** Bun's page on licences, without its head and the spaces that align tables. */
export function bunLicencePage(root: string): string {
  const page = readFileSync(join(root, "node_modules/bun-types/docs/project/license.mdx"), "utf8");
  return page
    .replace(/^---\n.*?\n---\n/s, "")
    .replace(/ {2,}\|/g, " |")
    .replace(/-{4,}/g, "---")
    .trim();
}

/** Lists the parts in the page's tables, and JavaScriptCore. */
export function bunParts(page: string): BunPart[] {
  if (!/JavaScriptCore.*LGPL-2 licensed/.test(page)) {
    throw new Error("Bun's page on licences says something new about JavaScriptCore");
  }
  const parts: BunPart[] = [
    { name: "JavaScriptCore", address: "https://github.com/oven-sh/webkit", licence: "LGPL-2" },
  ];
  for (const [, name, address, licence] of page.matchAll(
    /^\|.*?\[`?([^\]`]+)`?\]\(([^)]+)\).*?\|(.+)\|$/gm,
  )) {
    parts.push({ name: name!, address: address!, licence: withoutLinks(licence!).trim() });
  }
  return parts;
}

const withoutLinks = (text: string) => text.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1");
