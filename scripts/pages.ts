// Builds the template of `--report`, dist/pages/report.html. Its Content-Security-Policy allows no style and no program
// but its own, by hash.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { BunPlugin } from "bun";
import { contentSlot, titleSlot } from "../src/reports/page-file.ts";
import * as pageHead from "../src/reports/page-mark.ts";
import { browserPlugins } from "./npm/compile.ts";

const root = resolve(import.meta.dir, "..");

/**
 * Leaves the kernel's text module out of report pages, because they cut no text at special tokens and normalize none.
 */
const withoutTextModule: BunPlugin = {
  name: "without text module",
  setup(build) {
    build.onLoad({ filter: /\/kernel-text\.wasm$/ }, () => ({
      contents: 'export default "";',
      loader: "js",
    }));
  },
};

/** The maximum size of the template, in bytes. */
const sizeMax = 250_000;

/** Returns the CSP source for a script or style. */
export const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Bundles a program for browsers. */
export async function bundleForPage(
  entry: string,
  format: "iife" | "esm",
  { hasTextModule = false } = {},
): Promise<string> {
  const result = await Bun.build({
    entrypoints: [join(root, entry)],
    target: "browser",
    format,
    minify: true,
    conditions: ["library"],
    define: { "process.platform": '"browser"', BPE_COMMIT: '""', BPE_SMALL_SCALE: "false" },
    plugins: [...(hasTextModule ? [] : [withoutTextModule]), ...browserPlugins],
  });
  for (const log of result.logs) console.error(String(log));
  if (!result.success) throw new Error(`${entry} does not compile`);
  const script = await result.outputs[0]!.text();
  if (/<\/script|<!--/i.test(script)) throw new Error(`${entry}: the script would end its element`);
  return script;
}

type Page = {
  readonly title: string;
  /** An element for the head by which our pages are recognized (src/reports/page-mark.ts). */
  readonly mark?: string;
  readonly content: string;
  readonly style: string;
  readonly script: string;
  /** If false, the script is a classic one, from whose text workers can be created. */
  readonly isModule: boolean;
  /** CSP directives that replace the usual ones, or are added to them. */
  readonly allowed?: Readonly<Record<string, string>>;
};

/** Returns a page that runs only its own script, and loads nothing unless `allowed` says so. */
export function pageOf({ title, mark = "", content, style, script, isModule, allowed = {} }: Page): string {
  const directives = {
    "default-src": "'none'",
    "script-src": hashOf(script),
    "style-src": hashOf(style),
    "img-src": "data:",
    "base-uri": "'none'",
    "form-action": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
    ...allowed,
  };
  const policy = Object.entries(directives).map((directive) => directive.join(" "));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${mark}
<meta http-equiv="Content-Security-Policy" content="${policy.join("; ")}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
${content}<script${isModule ? ' type="module"' : ""}>${script}</script>
</body>
</html>
`;
}

export const pageStyle = readFileSync(join(root, "src/pages/app/report-style.css"), "utf8");

/** Writes a page, or fails if it is too large. Returns its path. */
export function writePage(path: string, page: string, sizeMax: number): string {
  const size = Buffer.byteLength(page);
  if (size > sizeMax) throw new Error(`${path} has ${size} bytes, more than ${sizeMax}`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, page);
  return path;
}

/** Builds the template. Returns its path. */
export async function buildPages(directory = join(root, "dist/pages")): Promise<string> {
  const page = pageOf({
    title: titleSlot,
    mark: pageHead.mark,
    content: contentSlot,
    style: pageStyle,
    script: await bundleForPage("src/pages/app/page-app.ts", "esm"),
    isModule: true,
  });
  return writePage(join(directory, "report.html"), page, sizeMax);
}

if (import.meta.main) console.log(`built ${await buildPages()}`);
