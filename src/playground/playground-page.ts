import { dataScript, html } from "#reports";

/** A worked example: the text after each merge. test/playground/playground-page.test.ts checks it. */
export const workedMerges: readonly (readonly [merge: string, pieces: string])[] = [
  ["", "t h e ␣ p a t h ␣ t o ␣ t h e ␣ o t h e r ␣ t o o t h"],
  ["t + h", "th e ␣ p a th ␣ t o ␣ th e ␣ o th e r ␣ t o o th"],
  ["th + e", "the ␣ p a th ␣ t o ␣ the ␣ o the r ␣ t o o th"],
];

function workedHtml([merge, pieces]: readonly [string, string], i: number) {
  const tokens = pieces.split(" ");
  const made = merge.replace(" + ", "");
  const times = tokens.filter((token) => token === made).length;
  const name = i === 0 ? "Letters" : html`Merge ${i}: <b>${merge}</b>, ${times} times`;
  return html`<dt>${name} <span class="quiet">${tokens.length} tokens</span></dt>
<dd class="pieces">${tokens.map((token) => html`<i${token === made ? html` class="made"` : undefined}>${token}</i>`)}</dd>
`;
}

/** The static content of the page. `text` is the first corpus. */
export const playgroundContent = (text: string) => html`<main>
<h1>How a tokenizer learns</h1>
<div class="introduction"><p class="lead">A language model reads numbers, not letters. A <b>tokenizer</b> cuts text into pieces, the <b>tokens</b>; each has a
number. Byte-pair encoding (BPE) learns good pieces from a text. It begins with single letters (with bytes: a letter such as é has two); a
space, here ␣, is a letter like any other. It counts which two tokens are adjacent most often, and joins them to one new
token, everywhere. That is a <b>merge</b>.</p>
<dl class="worked">${workedMerges.map(workedHtml)}</dl>
<p class="lead">This is repeated, thousands of times for a language model. The parts of a frequent word, and the space before it, are
adjacent so often that they soon become one token: ␣the. A rare word stays in pieces. All tokens are the <b>vocabulary</b>; each merge adds one. A larger vocabulary cuts the same text into fewer,
longer tokens, so a model reads it in fewer steps; but later merges save less and less.</p></div>
<noscript><p class="caution">This page trains a tokenizer in your browser, and needs JavaScript for it. It loads nothing from a network.</p></noscript>
</main>
${dataScript({ text })}`;
