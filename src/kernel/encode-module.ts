// The exports of a module that has only the encoding part of the kernel, and no threads. Other programs run it as C
// (native/).

export { beginLaidOut, beginModel, buildTables, endLaidOut } from "./encode/build-model";
export { modelHeadBytes, tokenTableHeadBytes } from "./encode/model-layout";
export { maskTablesBytes, useMaskTables } from "./masks/mask-tables";
export {
  endsCapacity,
  reserveFixed,
  reserveText as setTextBytes,
  textAddress,
  workAddress as idsAddress,
} from "./regions";
export { shadowBytes } from "./scan/annotate";
export { keepPosition, useAutomaton, useFourByteTables } from "./scan/scanner";
export { findSafeCut, useHoles, useSafeCuts } from "./text/safe-cuts";
export {
  idCount,
  lookAhead,
  lookForTokens,
  moveText,
  openText,
  searchText,
  takeText,
  useTokens,
} from "./text-loop";
