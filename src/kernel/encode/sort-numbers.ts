/**
 * Sorts the `count` different numbers of 32 bits at `numbers`: reverses falling stretches, then merges neighbouring ascending
 * stretches until there is one. A few stretches take linear time. `room` has room for as many numbers.
 */
export function sortAscending(numbers: usize, count: u32, room: usize): void {
  const end = numbers + ((<usize>count) << 2);
  reverseFallingStretches(numbers, end);
  for (;;) {
    let left = numbers;
    let middle = endOfStretch(left, end);
    if (middle === end) return;
    while (middle < end) {
      const right = endOfStretch(middle, end);
      mergeStretches(left, middle, right, room);
      left = right;
      middle = left < end ? endOfStretch(left, end) : end;
    }
  }
}

function reverseFallingStretches(numbers: usize, end: usize): void {
  for (let start = numbers; start < end; ) {
    let at = start + 4;
    while (at < end && load<u32>(at) < load<u32>(at - 4)) at += 4;
    for (let low = start, high = at - 4; low < high; low += 4, high -= 4) {
      const number = load<u32>(low);
      store<u32>(low, load<u32>(high));
      store<u32>(high, number);
    }
    start = at;
  }
}

/** Address behind the ascending stretch that begins at `start`. */
function endOfStretch(start: usize, end: usize): usize {
  let at = start + 4;
  while (at < end && load<u32>(at) > load<u32>(at - 4)) at += 4;
  return at;
}

/** Merges the ascending stretches [left, middle) and [middle, right). */
function mergeStretches(left: usize, middle: usize, right: usize, room: usize): void {
  memory.copy(room, left, middle - left);
  const roomEnd = room + (middle - left);
  let to = left;
  while (room < roomEnd) {
    const number = load<u32>(room);
    if (middle < right && load<u32>(middle) < number) {
      store<u32>(to, load<u32>(middle));
      middle += 4;
    } else {
      store<u32>(to, number);
      room += 4;
    }
    to += 4;
  }
}
