// What pages show, and how: packed tokens, axes, curves, usual values.

export * as axes from "./axes.ts";
export * as curves from "./compression-curve.ts";
export * as pageData from "./page-data.ts";
export * as signs from "./signs.ts";
export * as unpacked from "./unpacked.ts";
export * as yardsticks from "./yardsticks.ts";
