import { type CodePointSet, complementOf, emptySet, intersectionOf, unionOf } from "./code-point-set.ts";
import { parsePattern } from "./parse-pattern.ts";
import type { Node } from "./syntax-tree.ts";

/**
 * Whether some text may hold a character that no match takes. HF keeps such gaps as pretokens, and so do we; tiktoken and
 * rustbpe drop them. false is certain; true also stands where it is not seen at once that every character is taken.
 */
export function mayLeaveGaps(source: string): boolean {
  const surrogates: CodePointSet = [0xd800, 0xdfff];
  const taken = unionOf([sureStarts(parsePattern(source)).characters, surrogates]);
  return complementOf(taken).length > 0;
}

type Sure = {
  /** Where one of these is next, there is a match whatever follows. */
  readonly characters: CodePointSet;
  /** There is a match anywhere; it may be empty. */
  readonly anywhere: boolean;
};

const never: Sure = { characters: emptySet, anywhere: false };
const empty: Sure = { characters: emptySet, anywhere: true };

function sureStarts(node: Node): Sure {
  switch (node.kind) {
    case "set":
      return { characters: node.set, anywhere: false };
    case "group":
    case "atomic":
      return sureStarts(node.body);
    case "choice": {
      const options = node.options.map(sureStarts);
      return {
        characters: unionOf([emptySet, ...options.map(({ characters }) => characters)]),
        anywhere: options.some(({ anywhere }) => anywhere),
      };
    }
    case "repeat":
      if (node.min === 0) return empty;
      return node.min === 1 || sureStarts(node.body).anywhere ? sureStarts(node.body) : never;
    case "sequence": {
      // From the end: a match of the rest goes on a match of the item, or stands in its place where that is empty.
      let rest = empty;
      for (const item of node.items.toReversed()) {
        const sure = sureStarts(item);
        if (rest.anywhere) rest = sure;
        else if (sure.anywhere) rest = { characters: withoutKept(rest.characters, item), anywhere: false };
        else return never;
      }
      return rest;
    }
    default:
      return never;
  }
}

/** Those at which the item is empty, or gives back what it took. */
function withoutKept(characters: CodePointSet, item: Node): CodePointSet {
  if (item.kind !== "repeat" || item.min > 0) return isNothing(item) ? characters : emptySet;
  if (item.mode !== "possessive") return characters;
  return item.body.kind !== "set" ? emptySet : intersectionOf(characters, complementOf(item.body.set));
}

const isNothing = (node: Node) => node.kind === "sequence" && node.items.length === 0;
