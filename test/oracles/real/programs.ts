// Runs `bpe`, and the programs that real tokenizers come from.
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { binary } from "../../binary.ts";
import type { RealTokenizer } from "./tokenizers.ts";

export const home = join(import.meta.dir, "../../../dist/real");

export const pathOf = ({ name, file }: RealTokenizer) => join(home, "files", name, basename(file));

/**
 * Loads a tokenizer. Returns it with its normalization and the material for its test texts: special tokens, tokens, and
 * unreachable tokens.
 */
export async function materialOf(tokenizer: RealTokenizer) {
  const loaded = await Tokenizer.load(pathOf(tokenizer), readOptions(tokenizer.options ?? []));
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const tokens: string[] = [];
  for (let id = 0; id < loaded.idLimit; id++) {
    try {
      tokens.push(decoder.decode(loaded.tokenBytes(id)));
    } catch {
      // The token is a part of a character, so it is left out.
    }
  }
  return {
    loaded,
    specialTokens: [...loaded.specialTokens.keys()],
    tokens: tokens.filter((token) => token !== ""),
    unreachable: unreachableOf(loaded),
    normalization: loaded.parts.normalization,
  };
}

function unreachableOf({ parts }: Tokenizer): string[] {
  const { wholeTokens } = parts.model;
  if (wholeTokens === null) return [];
  const { bytes, starts, ids } = wholeTokens;
  const texts = Array.from(ids, (_, token) =>
    Buffer.from(bytes.subarray(starts[token]!, starts[token + 1]!)).toString(),
  );
  return texts.filter((text) => !text.includes("\ufffd"));
}

/** Converts options of the command line into those of the library. */
export function readOptions(options: readonly string[]) {
  const valuesOf = (flag: string) => options.flatMap((value, i) => (options[i - 1] === flag ? [value] : []));
  const specialTokens = valuesOf("-s").map((typed) => {
    const [, text, id] = /^(.*)=(\d+)$/s.exec(typed)!;
    return [text!, Number(id)] as const;
  });
  const [pattern] = valuesOf("-p");
  return { ...(pattern === undefined ? {} : { pattern }), specialTokens: Object.fromEntries(specialTokens) };
}

/** Encodes the texts of a file with the program that a tokenizer comes from. Returns a line of ids for each text. */
export const askOracle = (texts: string, [path, ...oracle]: readonly string[]): Promise<string[]> =>
  ask([join(home, "python/bin/python"), join(import.meta.dir, "oracle.py")], texts, [path!, ...oracle]);

/** Encodes the texts of a file with llama.cpp. Returns a line of ids for each text. */
export const askLlama = (texts: string, path: string): Promise<string[]> =>
  ask(["node", join(import.meta.dir, "llama.mjs")], texts, [path]);

async function ask(program: readonly string[], texts: string, args: readonly string[]): Promise<string[]> {
  const out = `${texts}.ids`;
  const asked = Bun.spawn([...program, texts, out, ...args], { stdout: "pipe", stderr: "pipe" });
  const [stderr, code] = await Promise.all([asked.stderr.text(), asked.exited]);
  if (code !== 0) throw new Error(`${program.at(-1)} failed: ${stderr}`);
  return linesOf(readFileSync(out, "latin1"));
}

export const tokenizerOptions = (tokenizer: RealTokenizer) => [
  ...["--tokenizer", pathOf(tokenizer), ...(tokenizer.options ?? [])],
];

export const encode = (args: readonly string[], tokenizer: RealTokenizer) =>
  finish(["encode", ...args, ...tokenizerOptions(tokenizer)]);

/**
 * Runs `bpe` without blocking, so that several runs can be under way at once. Checks that it succeeds, and returns its
 * output.
 */
export async function finish(args: readonly string[]): Promise<string> {
  const run = Bun.spawn([binary, ...args, "-q"], { env: {}, stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([
    new Response(run.stdout).arrayBuffer(),
    run.stderr.text(),
    run.exited,
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(stdout);
}

export const linesOf = (text: string) => text.split("\n").slice(0, -1);
