import { showValue } from "#bytes";
import type { AddedToken } from "#text";
import { derivation, encodingModels, type TokenizerParts, tokenTables } from "#tokenizer";
import { mark } from "./character-json.ts";
import type { SpelledTokens } from "./output-file.ts";

/** The name that llama.cpp's files give an id without a token. */
export const padName = (id: number) => `[PAD${id}]`;

/** Matches the names that make any token a control token in llama.cpp (`llama_vocab::impl::load`). */
export const controlNames =
  /^(<\|(eot_id|im_end|end|endoftext|end_of_text|eom_id|return|call|calls|flush|fim_\w+|code_(prefix|suffix|middle)|repo_name|file_sep)\|>|<(end_of_turn|end_of_utterance|EOT|PRE|SUF|MID|PAD|REPO|reponame|fim[-_]\w+)>|_<EOT>|\[(EOT|EOS|PAD)\]|<\/s>)$/;

/** Returns the tokens that llama.cpp takes for control tokens only because of their names. */
export const namedControls = ({ texts, kinds }: SpelledTokens): string[] =>
  texts.flatMap((text = "", id) => (kinds[id] !== "control" && controlNames.test(text) ? text : []));

/**
 * Returns the reason why llama.cpp would give other ids, or null. Its vocabularies of the type "llama" have scores
 * instead of merges, like SentencePiece's files. Unlike SentencePiece, llama.cpp may merge any tokens, even special
 * tokens and byte tokens.
 */
export function findLlamaObstacle(
  parts: TokenizerParts,
  spelled: SpelledTokens & { readonly scores: Float32Array },
  derivations: derivation.Derivations,
): string | null {
  const { model, addedTokens, addsPrefixSpace, prefixRule } = parts;
  if (model.beginning?.unknown !== null)
    return "llama.cpp encodes a character without a token as bytes, but this tokenizer as the unknown token";
  if (!model.beginning.hasMarks)
    return `llama.cpp replaces spaces by "${mark}", but this tokenizer keeps them`;
  if (addsPrefixSpace && prefixRule !== "every section" && (prefixRule !== "start" || addedTokens.length > 0))
    return prefixRule === "start"
      ? `llama.cpp puts a space after each added token, such as ${showValue(addedTokens[0]!.content)}, but this tokenizer puts one only before the text`
      : "llama.cpp puts a space before each text, but this tokenizer does not if the text begins with one";
  return addedObstacle(addedTokens, spelled) ?? mergeObstacle(parts, spelled, derivations);
}

function addedObstacle(
  addedTokens: readonly AddedToken[],
  { texts, kinds, splitsAtMarks }: SpelledTokens,
): string | null {
  const flagged = addedTokens.find(({ lstrip, rstrip, singleWord }) => lstrip || rstrip || singleWord);
  if (flagged !== undefined)
    return `the added token ${showValue(flagged.content)} strips white space or matches only whole words`;
  const run = texts.find((text, id) => kinds[id] === "user-defined" && isHiddenRun(text!, id, addedTokens));
  if (run !== undefined) return `llama.cpp does not match its user-defined token ${showValue(run)} in spaces`;
  const within = texts.find((text, id) => kinds[id] === "normal" && text!.lastIndexOf(mark) > 0);
  if (splitsAtMarks && within !== undefined)
    return `its pre-tokenizer cuts before each "${mark}", so the token ${showValue(within)} is never produced, but llama.cpp would produce it`;
  return overlapObstacle(addedTokens);
}

/**
 * Whether a user-defined token contains U+2581 and is no added token. SentencePiece finds such a token also where the
 * text has spaces in place of U+2581; llama.cpp does not.
 */
const isHiddenRun = (text: string, id: number, addedTokens: readonly AddedToken[]) =>
  text.includes(mark) && addedTokens.every((token) => token.id !== id);

/**
 * Returns an obstacle if two added tokens may overlap in a text, and programs may find different ones. llama.cpp finds
 * the longest one. Other programs find the one that begins first, and search for tokens with `normalized` after all
 * others.
 */
function overlapObstacle(addedTokens: readonly AddedToken[]): string | null {
  const byPrefix = new Map<string, AddedToken[]>();
  for (const token of addedTokens)
    for (let size = 1; size < token.content.length; size++) {
      const prefix = token.content.slice(0, size);
      const others = byPrefix.get(prefix);
      if (others === undefined) byPrefix.set(prefix, [token]);
      else others.push(token);
    }
  const isRun = ({ content }: AddedToken) => new Set(content).size === 1;
  for (const token of addedTokens) {
    const { content, normalized } = token;
    const mayWin = (other: AddedToken) =>
      other !== token &&
      Buffer.byteLength(other.content) >= Buffer.byteLength(content) &&
      // All programs find the same runs of one character, so two such tokens are no obstacle.
      !(isRun(token) && isRun(other));
    for (let start = 1; start < content.length; start++) {
      const other = byPrefix.get(content.slice(start))?.find(mayWin);
      if (other !== undefined) return obstacleOf(token, other);
    }
    const late = addedTokens.find(
      (other) => other.normalized !== normalized && mayTouch(content, other.content),
    );
    if (late !== undefined) return obstacleOf(token, late);
  }
  return null;
}

const obstacleOf = (one: AddedToken, other: AddedToken) =>
  `its added tokens ${showValue(one.content)} and ${showValue(other.content)} may overlap, and llama.cpp prefers the longest`;

const mayTouch = (a: string, b: string) =>
  a.includes(b) ||
  b.includes(a) ||
  Array.from({ length: a.length }).some((_, i) => b.startsWith(a.slice(i)) || b.endsWith(a.slice(0, i + 1)));

/**
 * Returns an obstacle if llama.cpp would make a token from other halves than the tokenizer of `parts`, or from a
 * character that has no token. Also returns one if merging makes a token in only one of the two programs.
 */
function mergeObstacle(
  parts: TokenizerParts,
  { texts: spelledTexts, scores }: SpelledTokens & { readonly scores: Float32Array },
  before: derivation.Derivations,
): string | null {
  const texts = Array.from(spelledTexts, (text, id) => text ?? padName(id));
  const ids = new Map(texts.map((text, id) => [text, id]));
  const splits: { left: number; right: number; merged: number }[] = [];
  for (const [id, text] of texts.entries()) {
    for (let at = sizeAt(text, 0); at < text.length; at += sizeAt(text, at)) {
      const halves = [text.slice(0, at), text.slice(at)];
      const [left, right] = halves.map((half) => ids.get(half));
      if (left !== undefined && right !== undefined) splits.push({ left, right, merged: id });
      else if (halves.every((half) => ids.has(half) || sizeAt(half, 0) === half.length))
        return `llama.cpp would make its token ${showValue(text)} from a character that has no token`;
    }
  }
  splits.sort((a, b) => scores[b.merged]! - scores[a.merged]!);
  const firstTied = new Int32Array(splits.length);
  for (let k = 1; k < splits.length; k++) {
    const isTied = scores[splits[k]!.merged] === scores[splits[k - 1]!.merged];
    firstTied[k] = isTied ? firstTied[k - 1]! : k;
  }
  const list = (name: "left" | "right" | "merged") => Int32Array.from(splits, (split) => split[name]);
  const { byteIds, beginning } = parts.model;
  const merges = { left: list("left"), right: list("right"), merged: list("merged"), firstTied };
  const encoder = new TextEncoder();
  const after = derivation.derive({
    ...parts,
    tokens: tokenTables.build(texts.map((text, id) => [id, encoder.encode(text.replaceAll(mark, " "))])),
    model: encodingModels.build({
      byteIds,
      merges,
      idMax: texts.length - 1,
      ...(beginning && { beginning }),
    }),
  });
  const isMade = ({ reaches }: derivation.Derivations, id: number) =>
    reaches[id] === derivation.Reach.merging;
  const other = texts.findIndex(
    (text, id) =>
      (isMade(before, id) !== isMade(after, id) ||
        before.left[id] !== after.left[id] ||
        before.right[id] !== after.right[id]) &&
      // An added token is never part of a text that is merged, so tokens that contain one are not compared.
      parts.addedTokens.every(({ content }) => !text.includes(content)),
  );
  return other < 0 ? null : `llama.cpp would make its token ${showValue(texts[other])} from other tokens`;
}

const sizeAt = (text: string, pos: number) => (text.codePointAt(pos)! > 0xffff ? 2 : 1);
