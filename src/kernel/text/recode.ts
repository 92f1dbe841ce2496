import { fixedEnd, reserveTo } from "../regions";
import { tokenSize } from "./decode";

/**
 * Recoding finds where given ids differ from the *canonical* ids: those that result if the given ids are decoded and
 * the text is encoded again. The result is a list of pairs of spans, one of the given ids and one of the canonical ids.
 * If both lists of ids spell the same text, the two spans of a pair have the same bytes, except perhaps those of the
 * last pair. If they spell different texts, for example because encoding normalizes the text, there is one pair:
 * everything between the common start and the common end of the lists. Each id must have a token.
 *
 * These arrays follow the tables of decode.ts:
 *
 *   ARRAY       TYPE     LENGTH           MEANING
 *   given       u32      givenCount       ids of a text
 *   canonical   u32      canonicalCount   its canonical ids
 *   spans       u32[4]   spanCount        given ids [start, end), then canonical ids [start, end)
 */
let given: usize = 0;
let givenCount: u32 = 0;
let canonical: usize = 0;
let canonicalCount: u32 = 0;
let spans: usize = 0;

/** The indices up to which the lists have been compared. */
let givenAt: u32 = 0;
let canonicalAt: u32 = 0;

/**
 * Reserves memory for the given ids and, after them, the canonical ids. Returns the address of the given ids; 0 if
 * memory runs out.
 */
export function beginRecoding(count: u32, countOfCanonical: u32): usize {
  const idBytes = 4 * (<u64>count + countOfCanonical);
  // Each pair of spans but the last has ids of both lists, and the last may have ids of only one. So there is at most
  // one pair more than the shorter list has ids.
  const spanBytes = 16 * (<u64>min(count, countOfCanonical) + 1);
  given = (fixedEnd + 63) & ~63;
  if (!reserveTo(given + idBytes + spanBytes)) return 0;
  givenCount = count;
  canonicalCount = countOfCanonical;
  canonical = given + 4 * count;
  spans = canonical + 4 * countOfCanonical;
  return given;
}

export function recodedSpansAddress(): usize {
  return spans;
}

/** Finds the spans, and returns their number. `isSameText`: whether both lists spell the same text. */
export function findRecodedSpans(isSameText: bool): u32 {
  givenAt = canonicalAt = 0;
  let span = spans;
  for (passEqual(); givenAt < givenCount || canonicalAt < canonicalCount; passEqual()) {
    store<u32>(span, givenAt);
    store<u32>(span, canonicalAt, 8);
    if (isSameText) passSameBytes();
    else passToCommonEnd();
    store<u32>(span, givenAt, 4);
    store<u32>(span, canonicalAt, 12);
    span += 16;
  }
  return <u32>((span - spans) >> 4);
}

function passEqual(): void {
  while (givenAt < givenCount && canonicalAt < canonicalCount && areEqual(givenAt, canonicalAt)) {
    givenAt++;
    canonicalAt++;
  }
}

/** Advances both lists past their shortest next spans of the same size in bytes, or to their ends if there are none. */
function passSameBytes(): void {
  let lead: i64 = 0;
  do {
    const isGivenNext = lead <= 0;
    if (isGivenNext ? givenAt === givenCount : canonicalAt === canonicalCount) {
      givenAt = givenCount;
      canonicalAt = canonicalCount;
      return;
    }
    if (isGivenNext) lead += tokenSize(load<u32>(given + (givenAt++ << 2)));
    else lead -= tokenSize(load<u32>(canonical + (canonicalAt++ << 2)));
  } while (lead !== 0);
}

function passToCommonEnd(): void {
  let end = givenCount;
  let canonicalEnd = canonicalCount;
  while (end > givenAt && canonicalEnd > canonicalAt && areEqual(end - 1, canonicalEnd - 1)) {
    end--;
    canonicalEnd--;
  }
  givenAt = end;
  canonicalAt = canonicalEnd;
}

function areEqual(index: u32, canonicalIndex: u32): bool {
  return load<u32>(given + (index << 2)) === load<u32>(canonical + (canonicalIndex << 2));
}
