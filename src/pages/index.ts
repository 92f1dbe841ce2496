// What pages show, and how: packed tokens, axes, curves, yardsticks. It is one module because the program in the
// browser (app/) and the command that writes a page (reports/) compute with the same data in the same way.

export * as axes from "./axes.ts";
export * as curves from "./compression-curve.ts";
export * as pageData from "./page-data.ts";
export * as signs from "./signs.ts";
export * as unpacked from "./unpacked.ts";
export * as yardsticks from "./yardsticks.ts";
