import { byteToCharacter, decodeCharacters } from "../../bytes/byte-characters.ts";
import { checkOr, fieldsOf, listOf, shown, text, wholeNumber } from "../../bytes/schema.ts";
import { UserError } from "../../errors.ts";
import { boundlessPattern } from "../../pattern/pattern.ts";
import { createSha256 } from "../../runtime/host.ts";
import { checksumMark, operationsMark, operationsVersion } from "../../vocabulary/formats/boundless.ts";
import { partsOfOperations } from "../boundless-parts.ts";
import type { TokenizerParts } from "../tokenizer-parts.ts";
import { readBytes } from "./read-file.ts";

const headFields = fieldsOf({
  version: wholeNumber(1),
  operationCount: wholeNumber(),
  specialTokens: listOf(text),
  reservedCount: wholeNumber(),
});

/** Loads a file of merges and supermerges (src/vocabulary/formats/boundless.ts). */
export function loadBoundlessFile(path: string): TokenizerParts {
  const wrong = (what: string, hint = "train anew, or take it from a copy"): never => {
    throw new UserError(`"${path}": ${what}`, { hint });
  };
  const bytes = readBytes(path);
  const lines = Buffer.from(bytes).toString("utf8").split("\n");
  const { version, operationCount, specialTokens } = readHead(lines[0]!, wrong);
  if (version !== operationsVersion)
    wrong(
      `it has version ${version}, and this program reads ${operationsVersion}`,
      "use the bpe that wrote it, or train anew",
    );
  if (lines.length !== operationCount + 3 || lines.at(-1) !== "")
    wrong(`it says that it has ${operationCount} operations, and has ${Math.max(0, lines.length - 3)}`);

  const numbers = new Map(byteToCharacter.map((character, byte) => [character, byte]));
  const tokens: Uint8Array[] = byteToCharacter.map((_, byte) => Uint8Array.of(byte));
  const areSuper = new Uint8Array(operationCount);
  const [left, right, made] = [0, 1, 2].map(() => new Int32Array(operationCount)) as [
    Int32Array,
    Int32Array,
    Int32Array,
  ];
  for (let k = 0; k < operationCount; k++) {
    const [, kind, leftText, rightText] =
      /^([WS])\t\d+\t(\S+) (\S+)$/.exec(lines[k + 1]!) ??
      wrong(`line ${k + 2} is no operation: ${shown(lines[k + 1])}`);
    const halves = [leftText!, rightText!].map(
      (half) =>
        numbers.get(half) ??
        wrong(`line ${k + 2} needs the token ${shown(half)}, which no line before it makes`),
    );
    const whole = leftText! + rightText!;
    if (!numbers.has(whole)) {
      numbers.set(whole, tokens.length);
      tokens.push(decodeCharacters(whole)!);
    }
    areSuper[k] = kind === "S" ? 1 : 0;
    [left[k], right[k], made[k]] = [halves[0]!, halves[1]!, numbers.get(whole)!];
  }
  // Behind the other checks: they say more. An operation that took another's place is seen only here.
  const checked = bytes.subarray(0, bytes.length - Buffer.byteLength(lines.at(-2)!) - 1);
  const sha256 = createSha256().update(checked).digest("hex");
  if (lines.at(-2) !== `${checksumMark}\t${sha256}`)
    wrong(
      `it is not as it was written: its last line is not "${checksumMark}" and the SHA-256 of all before`,
    );
  return partsOfOperations({
    operations: { areSuper, left, right, made },
    tokens,
    specialTokens,
    pattern: boundlessPattern(),
    path,
    kind: "merges and supermerges of whole pretokens",
  });
}

function readHead(line: string, wrong: (what: string) => never) {
  const notOurs = () => wrong(`its first line is not "${operationsMark}" and its settings`);
  if (!line.startsWith(`${operationsMark}\t`)) notOurs();
  let head: unknown;
  try {
    head = JSON.parse(line.slice(operationsMark.length + 1));
  } catch {
    notOurs();
  }
  return checkOr(headFields, head, (what) => wrong(`its first line: ${what}`));
}
