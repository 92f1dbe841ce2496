// Small SentencePiece models, which sentencepiece-model.py made.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export type Piece = [text: string, score: number, kind: number];
type Answer = { text: string; ids: number[]; decoded: string };
export type Case = {
  pieces: Piece[];
  byteFallback: boolean;
  unknownText: string;
  addsPrefix: boolean;
  answers: Answer[];
};

export const [normal, control, userDefined, unused, byte] = [1, 3, 4, 5, 6] as const;
export const mark = "\u2581";

export const cases = readFileSync(join(import.meta.dir, "sentencepiece-model.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => {
    const given = JSON.parse(line) as Case;
    const spelled = Array.from({ length: given.byteFallback ? 256 : 0 }, (_, value): Piece => {
      return [`<0x${value.toString(16).toUpperCase().padStart(2, "0")}>`, 0, byte];
    });
    return { ...given, pieces: [...given.pieces.slice(0, 2), ...spelled, ...given.pieces.slice(2)] };
  });

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))];
export const integer = (number: number, value: number) => [...varint(number * 8), ...varint(value)];
export const bytes = (number: number, value: Iterable<number>) => {
  const list = [...value];
  return [...varint(number * 8 + 2), ...varint(list.length), ...list];
};
const float = (number: number, value: number) => [
  ...varint(number * 8 + 5),
  ...new Uint8Array(Float32Array.of(value).buffer),
];

export type Settings = { modelType?: number; trainer?: number[]; normalizer?: number[]; others?: number[] };

/**
 * Returns the bytes of a model. The fields in `settings` come last, because a later field of a message replaces an
 * earlier one.
 */
export function modelOf({ pieces, byteFallback, unknownText, addsPrefix }: Case, settings: Settings = {}) {
  const { modelType = 2, trainer = [], normalizer = [], others = [] } = settings;
  const listed = pieces.flatMap(([text, score, kind]) =>
    bytes(1, [...bytes(1, Buffer.from(text)), ...float(2, score), ...integer(3, kind)]),
  );
  const trainerSpec = [
    ...integer(3, modelType),
    ...integer(35, Number(byteFallback)),
    ...bytes(44, Buffer.from(unknownText)),
    ...trainer,
  ];
  const normalizerSpec = [
    ...bytes(1, Buffer.from("identity")),
    ...integer(3, Number(addsPrefix)),
    ...integer(4, 0),
    ...normalizer,
  ];
  return Uint8Array.from([...listed, ...bytes(2, trainerSpec), ...bytes(3, normalizerSpec), ...others]);
}
