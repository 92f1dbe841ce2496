// Builds the template of the pages that `--report` writes, dist/pages/report.html: the style and the program, with places for
// the title and the content. Its policy lets only these in, by their hashes.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BunPlugin } from "bun";
import { contentSlot, pageMark, titleSlot } from "../src/pages/page-file.ts";
import { browserPlugins } from "./npm/compile.ts";

const root = resolve(import.meta.dir, "..");

/** No page normalizes text. */
const withoutNormalizer: BunPlugin = {
  name: "without normalizer",
  setup(build) {
    build.onLoad({ filter: /\/kernel-text\.wasm$/ }, () => ({
      contents: 'export default "";',
      loader: "js",
    }));
  },
};

/** A page without its data. */
const sizeMax = 250_000;

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Bundles a program for browsers. */
export async function bundleForPage(entry: string, format: "iife" | "esm"): Promise<string> {
  const result = await Bun.build({
    entrypoints: [join(root, entry)],
    target: "browser",
    format,
    minify: true,
    define: { "process.platform": '"browser"', BPE_COMMIT: '""', BPE_SMALL_SCALE: "false" },
    plugins: [withoutNormalizer, ...browserPlugins],
  });
  for (const log of result.logs) console.error(String(log));
  if (!result.success) throw new Error(`${entry} does not compile`);
  const script = await result.outputs[0]!.text();
  if (/<\/script|<!--/i.test(script)) throw new Error(`${entry}: the script would end its element`);
  return script;
}

/** Builds the template. Returns its path. */
export async function buildPages(directory = join(root, "dist/pages")): Promise<string> {
  const script = await bundleForPage("src/pages/app/page-app.ts", "esm");
  const style = readFileSync(join(root, "src/pages/app/report-style.css"), "utf8");
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${pageMark}
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${titleSlot}</title>
<style>${style}</style>
</head>
<body>
${contentSlot}<script type="module">${script}</script>
</body>
</html>
`;
  if (Buffer.byteLength(page) > sizeMax)
    throw new Error(`the template of pages has ${Buffer.byteLength(page)} bytes`);
  mkdirSync(directory, { recursive: true });
  const path = join(directory, "report.html");
  writeFileSync(path, page);
  return path;
}

if (import.meta.main) console.log(`built ${await buildPages()}`);
