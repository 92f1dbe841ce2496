import type { Axis } from "../axes.ts";
import * as axes from "../axes.ts";
import { type Child, h, svg } from "./dom.ts";

// A dot plot of values by tokenizer, one row per text.

/** Returns the class of a tokenizer's colour. There are eight colours, which then repeat. */
export const colourOf = (tokenizer: number) => `c${tokenizer % 8}`;

/** A dot in the colour of a tokenizer, next to its name. */
export const key = (tokenizer: number) => h(`i.key.${colourOf(tokenizer)}`);

/** A value of a tokenizer. */
export type Dot = {
  readonly colour: number;
  readonly value: number;
  readonly name: string;
  readonly shown: string;
};

export type DotRow = { readonly name: string; readonly note: string; readonly dots: readonly Dot[] };

/** The height of a line in pixels. Each dot has a line of its own, so that neither dots nor labels overlap. */
const lineHeight = 19;
const rowMargin = 9;
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
          {
            width: "100%",
            height: row.dots.length * lineHeight + 2 * rowMargin,
            role: "img",
            "aria-label": spoken(row),
          },
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

function dotsOf(x: Axis, dots: readonly Dot[]): Child {
  return dots.map((dot, i) => {
    const y = rowMargin + lineHeight * (i + 0.5);
    return [circle(x, dot, y), label(x, dot, y)];
  });
}

const circle = (x: Axis, { colour, value, name, shown }: Dot, y: number) =>
  svg(`circle.dot.${colourOf(colour)}`, { cx: at(x, value), cy: y, r: 7, "data-tip": `${name}: ${shown}` });

/** Writes a label next to a dot, on the side with more room. */
function label(x: Axis, { value, name, shown }: Dot, y: number) {
  const isLeft = axes.placeOn(x, value) > 0.5;
  const short = name.length > nameCharacters ? `${name.slice(0, nameCharacters - 1)}…` : name;
  const place = { x: at(x, value), dx: isLeft ? -12 : 12, y: y + 4, "text-anchor": isLeft ? "end" : "start" };
  return svg("text.value", place, `${short} ${shown}`);
}

/** The legend of tokenizer colours. */
export const legend = (names: readonly Child[]) =>
  h(
    "ul.row.legend",
    names.map((name, i) => h("li", key(i), name)),
  );
