import { escapeBytes } from "../../bytes/escape.ts";
import { lineFeed, space } from "../../bytes/text.ts";
import { forEachToken, type JoinedText, neverJoined } from "../joined-text.ts";

/** A block of text ends at a line end, or, if it gets longer than this, at a space. */
const blockBytes = 480;

/** What no merge joins with the text beside it: a word as the pattern cuts it. */
type Word = {
  readonly element: HTMLElement;
  readonly start: number;
  readonly end: number;
};

type Block = {
  readonly element: HTMLElement;
  readonly words: readonly Word[];
  /** The merges after which it is drawn now; -1: not yet. */
  drawnAt: number;
};

/**
 * A text, coloured by its tokens after any number of merges. Only what is seen is drawn, and of that only the words that differ
 * from what is drawn there: a step costs little, however long the text is. Tokens have no room beside them, so the lines stay
 * where they are; and their colours begin anew in each word, so other words keep theirs.
 */
export class ShownText {
  private blocks: Block[] = [];
  private text: JoinedText | undefined;
  private merges = 0;

  constructor(private readonly place: HTMLElement) {
    place.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(place);
  }

  /** Another text. */
  open(text: JoinedText): void {
    this.text = text;
    this.blocks = blocksOf(text).map((words) => {
      const element = document.createElement("p");
      element.dir = "auto";
      element.append(...words.map((word) => word.element));
      return { element, words, drawnAt: -1 };
    });
    this.place.replaceChildren(...this.blocks.map(({ element }) => element));
    this.place.scrollTop = 0;
  }

  /** The text after so many merges. */
  showAfter(merges: number): void {
    this.merges = merges;
    this.draw();
  }

  private draw(): void {
    const { top, bottom } = this.place.getBoundingClientRect();
    const seen = this.blocks.filter(({ element, drawnAt }) => {
      if (drawnAt === this.merges) return false;
      const box = element.getBoundingClientRect();
      return box.bottom >= top && box.top <= bottom;
    });
    for (const block of seen) this.drawBlock(block);
  }

  private drawBlock(block: Block): void {
    const { joinedBy } = this.text!;
    const [low, high] = [block.drawnAt, this.merges].sort((a, b) => a - b) as [number, number];
    const changes = ({ start, end }: Word) => {
      // The last step is drawn, too: it frames what is joined next.
      for (let pos = start + 1; pos < end; pos++)
        if (joinedBy[pos]! >= low && joinedBy[pos]! <= high) return true;
      return false;
    };
    for (const word of block.words) if (block.drawnAt < 0 || changes(word)) this.drawWord(word);
    block.drawnAt = this.merges;
  }

  private drawWord(word: Word): void {
    const { merges } = this;
    const { bytes, joinedBy } = this.text!;
    const pieces: HTMLElement[] = [];
    const isNext = (border: number) =>
      border > word.start && border < word.end && joinedBy[border] === merges;
    forEachToken(this.text!, merges, [word.start, word.end], (token, start, end) => {
      const piece = document.createElement("i");
      piece.textContent = shownText(bytes.subarray(start, end));
      piece.dataset.token = String(token);
      if (token < 0) piece.className = "special";
      else if (isNext(end) || isNext(start)) piece.className = "next";
      pieces.push(piece);
    });
    word.element.replaceChildren(...pieces);
  }
}

/** Text as people read it; a line end has a sign. */
function shownText(bytes: Uint8Array): string {
  let shown = "";
  let start = 0;
  for (let pos = bytes.indexOf(lineFeed); pos >= 0; pos = bytes.indexOf(lineFeed, start)) {
    shown += `${escapeBytes(bytes.subarray(start, pos))}↵`;
    start = pos + 1;
  }
  return shown + escapeBytes(bytes.subarray(start));
}

/** The words of a text, in blocks. Until they are drawn they show their text. */
function blocksOf({ bytes, joinedBy }: JoinedText): Word[][] {
  const blocks: Word[][] = [];
  let words: Word[] = [];
  let start = 0;
  const blockStart = () => words[0]?.start ?? start;
  for (let pos = 1; pos <= bytes.length; pos++) {
    if (pos < bytes.length && joinedBy[pos]! < neverJoined) continue;
    const element = document.createElement("span");
    element.textContent = shownText(bytes.subarray(start, pos));
    words.push({ element, start, end: pos });
    start = pos;
    const isLineEnd = bytes[pos - 1] === lineFeed && bytes[pos] !== lineFeed;
    const length = pos - blockStart();
    const isLong = length >= blockBytes && (bytes[pos] === space || length >= 2 * blockBytes);
    if (!isLineEnd && !isLong && pos < bytes.length) continue;
    blocks.push(words);
    words = [];
  }
  return blocks;
}
