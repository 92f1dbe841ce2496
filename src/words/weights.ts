import { normalize } from "node:path";
import { describeValue } from "#bytes";
import type { trainingRecords } from "#formats";
import { asOption, host, phrase, usageError, withForwardSlashes } from "#runtime";

const weightMax = 1e6;
/** Weights are multiples of 1 / `weightParts`. */
export const weightParts = 1e6;

/** Returns `input`, or throws a usage error if its glob is empty or its weight is not valid. */
export function check(input: trainingRecords.InputWeight): trainingRecords.InputWeight {
  const { glob, weight } = input;
  if (glob === "")
    throw usageError(
      phrase`${asOption("weight")}: the weight ${String(weight)} has no input`,
      "name an input, a folder above it, or a glob, e.g. corpus/en",
    );
  // A decimal with at most six digits after the point is read as the double nearest to it. Dividing the whole number of
  // its millionths by `weightParts` gives the same double, so the comparison is exact.
  const isExact = Math.round(weight * weightParts) / weightParts === weight;
  const isInRange = typeof weight === "number" && weight >= 0 && weight <= weightMax;
  if (isInRange && isExact) return input;
  throw usageError(
    phrase`${asOption("weight")}: the weight of "${glob}" is ${describeValue(weight)}, but must ${isInRange ? "have at most six digits after the point" : "be a number from 0 to 1,000,000"}`,
    isInRange ? "round it, e.g. to 0.333333" : "give a number in this range, e.g. 3 or 0.5",
  );
}

/**
 * Returns the weight of each path: that of the last glob that matches the path, or 1. Throws a usage error for a weight
 * that applies to no path. Also throws one if every path has the weight 0.
 */
export function forPaths(
  paths: readonly string[],
  weights: readonly trainingRecords.InputWeight[],
): number[] {
  const fits = weights.map(({ glob }) => makePathMatcher(glob));
  const deciding = paths.map((path) => fits.findLastIndex((fit) => fit(path)));
  for (const [i, { name, glob, weight }] of weights.entries()) {
    if (deciding.includes(i)) continue;
    const shown = `the weight "${name === null ? "" : `${name}=`}${glob}:${weight}"`;
    if (paths.some(fits[i]!)) {
      throw usageError(
        `${shown} has no effect: later weights match everything that it matches`,
        "leave it out, or give it after the others: the last weight that matches an input applies",
      );
    }
    throw usageError(
      `${shown} has no effect: no input matches "${glob}"`,
      `write the path of an input as you named it, a folder above it, or a glob; ${name === null ? "a glob without a slash matches names at any depth" : `"${name}" is read as a name: if it begins the path, write ./${name}=${glob}`}`,
    );
  }
  const found = deciding.map((i) => weights[i]?.weight ?? 1);
  if (found.every((weight) => weight === 0)) {
    throw usageError(
      "the weights leave nothing to train on: every input has the weight 0",
      "give an input a larger weight",
    );
  }
  return found;
}

/**
 * Returns a function that tests whether the glob matches a path or a folder above it. A glob with a slash matches whole
 * paths; a glob without one matches names at any depth.
 */
function makePathMatcher(glob: string): (path: string) => boolean {
  const plain = withForwardSlashes(normalize(glob)).replace(/(?<=.)\/$/, "");
  // Without the backslash, the runtime would read a leading ! as negation.
  const matches = host.globMatcher(plain.replace(/^!/, "\\!"));
  const isPath = plain.includes("/");
  return (path) => {
    const parts = withForwardSlashes(normalize(path)).split("/");
    return parts.some((name, i) => {
      const part = isPath ? parts.slice(0, i + 1).join("/") : name;
      return part === plain || matches(part);
    });
  };
}
