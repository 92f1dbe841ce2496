// What pages show, and how: packed tokens, axes, curves, usual values. It is one module because the program in the
// browser (app/) and the commands that write pages use the same data and computations.

export * as axes from "./axes.ts";
export * as curves from "./compression-curve.ts";
export * as pageData from "./page-data.ts";
export * as signs from "./signs.ts";
export * as unpacked from "./unpacked.ts";
export * as yardsticks from "./yardsticks.ts";
