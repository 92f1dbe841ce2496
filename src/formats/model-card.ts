import { json } from "#bytes";
import { type compiledPatterns, patternForms } from "#pattern";
import { type Normalization, normalForms } from "#text";
import { modelSettings, type Vocabulary, vocabularies } from "#tokenizer";
import type { OutputFile } from "./output-file.ts";

/** The facts for a model card. The card names no file and no directory, because it may be published. */
type CardFacts = {
  readonly vocabulary: Vocabulary;
  readonly pattern: Pick<compiledPatterns.ResolvedPattern, "name" | "sources">;
  readonly normalization: Normalization | null;
  readonly model: modelSettings.ModelSettings;
  readonly like: modelSettings.Like | null;
  readonly compat: string;
  readonly documentCount: number;
  readonly textBytes: number;
  /** Bytes per token of the training text; null if it has no pretokens. */
  readonly bytesPerToken: number | null;
  readonly mergesSha256: string;
  /** The weights of inputs; present only if some input has one. */
  readonly weights?: object;
  /** The version of the program. */
  readonly version: string;
};

/** Returns `README.md` for a model hub. */
export function modelCardFile(facts: CardFacts): OutputFile {
  return { name: "README.md", chunks: () => [new TextEncoder().encode(modelCard(facts))] };
}

function modelCard(facts: CardFacts): string {
  const { vocabulary, pattern, normalization, model, compat, bytesPerToken, mergesSha256, version } = facts;
  const { size, mergeCount, specialTokens, reservedCount } = vocabulary;
  const given = specialTokens.slice(0, specialTokens.length - reservedCount);
  const specials = given.map((token) => code(token) + rolesOf(token, model));
  const later = facts.like?.laterTokens.map(({ content }) => content) ?? [];
  const reserved = vocabularies.reservedOf(vocabulary).filter((text) => !later.includes(text));
  const [name, ...splits] = pattern.name === null ? [null, ...pattern.sources] : [pattern.name];
  const rows = [
    `**Vocabulary**: ${grouped(size)} tokens: 256 bytes, ${counted(mergeCount, "merge")}, ${counted(specialTokens.length, "special token")}.`,
    specials.length > 0 && `**Special tokens**: ${specials.join(", ")}.`,
    later.length > 0 && `**Other added tokens**: ${later.map(code).join(", ")}.`,
    reserved.length > 0 && `**Reserved**: ${code(reserved[0]!)} to ${code(reserved.at(-1)!)}.`,
    `**Pretokenizer**: ${name === null ? splits.map(code).join(", then ") : code(name!)}.`,
    normalization !== null &&
      `**Normal form of text**: ${normalForms.stepsOf(normalization).join(", then ")}.`,
    `**llama.cpp**: ${patternForms.describeLlamaCpp(pattern.name)}.`,
    facts.textBytes > 0 &&
      `**Trained on**: ${grouped(facts.textBytes)} bytes of text in ${counted(facts.documentCount, "document")}${
        bytesPerToken === null ? "" : `, ${bytesPerToken.toFixed(3)} bytes per token`
      }${facts.weights === undefined ? "" : ", by the weights of its inputs"}.`,
    `**Trained with**: [bpe](https://pypi.org/project/bpe_trainer/) ${version}, with the rules of ${code(compat)}.`,
    `**SHA-256 of the merges**: ${code(mergesSha256)}.`,
  ].filter((fact) => fact !== false);
  return [
    "---\nlibrary_name: transformers\ntags:\n- tokenizer\n- byte-level-bpe\n---\n",
    `# A tokenizer of ${grouped(size)} tokens\n`,
    `Byte-level BPE: every text can be encoded, and decodes to ${
      normalization === null ? "the same bytes" : "its normal form"
    }.\n`,
    `${rows.map((fact) => `- ${fact}`).join("\n")}\n`,
    "## Use\n",
    "```python",
    "from transformers import AutoTokenizer\n",
    'tokenizer = AutoTokenizer.from_pretrained("this/directory")',
    'ids = tokenizer("some text")["input_ids"]',
    ...(model.chatTemplate === null
      ? []
      : ['chat = [{"role": "user", "content": "Hello"}]', "ids = tokenizer.apply_chat_template(chat)"]),
    "```\n",
  ].join("\n");
}

const counted = (count: number, noun: string) => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
const grouped = (count: number) => count.toLocaleString("en-US");

function rolesOf(token: string, { roles }: modelSettings.ModelSettings): string {
  const names = modelSettings.roleNames.filter((role) => roles[role] === token);
  return names.length === 0 ? "" : ` (${names.join(", ")})`;
}

/** Formats any text as inline code in Markdown. Invisible characters become escapes as in JSON: `\n`, `\u200b`. */
function code(text: string): string {
  const shown = json.line(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("\\\\", "\\");
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = /^`|`$|^ .* $/.test(shown) ? " " : "";
  return fence + pad + shown + pad + fence;
}
