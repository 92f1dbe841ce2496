import { createHash } from "node:crypto";
import { patterns } from "../pattern/named-patterns.ts";
import pageStyle from "./browser/page-style.css" with { type: "text" };
import ownStyle from "./browser/playground-style.css" with { type: "text" };
import { type Html, html, type Section, sectionHtml, trustedHtml } from "./html-parts.ts";

/** The page as one file: the report's style and parts, the views' places, and the script, which its policy lets in by its hash. */
export function playgroundPage(script: string, text: string): Html {
  const style = `${pageStyle}\n${ownStyle}`;
  const policy = [
    "default-src 'none'",
    // Workers are made of the same script. WebAssembly is in it.
    `script-src ${hashOf(script)} 'wasm-unsafe-eval'`,
    "worker-src blob:",
    `style-src ${hashOf(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types bpe",
  ].join("; ");
  const sections = sectionsOf(text);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${trustedHtml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>How a tokenizer learns</title>
<style>${trustedHtml(style)}</style>
</head>
<body>
<header>
<h1>How a tokenizer learns</h1>
${introduction}
<nav aria-label="Sections"><ul>${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>
<noscript><p class="warning">This page trains a tokenizer in your browser, and needs JavaScript for it. It loads nothing from a network.</p></noscript>
</header>
<main>${sections.map(sectionHtml)}</main>
<script>${trustedHtml(script)}</script>
</body>
</html>
`;
}

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const sectionsOf = (text: string): Section[] => [
  watchSection,
  {
    id: "token",
    title: "Why is this token here?",
    isWide: true,
    text: "Search for a token by its text, or by its id as #300; or press one in the text above.",
    content: html`<form id="token-form" class="search" role="search"><label>Token <input id="token-query" type="search" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="text or #id"></label></form>
<div id="token-found" class="found" aria-live="polite"></div>
<div id="token-view" tabindex="-1" role="group" aria-label="The token"></div>`,
  },
  trainSection(text),
  {
    id: "sizes",
    title: "What a larger vocabulary changes",
    text: "Each merge adds a token, and the same corpus needs fewer, longer ones: a model reads it in fewer steps. The first merges help most; later ones are for rarer words, and each token is one more that a model has to learn.",
    content: html`<figure id="sizes-chart"></figure>`,
  },
  {
    id: "rules",
    title: "Three trainers, one text",
    isWide: true,
    text: "Hugging Face, rustbpe and Stanford's CS336 all merge the most frequent pair. When two pairs are equally frequent, they do not all take the same one.",
    content: html`<p><button type="button" id="rules-go">Train by all three</button> <span id="rules-status" role="status"></span></p>
<div id="rules-view"></div>`,
  },
  compareSection,
  {
    id: "exercises",
    title: "Exercises",
    isWide: true,
    text: html`A tokenizer in small steps, on the text that you trained on, or on your own. Each answer is checked exactly, and shown only if you ask.`,
    content: html`<p><label>Your own text <textarea id="exercise-text" rows="2" spellcheck="false" placeholder="the text that was trained on"></textarea></label></p>
<p id="exercise-score" class="quiet" role="status"></p>
<div id="exercise-list"></div>`,
  },
  {
    id: "take",
    title: "Take it along",
    isWide: true,
    text: "The files are those of bpe train, byte for byte. Hugging Face, tiktoken and other programs read them.",
    content: html`<div id="take-files" class="found"></div>
<p class="copied"><label>The command that makes the same <input id="take-command" readonly></label> <button type="button" id="take-copy-command">Copy</button></p>
<p class="copied"><label>A link to this page with these settings <input id="take-link" readonly></label> <button type="button" id="take-copy-link">Copy</button></p>
<p id="take-status" role="status" class="quiet"></p>`,
  },
];

/** Worked by hand: what each merge makes of a text (test/playground/playground-page.test.ts does it, too). */
export const workedMerges: readonly (readonly [merge: string, pieces: string])[] = [
  ["", "t h e ␣ p a t h ␣ t o ␣ t h e ␣ o t h e r ␣ t o o t h"],
  ["t + h", "th e ␣ p a th ␣ t o ␣ th e ␣ o th e r ␣ t o o th"],
  ["th + e", "the ␣ p a th ␣ t o ␣ the ␣ o the r ␣ t o o th"],
];

const workedHtml = ([merge, pieces]: readonly [string, string], i: number) => {
  const tokens = pieces.split(" ");
  const made = merge.replace(" + ", "");
  const times = tokens.filter((token) => token === made).length;
  const name = i === 0 ? "Letters" : html`Merge ${i}: <b>${merge}</b>, ${times} times`;
  return html`<dt>${name} <span class="quiet">${tokens.length} tokens</span></dt>
<dd>${tokens.map((token) => html`<i${token === made ? html` class="made"` : undefined}>${token}</i>`)}</dd>
`;
};

const introduction = html`<div class="introduction"><p class="lead">A language model reads numbers, not letters. A <b>tokenizer</b> cuts text into pieces, the <b>tokens</b>; each has a
number. Byte-pair encoding (BPE) learns good pieces from a text. It begins with single letters (with bytes: a letter such as é has two); a
space, here ␣, is a letter like any other. It counts which two tokens stand side by side most often, and joins them to one new
token, everywhere. That is a <b>merge</b>.</p>
<dl class="worked">${workedMerges.map(workedHtml)}</dl>
<p class="lead">So it goes on, thousands of times for a language model. The parts of a frequent word, and the space before it, stand
side by side so often that they soon are one token: ␣the. A rare word stays in pieces. All tokens are the <b>vocabulary</b>; each merge adds one. A larger vocabulary cuts the same text into fewer,
longer tokens, so a model reads it in fewer steps; but later merges save less and less.</p></div>`;

const watchSection: Section = {
  id: "watch",
  title: "Watch it learn",
  isWide: true,
  text: html`Play, or move the slider: each step is one merge. Where the colour changes, a token ends; frames show the pairs that the next merge
joins. ↵ is a line end; stripes mark a letter whose bytes are still several tokens.`,
  content: html`<p id="watch-count" role="status"></p>
<p class="steps"><button type="button" data-step="-1000000" aria-label="To the first">|◀</button><button type="button" data-step="-1" aria-label="One merge back">◀</button><button type="button" id="watch-play" aria-pressed="false">Play</button><button type="button" data-step="1" aria-label="One merge on">▶</button><button type="button" data-step="1000000" aria-label="To the last">▶|</button><label class="slider"><span class="unseen">Merges made</span><input id="watch-slider" type="range" min="0" max="0" value="0"></label></p>
<p id="watch-next">Next: <code class="t" id="next-left"></code> + <code class="t" id="next-right"></code> → <button type="button" class="plain"><code class="t" id="next-made"></code></button><span id="next-facts"></span></p>
<p id="watch-done" hidden>All merges are made.</p>
<div id="watch-text" class="text watched" tabindex="0" role="region" aria-label="The text, cut into tokens" aria-describedby="watch-token"></div>
<p id="watch-token" class="quiet" role="status">Point at a token, or go from one to the next by the arrow keys, to see what it is.</p>
<div class="columns"><div><h3>The most frequent pairs now</h3><div id="watch-pairs"></div></div>
<div><h3>Another text</h3><p class="quiet">Any text, cut by what was learned from the corpus.</p><textarea id="watch-own" rows="3" aria-label="Another text to cut" spellcheck="false"></textarea></div></div>`,
};

const patternOptions = Object.keys(patterns).map((name) => html`<option value="${name}">${name}</option>`);

const trainSection = (text: string): Section => ({
  id: "train",
  title: "Train your own",
  text: "Paste a text, or drop files anywhere on the page. They stay in your browser; nothing is sent anywhere.",
  content: html`<form id="train-form">
<p><label>Text <textarea id="train-text" rows="6" spellcheck="false">${text.startsWith("\n") ? "\n" : undefined}${trustedHtml(escaped(text))}</textarea></label></p>
<p><label>or files of text <input id="train-files" type="file" multiple></label> <span id="train-chosen" class="quiet"></span></p>
<p class="fields"><label>Size of the vocabulary <input id="train-size" type="number" min="256" max="1000000" value="1000" required></label>
<label>Pattern <select id="train-pattern">${patternOptions}<option value="">a regular expression …</option></select></label>
<label hidden>Regular expression <input id="train-regex" autocomplete="off" spellcheck="false"></label>
<label>Special tokens <input id="train-special" placeholder="&lt;|endoftext|&gt;" autocomplete="off" spellcheck="false"></label>
<label>Trainer's rule <select id="train-rule"><option value="cs336">CS336</option><option value="huggingface">Hugging Face</option><option value="rustbpe">rustbpe</option></select></label></p>
<p><button id="train-go" class="main">Train</button> <button type="button" id="train-cancel" hidden>Cancel</button> <progress id="train-bar" max="1" value="0" hidden aria-label="Training"></progress> <span id="train-status" role="status"></span></p>
<div id="train-warnings"></div>
</form>`,
});

/** Text of several lines: `html` would show its line ends as \x0a. */
const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

const compareSection: Section = {
  id: "compare",
  title: "Compare with another tokenizer",
  isWide: true,
  text: "Drop a tokenizer.json here, or a file of ranks (tiktoken). The text is cut by both.",
  content: html`<p class="fields"><label>File <input id="compare-file" type="file"></label>
<label>Pattern of ranks <select id="compare-pattern"><option value="">of the file, if it is a published one</option>${patternOptions}</select></label></p>
<p><label>Text <textarea id="compare-text" rows="2" spellcheck="false" placeholder="the beginning of what was trained on"></textarea></label></p>
<div id="compare-view"></div>`,
};
