import { forEachToken, type JoinedText } from "../joined-text.ts";
import { blocksOf, type TextBlock } from "../text-blocks.ts";

/** A block on the page. `top` and `bottom` are in pixels relative to the text. */
type Placed = TextBlock & {
  readonly element: HTMLElement;
  top: number;
  bottom: number;
  /**
   * The left, top, width and height of each unit (text-blocks.ts), in pixels relative to the text; undefined if not
   * measured yet.
   */
  boxes: Float32Array | undefined;
};

const colourNames = ["k0", "k1", "k2", "k3", "ink", "rule", "s0"] as const;
type Colours = Record<(typeof colourNames)[number], string>;

/**
 * When the canvas is moved, it covers this many pixels above and below the viewport, too, so that scrolling shows
 * colours at once.
 */
const aroundPixels = 80;

/** A part of a token on one line. */
type Box = [left: number, top: number, right: number, bottom: number];

/**
 * A text coloured by its tokens after any number of merges. The colours are painted on a canvas under the text, so its
 * elements never change, and no line shifts from one step to the next.
 */
export class ShownText {
  private readonly canvas = document.createElement("canvas");
  private readonly lines = document.createElement("div");
  private readonly pen = this.canvas.getContext("2d")!;
  private blocks: Placed[] = [];
  private text: JoinedText | undefined;
  private merges = 0;
  /** The byte whose token was selected by keyboard; -1 if none. */
  private cursor = -1;
  private scrolled = 0;
  private canvasTop = 0;
  private colours: Colours | undefined;
  private isPlaced = false;

  constructor(
    private readonly place: HTMLElement,
    /** Receives the token under the pointer or selected by keyboard. */
    private readonly point: (token: number) => void,
    private readonly choose: (token: number) => void,
  ) {
    place.replaceChildren(this.lines);
    place.addEventListener("scroll", () => this.scroll(), { passive: true });
    const resized = new ResizeObserver(() => this.layOut());
    resized.observe(place);
    resized.observe(this.lines);
    for (const query of ["(prefers-color-scheme: dark)", "print"]) {
      matchMedia(query).addEventListener("change", () => {
        this.colours = undefined;
        this.draw();
      });
    }
    place.addEventListener("pointermove", (event) => this.hear(event, this.point));
    place.addEventListener("click", (event) => this.hear(event, this.choose));
    place.addEventListener("keydown", (event) => this.press(event));
  }

  open(text: JoinedText): void {
    this.text = text;
    this.cursor = -1;
    this.blocks = blocksOf(text).map((block) => {
      const element = document.createElement("p");
      element.dir = "auto";
      element.textContent = block.shown;
      return { ...block, element, top: 0, bottom: 0, boxes: undefined };
    });
    this.isPlaced = false;
    this.lines.replaceChildren(this.canvas, ...this.blocks.map(({ element }) => element));
    if (this.scrolled > 0) this.place.scrollTop = 0;
    requestAnimationFrame(() => this.isPlaced || this.layOut());
  }

  /** Shows the text after a number of merges. */
  showAfter(merges: number): void {
    this.merges = merges;
    this.draw();
  }

  /** Measures where the blocks are, and fits the canvas to the viewport. */
  private layOut(): void {
    const { top } = this.lines.getBoundingClientRect();
    for (const block of this.blocks) {
      const box = block.element.getBoundingClientRect();
      block.top = box.top - top;
      block.bottom = box.bottom - top;
      block.boxes = undefined;
    }
    const ratio = devicePixelRatio;
    const [width, height] = [this.place.clientWidth, this.place.clientHeight + 2 * aroundPixels];
    this.canvas.width = Math.ceil(width * ratio);
    this.canvas.height = Math.ceil(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.isPlaced = true;
    this.moveCanvas();
  }

  private scroll(): void {
    this.scrolled = this.place.scrollTop;
    const around = this.scrolled - this.canvasTop;
    if (around < 0 || around > 2 * aroundPixels) this.moveCanvas();
  }

  private moveCanvas(): void {
    this.canvasTop = Math.max(0, this.scrolled - aroundPixels);
    this.canvas.style.transform = `translateY(${this.canvasTop}px)`;
    this.draw();
  }

  private draw(): void {
    if (!this.isPlaced) return;
    const { pen, canvas } = this;
    const ratio = devicePixelRatio;
    const bottom = this.canvasTop + canvas.height / ratio;
    this.colours ??= coloursOf(this.lines, getComputedStyle(this.lines));
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    const framed: Box[] = [];
    for (const block of this.blocks)
      if (block.bottom >= this.canvasTop && block.top <= bottom) this.drawBlock(block, framed);
    this.frame(framed, this.colours.ink, 1.5);
    if (this.cursor >= 0) this.frame(this.boxesAt(this.cursor), this.colours.s0, 3);
  }

  private frame(boxes: readonly Box[], colour: string, width: number): void {
    const { pen } = this;
    pen.strokeStyle = colour;
    pen.lineWidth = width * devicePixelRatio;
    for (const [left, top, right, bottom] of boxes) pen.strokeRect(left, top, right - left, bottom - top);
  }

  /** Paints the tokens of a block, and adds the boxes of the next merge's occurrences to `framed`. */
  private drawBlock(block: Placed, framed: Box[]): void {
    const { pen, merges } = this;
    const { joinedBy } = this.text!;
    const { k0, k1, k2, k3, rule } = this.colours!;
    const { wordStarts, firstWord } = block;
    const find = this.finder(block);
    for (let w = 0; w + 1 < wordStarts.length; w++) {
      const [from, to] = [wordStarts[w]!, wordStarts[w + 1]!];
      // Even and odd words have a pair of colours each, and every word starts with the first of its pair. So a change
      // in one word recolours no other word.
      const colours = (firstWord + w) % 2 === 0 ? [k0, k1] : [k2, k3];
      let index = 0;
      forEachToken(this.text!, merges, [from, to], (token, start, end) => {
        const boxes = find(start, end);
        pen.fillStyle = token < 0 ? rule : colours[index++ % 2]!;
        for (const [left, top, right, bottom] of boxes) pen.fillRect(left, top, right - left, bottom - top);
        if ((start > from && joinedBy[start] === merges) || (end < to && joinedBy[end] === merges))
          framed.push(...boxes);
      });
    }
  }

  /**
   * Returns a function that finds the boxes of a token in canvas pixels. That function must be called with tokens in
   * order.
   */
  private finder(block: Placed): (start: number, end: number) => Box[] {
    block.boxes ??= this.measure(block);
    const { boxes, unitStarts } = block;
    const ratio = devicePixelRatio;
    const snapped = (pixels: number) => Math.round(pixels * ratio);
    let unit = 0;
    return (start, end) => {
      const found: Box[] = [];
      while (unitStarts[unit + 1]! <= start) unit++;
      for (let at = unit; unitStarts[at]! < end; at++) {
        const [from, to] = [unitStarts[at]!, unitStarts[at + 1]!];
        const part = boxes[4 * at + 2]! / (to - from);
        const x = boxes[4 * at]!;
        const y = boxes[4 * at + 1]! - this.canvasTop;
        const left = snapped(x + part * (Math.max(start, from) - from));
        const right = snapped(x + part * (Math.min(end, to) - from));
        const top = snapped(y);
        const last = found.at(-1);
        // Widths are fractional, so adjacent units may be a pixel apart.
        const touches = (a: number, b: number) => last?.[1] === top && Math.abs(a - b) <= 1;
        if (last !== undefined && touches(last[2], left)) last[2] = right;
        else if (last !== undefined && touches(last[0], right)) last[0] = left;
        else found.push([left, top, right, snapped(y + boxes[4 * at + 3]!)]);
      }
      return found;
    };
  }

  private measure({ element, unitOffsets }: Placed): Float32Array {
    const origin = this.lines.getBoundingClientRect();
    const text = element.firstChild!;
    const range = document.createRange();
    const boxes = new Float32Array(4 * (unitOffsets.length - 1));
    for (let unit = 0; unit + 1 < unitOffsets.length; unit++) {
      range.setStart(text, unitOffsets[unit]!);
      range.setEnd(text, unitOffsets[unit + 1]!);
      const { left, top, width, height } = range.getBoundingClientRect();
      boxes.set([left - origin.left, top - origin.top - 2, width, height + 4], 4 * unit);
    }
    return boxes;
  }

  /** Returns the boxes of the token at this byte. */
  private boxesAt(byte: number): Box[] {
    const found = this.tokenAt(byte);
    return found === undefined ? [] : this.finder(found.block)(found.start, found.end);
  }

  /** Returns the token at this byte after `merges` merges. */
  private tokenAt(byte: number): { block: Placed; token: number; start: number; end: number } | undefined {
    const block = this.blocks.find(({ unitStarts }) => byte < unitStarts.at(-1)!);
    const w = block?.wordStarts.findLastIndex((start) => start <= byte) ?? -1;
    if (block === undefined || w < 0) return undefined;
    let found: { block: Placed; token: number; start: number; end: number } | undefined;
    forEachToken(
      this.text!,
      this.merges,
      [block.wordStarts[w]!, block.wordStarts[w + 1]!],
      (token, start, end) => {
        if (start <= byte && byte < end) found = { block, token, start, end };
      },
    );
    return found;
  }

  /** Calls `tell` with the token under the pointer. */
  private hear({ clientX, clientY }: MouseEvent, tell: (token: number) => void): void {
    const origin = this.lines.getBoundingClientRect();
    const [x, y] = [clientX - origin.left, clientY - origin.top];
    const block = this.blocks.find(({ top, bottom }) => top <= y && y < bottom);
    if (block?.boxes === undefined) return;
    const { boxes, unitStarts } = block;
    for (let unit = 0; unit + 1 < unitStarts.length; unit++) {
      const [left, top, width, height] = boxes.subarray(4 * unit, 4 * unit + 4) as unknown as number[];
      if (x < left! || x >= left! + width! || y < top! || y >= top! + height!) continue;
      const length = unitStarts[unit + 1]! - unitStarts[unit]!;
      tell(this.tokenAt(unitStarts[unit]! + Math.floor(((x - left!) / width!) * length))!.token);
      return;
    }
  }

  /**
   * Handles a key: the left and right arrows move the cursor from token to token, and Enter chooses the token at the
   * cursor.
   */
  private press(event: KeyboardEvent): void {
    const { key } = event;
    if (event.altKey || event.ctrlKey || event.metaKey || this.text === undefined) return;
    const at = this.tokenAt(this.cursor);
    if (key === "Enter" && at !== undefined) this.choose(at.token);
    else if (key === "ArrowRight" || key === "ArrowLeft") {
      const next = key === "ArrowLeft" ? (at?.start ?? 0) - 1 : (at?.end ?? 0);
      const found = this.tokenAt(Math.max(0, Math.min(this.text.bytes.length - 1, next)));
      if (found === undefined) return;
      this.cursor = found.start;
      this.reveal(found.block);
      this.point(found.token);
      this.draw();
    } else return;
    event.preventDefault();
  }

  private reveal(block: Placed): void {
    block.boxes ??= this.measure(block);
    const unit = block.unitStarts.findLastIndex((start) => start <= this.cursor);
    const [, top, , height] = block.boxes.subarray(4 * unit, 4 * unit + 4) as unknown as number[];
    const seen = this.place.clientHeight;
    if (top! < this.scrolled) this.place.scrollTop = top!;
    else if (top! + height! > this.scrolled + seen) this.place.scrollTop = top! + height! - seen;
  }
}

/** Returns the colours of the style sheet for the canvas. */
function coloursOf({ style }: HTMLElement, computed: CSSStyleDeclaration): Colours {
  const resolved = colourNames.map((name) => {
    style.color = `var(--${name})`;
    return [name, computed.color];
  });
  style.color = "";
  return Object.fromEntries(resolved) as Colours;
}
