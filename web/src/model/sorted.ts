// Binary searches in sorted lists.

/** after returns how many elements of a sorted list are not greater than x. */
export function after(list: ArrayLike<number>, x: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** before returns how many elements of a sorted list are less than x. */
export function before(list: ArrayLike<number>, x: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < x) low = middle + 1;
    else high = middle;
  }
  return low;
}
