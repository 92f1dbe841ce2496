import type { Section } from "./figure.ts";
import { html, trustedHtml } from "./html.ts";
import { jsonForPage, type PackedVocabulary } from "./packed-vocabulary.ts";

/** The merge tree of any token: a search box, and all tokens with their merges for the page's script. */
export function treeSection(vocabularies: readonly PackedVocabulary[]): Section {
  const packed = trustedHtml(jsonForPage(vocabularies));
  return {
    id: "tree",
    title: "Merge tree of a token",
    isWide: true,
    text: "Each token over the two that were merged into it. Search by text, or by id as #1234.",
    content: html`<form class="search" role="search">
${
  vocabularies.length > 1
    ? html`<label>tokenizer <select id="tree-tokenizer">${vocabularies.map(
        ({ name }, i) => html`<option value="${i}">${name}</option>`,
      )}</select></label>`
    : undefined
}
<label>token <input id="tree-query" type="search" autocomplete="off" spellcheck="false" placeholder="text or #id"></label>
</form>
<div id="tree-found" class="found" aria-live="polite"></div>
<div id="tree-view"></div>
<noscript><p>The search needs JavaScript.</p></noscript>
<script type="application/json" id="vocabularies">${packed}</script>`,
  };
}
