/**
 * Sorts the `count` different numbers of 32 bits at `numbers`, in time linear in their number where they are a few runs that rise
 * or fall: merges neighbouring runs until there is one. `room` is for as many numbers.
 */
export function sortAscending(numbers: usize, count: u32, room: usize): void {
  const end = numbers + ((<usize>count) << 2);
  turnFallingRuns(numbers, end);
  for (;;) {
    let left = numbers;
    let middle = endOfRun(left, end);
    if (middle === end) return;
    while (middle < end) {
      const right = endOfRun(middle, end);
      mergeRuns(left, middle, right, room);
      left = right;
      middle = left < end ? endOfRun(left, end) : end;
    }
  }
}

function turnFallingRuns(numbers: usize, end: usize): void {
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

/** Address behind the run that rises from `start` on. */
function endOfRun(start: usize, end: usize): usize {
  let at = start + 4;
  while (at < end && load<u32>(at) > load<u32>(at - 4)) at += 4;
  return at;
}

/** The runs [left, middle) and [middle, right) become one. */
function mergeRuns(left: usize, middle: usize, right: usize, room: usize): void {
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
