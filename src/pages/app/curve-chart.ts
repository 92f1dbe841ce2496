import { grouped } from "../../bytes/quantities.ts";
import { type Axis, linearAxis, placeOn, shortNumber, sizesAxis, tickNames } from "../axes.ts";
import type { Curve, CurvePoint } from "../compression-curve.ts";
import { h, svg } from "./dom.ts";

// Bytes per token over the size of the vocabulary. Places are percentages of the plot, and only lines are stretched: letters
// and dots have one size on every screen.

const plotHeight = 230;
/** Lines are drawn in a square of this side, which is stretched to the plot. */
const square = 1000;

export function curveChart({ points, doubled, smallerSizes }: Curve): HTMLElement {
  const chosen = points.at(-1)!;
  const all = doubled === null ? points : [...points, doubled];
  const sizes = sizesAxis("", points[0]!.size, all.at(-1)!.size);
  const x = { ...sizes, title: `tokens in the vocabulary${sizes.scale === "log" ? " (log)" : ""}` };
  const y = linearAxis(
    "bytes per token",
    all.map(({ bytesPerToken }) => bytesPerToken),
  );
  const at = placesOf(x, y);
  const named = [
    ...points.filter(({ size }) => smallerSizes.includes(size) && size !== chosen.size),
    chosen,
    ...(doubled === null ? [] : [doubled]),
  ];
  const label = `Bytes per token by size of the vocabulary: ${chosen.bytesPerToken.toFixed(3)} at ${grouped(chosen.size)}`;
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
      points.map((point) =>
        svg("circle.dot.c0", { ...at(point), r: point === chosen ? 6 : 2.5, "data-tip": tipOf(point) }),
      ),
      doubled !== null &&
        svg("circle.dot.c0.estimate", { ...at(doubled), r: 4, "data-tip": `${tipOf(doubled)}, an estimate` }),
      nameMarks(named, doubled, x).map(({ point, text, dy }) => {
        const { cx, cy } = at(point);
        const place = placeOn(x, point.size);
        return svg("text.value", { x: cx, y: cy, dy, "text-anchor": place > 0.75 ? "end" : "middle" }, text);
      }),
    ),
    h("figcaption", x.title),
  );
}

const tipOf = ({ size, bytesPerToken }: CurvePoint) =>
  `${grouped(size)} tokens: ${bytesPerToken.toFixed(3)} bytes per token`;

/** The share of the plot that a name takes on a telephone. */
const nameShare = 0.24;

/** Names of points, from the last to the first where there is room; an estimate has its name above the curve. */
function nameMarks(named: readonly CurvePoint[], doubled: CurvePoint | null, x: Axis) {
  let free = Number.POSITIVE_INFINITY;
  return named.toReversed().flatMap((point) => {
    const text = `${shortNumber(point.size)}: ${point.bytesPerToken.toFixed(2)}${point === doubled ? ", estimated" : ""}`;
    if (point === doubled) return [{ point, text, dy: -10 }];
    const place = placeOn(x, point.size);
    if (place > free) return [];
    free = place - nameShare;
    // Below the curve, where the estimate's name is not.
    return [{ point, text, dy: 20 }];
  });
}

function placesOf(x: Axis, y: Axis) {
  const percent = (share: number) => `${Math.round(1000 * share) / 10}%`;
  return ({ size, bytesPerToken }: CurvePoint) => ({
    cx: percent(placeOn(x, size)),
    cy: percent(1 - placeOn(y, bytesPerToken)),
  });
}

function grid(x: Axis, y: Axis) {
  const percent = (share: number) => `${Math.round(1000 * share) / 10}%`;
  const [xNames, yNames] = [tickNames(x), tickNames(y)];
  return [
    x.ticks.map((tick, i) => {
      const place = percent(placeOn(x, tick));
      return [
        svg("line.grid", { x1: place, x2: place, y2: "100%" }),
        svg("text", { x: place, y: "100%", dy: 18, "text-anchor": "middle" }, xNames[i]),
      ];
    }),
    y.ticks.map((tick, i) => {
      const place = percent(1 - placeOn(y, tick));
      return [
        svg("line.grid", { x2: "100%", y1: place, y2: place }),
        svg("text", { y: place, dx: -6, dy: 4, "text-anchor": "end" }, yNames[i]),
      ];
    }),
  ];
}

function pathOf(points: readonly CurvePoint[], x: Axis, y: Axis): string {
  const places = points.map(({ size, bytesPerToken }) => {
    const [right, up] = [placeOn(x, size), placeOn(y, bytesPerToken)];
    return `${Math.round(square * right)} ${Math.round(square * (1 - up))}`;
  });
  return `M${places.join("L")}`;
}
