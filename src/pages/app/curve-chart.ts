import { groupDigits } from "#bytes";
import type { Axis } from "../axes.ts";
import * as axes from "../axes.ts";
import type { Curve, CurvePoint } from "../compression-curve.ts";
import { h, svg } from "./dom.ts";
import { gridLines, tickLabels } from "./dot-plot.ts";

// A chart of bytes per token by vocabulary size. Positions are percentages of the plot. Only lines are stretched, so
// text and dots keep their size on every screen.

const plotHeight = 230;
/** Lines are drawn in a square with sides of this length, stretched to the plot. */
const square = 1000;

/** Draws the curve. `text` names the text whose bytes were counted. */
export function curveChart({ points, table, doubled, smallerSizes }: Curve, text: string): HTMLElement {
  const chosen = points.at(-1)!;
  const all = doubled === null ? points : [...points, doubled];
  const sizes = axes.sizesAxis("", points[0]!.size, all.at(-1)!.size);
  const x = { ...sizes, title: `tokens in the vocabulary${sizes.scale === "log" ? " (log)" : ""}` };
  const y = axes.linearAxis(
    `bytes per token of ${text}`,
    all.map(({ bytesPerToken }) => bytesPerToken),
  );
  const at = ({ size, bytesPerToken }: CurvePoint) => ({
    cx: axes.lengthOf(axes.placeOn(x, size)),
    cy: axes.lengthOf(1 - axes.placeOn(y, bytesPerToken)),
  });
  const dot = (point: CurvePoint, r: number) =>
    svg("circle.dot.c0", { ...at(point), r, "data-tip": tipOf(point) });
  const others = table.filter(({ size }) => smallerSizes.includes(size) && size !== chosen.size);
  const label = `Bytes per token by size of the vocabulary: ${chosen.bytesPerToken.toFixed(3)} at ${groupDigits(chosen.size)}`;
  return h(
    "figure.plot",
    h("div.y-title", y.title),
    svg(
      "svg.chart",
      { width: "100%", height: plotHeight, role: "img", "aria-label": label, tabindex: 0 },
      grid(x, y),
      svg(
        "svg",
        { viewBox: `0 0 ${square} ${square}`, preserveAspectRatio: "none", width: "100%", height: "100%" },
        svg("path.line", { d: pathOf(points, x, y) }),
        doubled !== null && svg("path.line.estimate", { d: pathOf([chosen, doubled], x, y) }),
      ),
      points.map((point) => point !== chosen && dot(point, 2.5)),
      others.map((point) => dot(point, 5)),
      dot(chosen, 6),
      doubled !== null &&
        svg("circle.dot.c0.estimate", { ...at(doubled), r: 4, "data-tip": `${tipOf(doubled)}, an estimate` }),
      nameMarks([...others, chosen], doubled, x).map(({ point, text, dy, anchor }) => {
        const { cx, cy } = at(point);
        return svg("text.value", { x: cx, y: cy, dy, "text-anchor": anchor }, text);
      }),
    ),
    h("figcaption", x.title),
  );
}

const tipOf = ({ size, bytesPerToken }: CurvePoint) =>
  `${groupDigits(size)} tokens: ${bytesPerToken.toFixed(3)} bytes per token`;

/** The share of the plot's width that a label takes on a phone. */
const nameShare = 0.24;

/**
 * Labels points from last to first, leaving out labels that would overlap. The label of the last point is above the
 * curve, the others are below it.
 */
function nameMarks(named: readonly CurvePoint[], doubled: CurvePoint | null, x: Axis) {
  const textOf = ({ size, bytesPerToken }: CurvePoint) =>
    `${axes.shortNumber(size)}: ${bytesPerToken.toFixed(2)}`;
  const below = doubled === null ? named.slice(0, -1) : named;
  const last = doubled ?? named.at(-1)!;
  const text = `${textOf(last)}${last === doubled ? ", estimated" : ""}`;
  let free = 1 + nameShare / 2;
  return [
    { point: last, text, dy: -12, anchor: "end" },
    ...below.toReversed().flatMap((point) => {
      const place = axes.placeOn(x, point.size);
      if (place + nameShare / 2 > free) return [];
      free = place - nameShare / 2;
      return [{ point, text: textOf(point), dy: 24, anchor: place > 1 - nameShare / 2 ? "end" : "middle" }];
    }),
  ];
}

function grid(x: Axis, y: Axis) {
  const names = axes.tickNames(y);
  return [
    gridLines(x),
    tickLabels(x, { y: "100%", dy: 18 }),
    y.ticks.map((tick, i) => {
      const place = axes.lengthOf(1 - axes.placeOn(y, tick));
      return [
        svg("line.grid", { x2: "100%", y1: place, y2: place }),
        svg("text", { y: place, dx: -6, dy: 4, "text-anchor": "end" }, names[i]),
      ];
    }),
  ];
}

function pathOf(points: readonly CurvePoint[], x: Axis, y: Axis): string {
  const places = points.map(({ size, bytesPerToken }) => {
    const [right, up] = [axes.placeOn(x, size), axes.placeOn(y, bytesPerToken)];
    return `${Math.round(square * right)} ${Math.round(square * (1 - up))}`;
  });
  return `M${places.join("L")}`;
}
