import type { Input } from "#corpus";
import { vocabularyStatistics } from "#evaluation";
import { idWriters } from "#ids";
import { files } from "#runtime";
import { type TokenizerParts, tokenizers, tokenTables } from "#tokenizer";

/** How often each token occurs in texts, in how many documents, and how many tokens each script takes. */
export type Counted = {
  readonly counts: Float64Array;
  readonly idCount: number;
  /** The number of documents that have tokens. */
  readonly documentCount: number;
  /** The number of documents in which each token occurs, by id. */
  readonly documentCounts: Uint32Array;
  /** The number of the last document in which each token occurs, by id; 0 for a token that does not occur. */
  readonly lastDocuments: Uint32Array;
  readonly inputs: readonly CountedInput[];
  /** Tokens by the script of their first letter, or, without letters, by the kind of their characters. */
  readonly scripts: readonly ScriptCounts[];
};

/** An input, and which documents it has. Documents are numbered from 1 through all inputs. */
export type CountedInput = {
  readonly name: string;
  readonly firstDocument: number;
  readonly documentCount: number;
};

export type ScriptCounts = { readonly name: string; readonly tokens: number; readonly bytes: number };

/**
 * Counts the tokens of documents. Documents end as in `bpe encode`: with a record or an input of plain text, and within
 * plain text after the token that ends documents.
 */
export class TextSurvey implements idWriters.IdSink {
  private readonly counts: Float64Array;
  private readonly documentCounts: Uint32Array;
  private readonly lastDocuments: Uint32Array;
  private readonly scripts: ScriptSurvey;
  private readonly documentEndId: number | undefined;
  private readonly inputs: CountedInput[] = [];
  private idCount = 0;
  private documentCount = 0;
  /** The number of the current document. */
  private document = 1;
  /** How many ids of the current document were counted. */
  private idsInDocument = 0;
  /** The number of the current input's first document. */
  private firstDocument = 1;

  constructor(
    private readonly paths: readonly Pick<Input, "path">[],
    parts: TokenizerParts,
  ) {
    const { idLimit } = parts.tokens;
    this.counts = new Float64Array(idLimit);
    this.documentCounts = new Uint32Array(idLimit);
    this.lastDocuments = new Uint32Array(idLimit);
    this.scripts = new ScriptSurvey(parts);
    this.documentEndId = tokenizers.findDocumentEndId(parts);
  }

  write(ids: Uint16Array | Uint32Array, recordEnds?: Uint32Array): void {
    let start = 0;
    for (const end of recordEnds ?? idWriters.endsAfter(ids, this.documentEndId)) {
      this.count(ids, start, end);
      this.endDocument();
      start = end;
    }
    this.count(ids, start, ids.length);
  }

  private count(ids: Uint16Array | Uint32Array, start: number, end: number): void {
    const { counts, documentCounts, lastDocuments, document, scripts } = this;
    for (let i = start; i < end; i++) {
      const id = ids[i]!;
      counts[id]!++;
      if (lastDocuments[id] !== document) {
        lastDocuments[id] = document;
        documentCounts[id]!++;
      }
      scripts.add(id);
    }
    this.idCount += end - start;
    this.idsInDocument += end - start;
  }

  private endDocument(): void {
    if (this.idsInDocument > 0) this.documentCount++;
    this.idsInDocument = 0;
    this.document++;
    this.scripts.dropPending();
  }

  endInput(): void {
    if (this.idsInDocument > 0) this.endDocument();
  }

  endTask({ endsInput, inputIndex }: { readonly endsInput: boolean; readonly inputIndex: number }): void {
    if (!endsInput) return;
    const { firstDocument, document } = this;
    const name = files.nameOf(this.paths[inputIndex]!.path);
    this.inputs.push({ name, firstDocument, documentCount: document - firstDocument });
    this.firstDocument = document;
  }

  result(): Counted {
    const { counts, idCount, documentCount, documentCounts, lastDocuments, inputs } = this;
    const scripts = this.scripts.result();
    return { counts, idCount, documentCount, documentCounts, lastDocuments, inputs, scripts };
  }
}

// Classes of tokens: 0 if a token has not been classified yet, `incomplete`, `special`, and from `firstScript` on, one
// for each script or kind of characters.
/** A token whose bytes are not whole characters. */
const incomplete = 1;
/** An added token, whether special or not. */
const special = 2;
const firstScript = 3;

/** The maximum number of pending bytes, which are not whole characters yet. If there are more, all are dropped. */
const pendingBytesMax = 64;
/**
 * At most this many pending bytes are packed into a number, under which `known` stores their class. More bytes are
 * classified each time.
 */
const packedBytesMax = 4;

/**
 * Counts tokens and bytes by script. A token counts for the script of its first letter. Consecutive tokens that are
 * parts of characters are joined first, and classified like one token.
 */
class ScriptSurvey {
  private readonly names: string[] = [];
  private readonly tokens: number[] = [];
  private readonly bytes: number[] = [];
  private readonly classes: Uint8Array;
  private readonly known = new Map<number, number>();
  private readonly pending: number[] = [];
  private pendingTokens = 0;

  constructor(private readonly parts: TokenizerParts) {
    this.classes = new Uint8Array(parts.tokens.idLimit);
    for (const { id } of tokenizers.allAddedTokens(parts)) this.classes[id] = special;
  }

  add(id: number): void {
    const found = this.classes[id]! || this.classify(id);
    if (found === incomplete) {
      this.addPart(id);
      return;
    }
    if (this.pendingTokens > 0) this.dropPending();
    if (found === special) return;
    const { starts } = this.parts.tokens;
    this.credit(found, 1, starts[id + 1]! - starts[id]!);
  }

  /** Drops the pending bytes, without counting them. */
  dropPending(): void {
    this.pending.length = 0;
    this.pendingTokens = 0;
  }

  result(): ScriptCounts[] {
    return this.names.map((name, i) => ({ name, tokens: this.tokens[i]!, bytes: this.bytes[i]! }));
  }

  private addPart(id: number): void {
    const { starts, bytes } = this.parts.tokens;
    const { pending } = this;
    for (let at = starts[id]!; at < starts[id + 1]!; at++) pending.push(bytes[at]!);
    this.pendingTokens++;
    const found = this.classOfPending();
    if (found === incomplete && pending.length <= pendingBytesMax) return;
    if (found !== incomplete) this.credit(found, this.pendingTokens, pending.length);
    this.dropPending();
  }

  private classOfPending(): number {
    const { pending, known } = this;
    const key =
      pending.length > packedBytesMax ? 0 : pending.reduce((packed, byte) => 256 * packed + byte, 1);
    const found = known.get(key) ?? this.classOf(Uint8Array.from(pending));
    if (key > 0 && found !== incomplete) known.set(key, found);
    return found;
  }

  private credit(found: number, tokens: number, bytes: number): void {
    this.tokens[found - firstScript]! += tokens;
    this.bytes[found - firstScript]! += bytes;
  }

  private classify(id: number): number {
    const found = this.classOf(tokenTables.bytesOf(this.parts.tokens, id));
    this.classes[id] = found;
    return found;
  }

  private classOf(bytes: Uint8Array): number {
    const name = vocabularyStatistics.scriptOrKindOf(bytes);
    if (name === undefined) return incomplete;
    if (!this.names.includes(name)) {
      this.names.push(name);
      this.tokens.push(0);
      this.bytes.push(0);
    }
    return firstScript + this.names.indexOf(name);
  }
}
