import { type json, schema } from "#bytes";
import type { AddedToken } from "#text";
import type { tokenizers } from "#tokenizer";

const noPostProcessing: tokenizers.PostProcessing = { before: [], after: [], trims: [] };

/**
 * Parses HF's `post_processor`. Encoding works without it, so if it cannot be read, the result has the reason as its
 * `obstacle`, and nothing is thrown.
 */
export function readPostProcessor(value: unknown): tokenizers.PostProcessing {
  if (value === null || value === undefined) return noPostProcessing;
  try {
    return readStep(value as json.JsonObject);
  } catch (error) {
    if (!(error instanceof schema.Mismatch)) throw error;
    return {
      ...noPostProcessing,
      obstacle: `the post-processor of the tokenizer cannot be read: ${error.message}`,
    };
  }
}

function readStep(step: json.JsonObject): tokenizers.PostProcessing {
  const { type } = schema.object({ type: schema.text })(step, "post_processor");
  switch (type) {
    case "ByteLevel":
      return { ...noPostProcessing, trims: trimsOf(step) };
    case "Sequence": {
      const { processors } = schema.object({
        processors: schema.list<json.JsonObject>((inner) => inner as json.JsonObject),
      })(step, type);
      return processors.map(readStep).reduce(chainSteps, noPostProcessing);
    }
    case "TemplateProcessing":
      return readTemplate(step);
    case "BertProcessing":
    case "RobertaProcessing": {
      const { cls, sep } = schema.object({ cls: pair, sep: pair })(step, type);
      return { before: [cls], after: [sep], trims: type === "RobertaProcessing" ? trimsOf(step) : [] };
    }
    default:
      return {
        ...noPostProcessing,
        obstacle: `the post-processor of the tokenizer has an unknown step, ${type}`,
      };
  }
}

function chainSteps(
  one: tokenizers.PostProcessing,
  other: tokenizers.PostProcessing,
): tokenizers.PostProcessing {
  const adds = ({ before, after }: tokenizers.PostProcessing) => before.length + after.length > 0;
  // Two steps that add tokens are not supported. In HF, the second step would treat each token that the first one added
  // as a text of its own.
  const twice = adds(one) && adds(other) ? "two steps of the post-processor add tokens" : undefined;
  const obstacle = one.obstacle ?? other.obstacle ?? twice;
  return {
    before: [...other.before, ...one.before],
    after: [...one.after, ...other.after],
    trims: [...one.trims, ...other.trims],
    ...(obstacle !== undefined && { obstacle }),
  };
}

/**
 * If the step trims spaces from offsets, returns a list of one flag: whether the step keeps one space before the first
 * token. Otherwise, returns an empty list.
 */
function trimsOf(step: json.JsonObject): boolean[] {
  const flags = { trim_offsets: schema.flag, add_prefix_space: schema.flag };
  const { trim_offsets, add_prefix_space } = schema.object(flags)(step, String(step.type));
  return trim_offsets ? [add_prefix_space] : [];
}

const id = schema.wholeNumber();

/** Parses `["<s>", 0]` into its id. */
function pair(value: unknown, name: string): number {
  if (!Array.isArray(value) || value.length !== 2)
    throw new schema.Mismatch(value, name, "not a pair of token and id");
  return id(value[1], name);
}

const pieces = schema.list(
  schema.object({
    SpecialToken: schema.optional(schema.object({ id: schema.text })),
    Sequence: schema.optional(schema.object({ id: schema.text })),
  }),
);

function readTemplate(step: json.JsonObject): tokenizers.PostProcessing {
  const single = pieces(step.single, "TemplateProcessing.single");
  const specials = (step.special_tokens ?? {}) as json.JsonObject;
  const at = single.findIndex(({ Sequence }) => Sequence !== undefined);
  const idsOf = (some: typeof single) =>
    some.flatMap(({ SpecialToken }) => {
      const special = Object.hasOwn(specials, SpecialToken!.id) ? specials[SpecialToken!.id] : undefined;
      return schema.object({ ids: schema.list(id) })(special, `special_tokens.${SpecialToken!.id}`).ids;
    });
  const [before, after] = [single.slice(0, at), single.slice(at + 1)];
  if (at < 0 || [...before, ...after].some(({ SpecialToken }) => SpecialToken === undefined))
    return {
      ...noPostProcessing,
      obstacle: "the template of the post-processor does not contain the text exactly once",
    };
  return { before: idsOf(before), after: idsOf(after), trims: [] };
}

/**
 * Returns the post-processing of a tokenizer whose file stores none, as `recorded`, the training record or a new
 * training, says: bos before each text, or nothing.
 */
export function postProcessingOfRecord(
  recorded: { readonly bosInFront: string | undefined } | null,
  addedTokens: readonly AddedToken[],
): { postProcessing?: tokenizers.PostProcessing } {
  const token = addedTokens.find(({ content }) => content === recorded?.bosInFront);
  return token === undefined ? {} : { postProcessing: { ...noPostProcessing, before: [token.id] } };
}
