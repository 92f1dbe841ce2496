import { isUtf8 } from "node:buffer";
import { showValue } from "#bytes";
import { UserError } from "#runtime";
import type { Role } from "#tokenizer";
import { type PieceKind, pieceKinds } from "./finished-tokenizer.ts";
import { messageFields } from "./protobuf.ts";

/** The parts of SentencePiece's `ModelProto` that reading needs (src/sentencepiece_model.proto of its repository). */
export type SentencePieceModel = {
  readonly pieces: readonly Piece[];
  readonly trainer: Trainer;
  readonly normalizer: Normalizer;
  /** Whether decoding replaces text. */
  readonly hasDenormalizer: boolean;
};

/** The index of a piece in the list is its id. */
export type Piece = { readonly text: string; readonly score: number; readonly kind: PieceKind };

/** The model types in the order of their numbers, which start at 1. */
const modelTypes = ["Unigram", "BPE", "Word", "Char"] as const;

type Trainer = {
  readonly modelType: (typeof modelTypes)[number];
  readonly marksEnds: boolean;
  readonly byteFallback: boolean;
  readonly unknownText: string;
  /** The ids of roles. If no piece has such an id (a stored -1 is read as 2^64), no token has the role. */
  readonly roles: Readonly<Record<Role, number>>;
};

type Normalizer = {
  readonly name: string;
  readonly hasRules: boolean;
  readonly addsPrefix: boolean;
  readonly removesSpaces: boolean;
  readonly escapesSpaces: boolean;
};

/** Parses the file. Throws a UserError if it is damaged. */
export function parseSentencePiece(bytes: Uint8Array, path: string): SentencePieceModel {
  try {
    return readModel(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UserError(`"${path}" is a damaged SentencePiece model: ${error.message}`, {
      hint: "copy the file again",
    });
  }
}

function readModel(bytes: Uint8Array): SentencePieceModel {
  const pieces: Piece[] = [];
  const specs = new Map<number, Message>();
  for (const { number, value } of messageFields(bytes)) {
    if (number === 1) pieces.push(readPiece(new Message(value), pieces.length));
    // If a field occurs several times, the messages are joined, as Protocol Buffers requires.
    else if (typeof value !== "number") specs.set(number, new Message(value, specs.get(number)));
  }
  const [trainer, normalizer, denormalizer] = [2, 3, 5].map((number) => specs.get(number) ?? new Message());
  return {
    pieces,
    trainer: {
      modelType: oneOf(modelTypes, trainer!.integer(3, 1), "model type"),
      marksEnds: trainer!.flag(24, false),
      byteFallback: trainer!.flag(35, false),
      unknownText: trainer!.text(44) ?? " \u2047 ",
      roles: {
        unk: trainer!.integer(40, 0),
        bos: trainer!.integer(41, 1),
        eos: trainer!.integer(42, 2),
        pad: trainer!.integer(43, -1),
      },
    },
    normalizer: {
      name: normalizer!.text(1) ?? "",
      hasRules: normalizer!.bytes(2).length > 0,
      addsPrefix: normalizer!.flag(3, true),
      removesSpaces: normalizer!.flag(4, true),
      escapesSpaces: normalizer!.flag(5, true),
    },
    hasDenormalizer: denormalizer!.bytes(2).length > 0,
  };
}

function readPiece(message: Message, id: number): Piece {
  const score = message.bytes(2);
  if (score.length !== 0 && score.length !== 4)
    throw new RangeError(`the score of piece ${id} is not a number of four bytes`);
  return {
    text: message.text(1) ?? "",
    score: score.length === 0 ? 0 : new DataView(score.buffer, score.byteOffset).getFloat32(0, true),
    kind: oneOf(pieceKinds, message.integer(3, 1), `kind of piece ${id}`),
  };
}

function oneOf<T>(kinds: readonly T[], number: number, name: string): T {
  const kind = kinds[number - 1];
  if (kind === undefined) throw new RangeError(`the ${name} is ${number}`);
  return kind;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The fields of a message by their numbers. If a field occurs several times, the last value counts. */
class Message {
  private readonly values: Map<number, number | Uint8Array>;

  constructor(value: number | Uint8Array = new Uint8Array(0), earlier?: Message) {
    if (typeof value === "number") throw new RangeError(`${value} is not a message`);
    this.values = new Map(earlier?.values);
    for (const field of messageFields(value)) this.values.set(field.number, field.value);
  }

  integer(number: number, otherwise: number): number {
    const value = this.values.get(number) ?? otherwise;
    if (typeof value === "number") return value;
    throw new RangeError(`field ${number} is not an integer`);
  }

  flag(number: number, otherwise: boolean): boolean {
    return this.integer(number, Number(otherwise)) !== 0;
  }

  bytes(number: number): Uint8Array {
    const value = this.values.get(number) ?? new Uint8Array(0);
    if (typeof value !== "number") return value;
    throw new RangeError(`field ${number} is the integer ${value}, not bytes`);
  }

  text(number: number): string | undefined {
    if (!this.values.has(number)) return undefined;
    const bytes = this.bytes(number);
    const text = decoder.decode(bytes);
    if (isUtf8(bytes)) return text;
    throw new RangeError(`${showValue(text)} is not UTF-8`);
  }
}
