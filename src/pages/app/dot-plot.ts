import { type Axis, axes } from "#pages";
import { type Child, h, svg } from "./dom.ts";

// A dot plot of values by tokenizer, one row per text.

/** Returns the class of a tokenizer's colour. There are eight colours, which then repeat. */
export const colourOf = (tokenizer: number) => `c${tokenizer % 8}`;

/** A dot in the colour of a tokenizer, next to its name. */
export const key = (tokenizer: number) => h(`i.key.${colourOf(tokenizer)}`);

/**
 * A value of a tokenizer. If `isNamed`, its name and value are written at the dot; other dots are only in the legend.
 */
export type Dot = {
  readonly colour: number;
  readonly value: number;
  readonly name: string;
  readonly shown: string;
  readonly isNamed: boolean;
};

export type DotRow = { readonly name: string; readonly note: string; readonly dots: readonly Dot[] };

const rowHeight = 58;
const nameCharacters = 18;

export const dotPlot = (x: Axis, rows: readonly DotRow[]) =>
  h(
    "figure.dots",
    { tabindex: 0, role: "group", "aria-label": x.title },
    rows.map((row) =>
      h(
        "div",
        h("span", h("b", row.name), h("small", row.note)),
        svg(
          "svg.chart",
          { width: "100%", height: rowHeight, role: "img", "aria-label": spoken(row) },
          gridLines(x),
          dotsOf(x, row.dots),
        ),
      ),
    ),
    h(
      "div",
      { "aria-hidden": "true" },
      h("span"),
      svg("svg.chart", { width: "100%", height: 18 }, tickLabels(x, { y: 13 })),
    ),
    h("figcaption", x.title),
  );

const spoken = ({ dots }: DotRow) => dots.map(({ name, shown }) => `${name}: ${shown}`).join("; ");

const at = (x: Axis, value: number) => axes.lengthOf(axes.placeOn(x, value));

/** Vertical lines at the ticks of a horizontal axis. */
export const gridLines = (x: Axis) =>
  x.ticks.map((tick) => svg("line.grid", { x1: at(x, tick), x2: at(x, tick), y2: "100%" }));

/** The labels of a horizontal axis. `place` is their vertical position. */
export function tickLabels(x: Axis, place: { readonly y: number | string; readonly dy?: number }) {
  const names = axes.tickNames(x);
  return x.ticks.map((tick, i) =>
    svg("text", { x: at(x, tick), ...place, "text-anchor": "middle" }, names[i]),
  );
}

/**
 * Draws dots. Named dots are larger, so they are drawn first and hide no other dot. The name of the first is above its
 * dot, that of the second below.
 */
function dotsOf(x: Axis, dots: readonly Dot[]): Child {
  const values = dots.map(({ value }) => value);
  const [named, others] = [dots.filter(({ isNamed }) => isNamed), dots.filter(({ isNamed }) => !isNamed)];
  const span = { x1: at(x, Math.min(...values)), x2: at(x, Math.max(...values)), y1: "50%", y2: "50%" };
  return [
    svg("line.span", span),
    named.map((dot) => circle(x, dot, 8)),
    others.map((dot) => circle(x, dot, 4)),
    named.map((dot, i) => label(x, dot, i === 0 ? 14 : rowHeight - 5)),
  ];
}

const circle = (x: Axis, { colour, value, name, shown }: Dot, r: number) =>
  svg(`circle.dot.${colourOf(colour)}`, { cx: at(x, value), cy: "50%", r, "data-tip": `${name}: ${shown}` });

function label(x: Axis, { value, name, shown }: Dot, y: number) {
  const place = axes.placeOn(x, value);
  const anchor = place < 0.3 ? "start" : place > 0.7 ? "end" : "middle";
  const short = name.length > nameCharacters ? `${name.slice(0, nameCharacters - 1)}…` : name;
  return svg("text.value", { x: at(x, value), y, "text-anchor": anchor }, `${short} ${shown}`);
}

/** The legend of tokenizer colours. */
export const legend = (names: readonly Child[]) =>
  h(
    "ul.row.legend",
    names.map((name, i) => h("li", key(i), name)),
  );
