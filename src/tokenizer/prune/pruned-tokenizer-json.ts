import { basename } from "node:path";
import type { OutputFile } from "../../vocabulary/formats/output-file.ts";
import { idsOfTokens } from "../load/assemble-model.ts";
import { objectAt, refuse } from "../load/checked-json.ts";
import { readBytes, readJson } from "../load/read-file.ts";
import { scanTokenizerJson } from "../load/scan-tokenizer-json.ts";
import type { TokenizerParts } from "../tokenizer-parts.ts";
import { formOf, jsonWithRows, placeOfRows } from "./json-with-rows.ts";
import { keptRows } from "./kept-rows.ts";
import { type Numbering, newIdOf } from "./token-numbering.ts";

/**
 * HF's `tokenizer.json` with the tokens that stay. Vocabulary and merges are made anew; all else is as it was, with new
 * ids where there are ids. The file stays indented or not, and its merges lists or texts.
 */
export function prunedTokenizerJson(path: string, parts: TokenizerParts, numbering: Numbering): OutputFile {
  const file = readBytes(path);
  const scanned = scanTokenizerJson(file);
  const root = objectAt(scanned === null ? readJson(path) : scanned.root, path, "the tokenizer");
  const model = objectAt(root.model, path, "the model");
  const vocab = scanned?.vocab ?? idsOfTokens(objectAt(model.vocab, path, "the model's vocab"), path);
  const { tokens, merges } = keptRows(vocab, parts.model.merges, numbering, path);
  const value = {
    ...root,
    ...("padding" in root && { padding: renumberPadding(root.padding, numbering, path) }),
    ...("added_tokens" in root && { added_tokens: renumberAdded(root.added_tokens, parts, numbering) }),
    ...("post_processor" in root && { post_processor: renumberStep(root.post_processor, numbering, path) }),
    model: { ...model, vocab: placeOfRows("vocab"), merges: placeOfRows("merges") },
  };
  const form = formOf(file);
  // In a vocabulary that has this key, a number is behind it.
  const areLists = /"merges"\s*:\s*\[\s*\[/.test(file.toString("latin1"));
  const indent = form.isIndented ? 2 : 0;
  return {
    name: basename(path),
    chunks: () =>
      jsonWithRows(value, form, {
        vocab: {
          brackets: "{}",
          *rows() {
            for (const [text, id] of tokens) yield `${JSON.stringify(text)}:${indent > 0 ? " " : ""}${id}`;
          },
        },
        merges: {
          brackets: "[]",
          *rows() {
            for (const halves of merges())
              yield JSON.stringify(areLists ? halves : halves.join(" "), null, indent);
          },
        },
      }),
  };
}

/** HF gives ids to added tokens itself; those in the file are only stated. */
function renumberAdded(value: unknown, { addedTokens }: TokenizerParts, { newIds }: Numbering): unknown {
  if (!Array.isArray(value)) return value;
  const idsByContent = new Map(addedTokens.map(({ content, id }) => [content, id]));
  return value.map((token) => {
    const id = idsByContent.get(token.content);
    return id === undefined ? token : { ...token, id: newIds[id] };
  });
}

function renumberPadding(value: unknown, numbering: Numbering, path: string): unknown {
  if (typeof value !== "object" || value === null || !("pad_id" in value)) return value;
  return { ...value, pad_id: newIdOf(numbering, value.pad_id, path, "padding") };
}

type Step = Record<string, unknown>;

/** The steps of post-processors that have ids, with the new ones. A step that is not known may have ids: a UserError. */
function renumberStep(value: unknown, numbering: Numbering, path: string): unknown {
  if (value === null || value === undefined) return value;
  const step = objectAt(value, path, "the post-processor") as Step;
  const newId = (id: unknown) => newIdOf(numbering, id, path, `the post-processor ${String(step.type)}`);
  switch (step.type) {
    case "ByteLevel":
      return step;
    case "Sequence": {
      const { processors } = step;
      if (!Array.isArray(processors)) refuse(path, "the post-processor Sequence has no list of steps");
      return { ...step, processors: processors.map((each) => renumberStep(each, numbering, path)) };
    }
    case "TemplateProcessing": {
      const specials = objectAt(step.special_tokens ?? {}, path, "special_tokens of the post-processor");
      const renumbered = Object.entries(specials).map(([name, special]) => {
        const token = objectAt(special, path, `the special token ${name} of the post-processor`);
        if (!Array.isArray(token.ids))
          refuse(path, `the special token ${name} of the post-processor has no ids`);
        return [name, { ...token, ids: token.ids.map(newId) }];
      });
      return { ...step, special_tokens: Object.fromEntries(renumbered) };
    }
    case "BertProcessing":
    case "RobertaProcessing": {
      const renumberPair = (pair: unknown) => {
        if (!Array.isArray(pair) || pair.length !== 2)
          refuse(path, "the post-processor has no pair of token and id");
        return [pair[0], newId(pair[1])];
      };
      return { ...step, sep: renumberPair(step.sep), cls: renumberPair(step.cls) };
    }
    default:
      refuse(path, `the post-processor ${String(step.type)} is not known, and may hold ids`);
  }
}
