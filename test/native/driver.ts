import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile, compilerHere, libraryParts } from "../../scripts/native/build.ts";
import { isSmallScale } from "../../src/runtime/scale.ts";
import { tokenizerImage } from "../../src/tokenizer/image.ts";
import type { TokenizerParts } from "../../src/tokenizer/tokenizer-parts.ts";

const root = join(import.meta.dir, "../..");

/** Compiler flags for gcc's checks: of memory and undefined behaviour, or of data races. */
const kindFlags = {
  plain: [],
  sanitized: ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
  raced: ["-g", "-O1", "-fsanitize=thread"],
} as const;

/** Compiles a program of this directory with the C core. Returns its path, or undefined if there is no C compiler. */
export async function compiled(
  name: "driver" | "damage" | "sessions" | "threads",
  kind: keyof typeof kindFlags = "plain",
): Promise<string | undefined> {
  const compiler = compilerHere();
  if (compiler === undefined) {
    console.error(`not tested: test/native/${name}.c needs a C compiler (cc, gcc or clang)`);
    return undefined;
  }
  const output = join(root, "dist/native/test", `${name}-${kind}${isSmallScale ? "-small" : ""}`);
  const flags = [...compiler.flags, ...kindFlags[kind]];
  await compile(
    { command: compiler.command, flags, isSmallScale },
    { parts: libraryParts, sources: [join(import.meta.dir, `${name}.c`)], linking: ["-pthread"], output },
  );
  return output;
}

const kinds = ["encode", "count", "decode", "offsets", "slices", "cuts", "form", "recode"] as const;

export type Question = {
  readonly kind: (typeof kinds)[number];
  readonly bytes: Uint8Array;
  readonly specialsAsText?: boolean;
  readonly inCharacters?: boolean;
  /** For the question "count", the limit; for "slices", the minimum size in bytes; for "cuts", see driver.c. */
  readonly number?: number;
};

/** An answer of driver.c: bytes (text or 32-bit numbers), or an error. */
export type Answer = Buffer | Error;

export const numbersOf = (answer: Answer) => {
  if (answer instanceof Error) throw answer;
  const numbers = new Uint32Array(answer.length / 4);
  new Uint8Array(numbers.buffer).set(answer);
  return numbers;
};

/** Asks driver.c questions about a tokenizer, which it loads from an image. */
export function ask(driver: string, parts: TokenizerParts, questions: readonly Question[]): Answer[] {
  const directory = mkdtempSync(join(tmpdir(), "bpe-test-"));
  const imagePath = join(directory, "image");
  writeFileSync(imagePath, tokenizerImage(parts, {}));
  const input = Buffer.concat(questions.flatMap((question) => [headOf(question), question.bytes]));
  const { exitCode, signalCode, stdout, stderr } = Bun.spawnSync([driver, imagePath], { stdin: input });
  rmSync(directory, { recursive: true });
  if (exitCode !== 0) throw new Error(`the driver ends with ${signalCode ?? exitCode}: ${stderr}`);
  const answers: Answer[] = [];
  for (let at = 0; at < stdout.length; ) {
    const [isRight, size] = [stdout.readUInt32LE(at), stdout.readUInt32LE(at + 4)];
    const bytes = stdout.subarray(at + 8, at + 8 + size);
    answers.push(isRight ? bytes : new Error(bytes.toString()));
    at += 8 + size;
  }
  if (answers.length !== questions.length) throw new Error("the driver has not answered all");
  return answers;
}

function headOf({ kind, bytes, specialsAsText = false, inCharacters = false, number = 0 }: Question) {
  const flags = Number(specialsAsText) | (2 * Number(inCharacters));
  const head = Uint32Array.of(kinds.indexOf(kind), flags, number, bytes.length);
  return new Uint8Array(head.buffer);
}
