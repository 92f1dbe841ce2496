import { schema } from "#bytes";
import { type Message, phrase, UserError, usageError } from "#runtime";
import { TextSections, type TextSink } from "./text-sections.ts";

/**
 * The steps of which a normalization can consist: Unicode's normal forms, and lower case, which changes each character
 * by itself. The kernel identifies a step by its index in this list.
 */
export const stepNames = ["NFC", "NFD", "NFKC", "NFKD", "lowercase"] as const;
export type Step = (typeof stepNames)[number];

/** Steps in order, separated by commas: "NFC", "NFKC,lowercase". */
export type Normalization = string;

export const stepsOf = (normalization: Normalization) => normalization.split(",") as Step[];

/** Parses the value of `option`, and returns the steps as `stepNames` spells them. */
export function read(option: Message, typed: string): Normalization {
  const steps = typed.split(",").map((asked) => {
    const name = asked.trim().toLowerCase();
    const step = stepNames.find((known) => known.toLowerCase() === name);
    if (step !== undefined) return step;
    throw usageError(
      phrase`${option}: unknown step "${asked.trim()}"`,
      `list steps in order, separated by commas: ${stepNames.join(", ")}`,
    );
  });
  return steps.join(",");
}

/** Checks a normalization that a file states. */
export const check: schema.Check<Normalization> = (value, name) => {
  const steps = schema.text(value, name);
  if (stepsOf(steps).every((step) => stepNames.includes(step))) return steps;
  throw new schema.Mismatch(value, name, `not a list of ${stepNames.join(", ")}`);
};

/** The maximum number of steps that an image can store. */
const stepsMax = 255;

/** Returns the steps as indices of `stepNames`. */
export function stepIndices(normalization: Normalization): number[] {
  const steps = stepsOf(normalization).map((step) => stepNames.indexOf(step));
  if (steps.length > stepsMax)
    throw new UserError(`the normalization has ${steps.length} steps, but may have at most ${stepsMax}`, {
      hint: "leave out steps that occur twice",
    });
  return steps;
}

/** The bit in a character's facts (`factsOf`) that is set if no normalization boundary is before the character. */
const noBoundaryBit = 1 << 10;

/**
 * Normalizes whole texts as HF does, and answers questions about single characters. Bytes that are not valid UTF-8 stay
 * unchanged, and the texts before and after them are normalized separately.
 */
export class TextNormalizer {
  private readonly sections: TextSections;
  private readonly lowers: boolean;
  private static readonly shared = new Map<Normalization, TextNormalizer>();

  constructor(normalization: Normalization) {
    this.sections = new TextSections({ steps: stepIndices(normalization) });
    this.lowers = normalization.includes("lowercase");
  }

  /** Returns the normalizer that all callers with this normalization share. */
  static of(normalization: Normalization): TextNormalizer {
    let found = TextNormalizer.shared.get(normalization);
    if (found === undefined)
      TextNormalizer.shared.set(normalization, (found = new TextNormalizer(normalization)));
    return found;
  }

  normalizeText(text: Uint8Array): Uint8Array<ArrayBuffer> {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    const sink: TextSink = {
      push: (bytes, start, end) => void parts.push(bytes.slice(start, end) as Uint8Array<ArrayBuffer>),
      end() {},
      token() {},
      strip() {},
    };
    this.sections.pushText(text, 0, text.length, sink);
    return parts.length === 1 ? parts[0]! : joined(parts);
  }

  /**
   * Whether the character, which must not be ASCII, is *settled*. A settled character has a normalization boundary
   * before it (`hasBoundaryBefore`). No step changes it, except by composing it with a next character that is not
   * settled.
   */
  isSettled(codePoint: number): boolean {
    return this.sections.kernel.exports.factsOf(codePoint) === 0;
  }

  /**
   * Whether a normalization boundary is before the character (UAX #15): the text before it and the text from it on are
   * then normalized separately.
   */
  hasBoundaryBefore(codePoint: number): boolean {
    return (this.sections.kernel.exports.factsOf(codePoint) & noBoundaryBit) === 0;
  }

  /**
   * Returns the bytes with ASCII letters in lower case if the normalization has the step `lowercase`; otherwise returns
   * them unchanged.
   */
  lowered(bytes: Uint8Array): Uint8Array {
    return this.lowers ? loweredAscii(bytes) : bytes;
  }
}

/** Returns the bytes with ASCII letters in lower case. */
export const loweredAscii = (bytes: Uint8Array) =>
  bytes.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let pos = 0;
  for (const part of parts) {
    all.set(part, pos);
    pos += part.length;
  }
  return all;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Returns the text after all steps, as HF computes it. */
export const normalize = (text: string, normalization: Normalization): string =>
  decoder.decode(TextNormalizer.of(normalization).normalizeText(encoder.encode(text)));
