import { decodeCharacters } from "../../bytes/byte-characters.ts";
import { escapeBytes } from "../../bytes/escape.ts";
import { shown } from "../../bytes/schema.ts";
import { UserError } from "../../errors.ts";
import { contains, whiteSpace } from "../../pattern/unicode.ts";
import { normalize } from "../normalizer.ts";
import type { AddedToken, NormalizationForm } from "../tokenizer-parts.ts";
import { checkId, type TokenIds } from "./assemble-model.ts";
import { objectAt, refuse } from "./checked-json.ts";

type AddedTokens = { readonly tokens: AddedToken[]; readonly notes: string[] };

/**
 * Reads `added_tokens` as HF does, which ignores their ids. A content that is in the vocabulary keeps its id there; any other
 * one gets the next number from the size of the vocabulary on, even if that id is taken. Of entries with one content the
 * last one counts, but the token is special if one of them says so.
 */
export function readAddedTokens(
  value: unknown,
  vocab: TokenIds,
  normalization: NormalizationForm | null,
  path: string,
): AddedTokens {
  if (value === undefined || value === null) return { tokens: [], notes: [] };
  if (!Array.isArray(value)) throw new UserError(`"${path}": added_tokens is no list`);
  const byContent = new Map<string, AddedToken>();
  const changes: string[] = [];
  let nextId = vocab.size;
  for (const entry of value) {
    const { id: statedId, ...token } = readEntry(entry, path);
    const { content } = token;
    if (content === "") continue;
    const known = byContent.get(content);
    const id = known?.id ?? vocab.get(content) ?? checkId(nextId++, content, path);
    if (id !== statedId) changes.push(`${shown(content)} is ${id}, not ${statedId}`);
    byContent.set(content, { id, ...token, special: token.special || known?.special === true });
  }
  const tokens = [...byContent.values()];
  refuseUnclear(tokens, normalization, path);
  const more = changes.length > 1 ? `, and ${changes.length - 1} more differ` : "";
  const notes =
    changes.length === 0 ? [] : [`ids of added_tokens are those that HF gives: ${changes[0]}${more}`];
  return { tokens, notes };
}

function readEntry(entry: unknown, path: string): AddedToken {
  const token = objectAt(entry, path, "an added token");
  const { content } = token;
  if (typeof content !== "string") throw new UserError(`"${path}": an added token has no content`);
  const flag = (name: string): boolean => {
    const set = token[name];
    if (typeof set === "boolean") return set;
    throw new UserError(`"${path}": the added token ${shown(content)} has no "${name}"`, {
      hint: "HF's tokenizers do not read it either: each has id, content, single_word, lstrip, rstrip, normalized and special",
    });
  };
  return {
    id: checkId(token.id, content, path),
    content,
    special: flag("special"),
    normalized: flag("normalized"),
    lstrip: flag("lstrip"),
    rstrip: flag("rstrip"),
    singleWord: flag("single_word"),
  };
}

/**
 * Refuses a special token whose id is that of another token: one of the two would be decoded as the other. `others` are tokens
 * as keys of HF's vocabulary, or as bytes, with their ids; one that stands for the same text may be among them.
 */
export function checkOwnIds(
  added: readonly AddedToken[],
  others: Iterable<readonly [key: string | Uint8Array, id: number]>,
  path: string,
): void {
  const byId = new Map<number, string>();
  for (const { content, id } of added) {
    const other = byId.get(id);
    if (other !== undefined)
      throw new UserError(
        `"${path}": the special tokens ${shown(other)} and ${shown(content)} have one id, ${id}`,
      );
    byId.set(id, content);
  }
  for (const [key, id] of others) {
    const content = byId.get(id);
    if (content === undefined || key === content) continue;
    const bytes = typeof key === "string" ? (decodeCharacters(key) ?? Buffer.from(key)) : key;
    if (Buffer.from(content).equals(bytes)) continue;
    throw new UserError(
      `"${path}": the special token ${shown(content)} has the id ${id} of the token "${escapeBytes(bytes)}"`,
      { hint: "give it an id that no token has" },
    );
  }
}

/** Refuses what HF does not load, loads only in part, or crashes at in a text. */
function refuseUnclear(tokens: readonly AddedToken[], normalization: NormalizationForm | null, path: string) {
  const quoted = ({ content }: AddedToken) => shown(content);
  const byId = new Map<number, AddedToken>();
  for (const token of tokens) {
    const other = byId.get(token.id);
    if (other !== undefined)
      refuse(path, `the added tokens ${quoted(other)} and ${quoted(token)} have one id, ${token.id}`);
    byId.set(token.id, token);
  }
  for (const stage of [
    tokens.filter((token) => token.normalized),
    tokens.filter((token) => !token.normalized),
  ]) {
    const stripping = stage.find((token) => token.rstrip);
    const byPattern = new Map<string, AddedToken>();
    for (const token of stage) {
      const isChanged = token.normalized && normalization !== null;
      const pattern = isChanged ? normalize(token.content, normalization) : token.content;
      const other = byPattern.get(pattern);
      if (other !== undefined)
        refuse(path, `its normalizer makes the added tokens ${quoted(other)} and ${quoted(token)} the same`);
      byPattern.set(pattern, token);
      if (stripping !== undefined && contains(whiteSpace, pattern.codePointAt(0)!)) {
        refuse(
          path,
          `the added token ${quoted(token)} begins with white space, which ${quoted(stripping)} takes along (rstrip)`,
        );
      }
    }
  }
}
