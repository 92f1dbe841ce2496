import { expect, test } from "bun:test";
import { buildTokenTrie, matchBackwards } from "../../src/bytes/special-token-finder.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

test("two tokens make the automaton of the worked example", () => {
  const trie = buildTokenTrie([utf8("ab"), utf8("b")]);
  expect([...trie.labels]).toEqual([0, 0x62, 0x61]);
  expect([...trie.firstChildren]).toEqual([1, 2, 3, 3]);
  expect([...trie.fallbacks]).toEqual([0, 0, 0]);
  expect([...trie.tokenLengths]).toEqual([0, 1, 2]);
  expect([...trie.rootChildren].flatMap((child, byte) => (child === 0 ? [] : [[byte, child]]))).toEqual([
    [0x62, 1],
  ]);
});

test("a token that is given twice, and one without bytes, change nothing", () => {
  expect(buildTokenTrie([utf8("b"), utf8("ab"), utf8(""), utf8("b")])).toEqual(
    buildTokenTrie([utf8("ab"), utf8("b")]),
  );
});

test("a place is written down only in its block, with tokens that reach behind the block but not behind the limit", () => {
  const trie = buildTokenTrie(["ab", "abc", "b"].map(utf8));
  const places = new Int32Array(4);
  const lengths = new Int32Array(4);
  const match = (from: number, to: number, limit: number) => {
    const count = matchBackwards(trie, utf8("ababc"), from, to, limit, { places, lengths });
    return Array.from({ length: count }, (_, i) => [places[i], lengths[i]]);
  };
  expect(match(0, 4, 5)).toEqual([
    [3, 1],
    [2, 3],
    [1, 1],
    [0, 2],
  ]);
  expect(match(1, 3, 4)).toEqual([
    [2, 2],
    [1, 1],
  ]);
});

test("a state falls back to that of the longest shorter string that it ends with, so no byte takes more than two moves", () => {
  const trie = buildTokenTrie(["aaaab", "aac", "bb"].map(utf8));
  const depths = [0];
  for (let state = 0; state < trie.labels.length; state++) {
    for (let child = trie.firstChildren[state]!; child < trie.firstChildren[state + 1]!; child++) {
      depths[child] = depths[state]! + 1;
    }
  }
  for (let state = 1; state < depths.length; state++) {
    expect(depths[trie.fallbacks[state]!]!).toBeLessThan(depths[state]!);
  }
});
