// The difference of two texts, line by line.

/** Line is a line of one text or of both. */
export interface Line {
  kind: "same" | "old" | "new";
  text: string;
}

/** mostEdits is how many lines may differ in what is compared in detail. */
const mostEdits = 400;

/** lines returns the lines of two texts with the fewest differences (Myers 1986); of very different texts, all lines. */
export function lines(old: string, now: string): Line[] {
  const [a, b] = [old.split("\n"), now.split("\n")];
  let [start, end] = [0, 0];
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const line = (kind: Line["kind"]) => (text: string): Line => ({ kind, text });
  return [
    ...a.slice(0, start).map(line("same")),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(line("same")),
  ];
}

const get = (far: Map<number, number>, k: number) => far.get(k) ?? -1;

function middle(a: string[], b: string[]): Line[] {
  const trace: Map<number, number>[] = []; // of each number of edits: how far in a each diagonal gets
  const far = new Map([[1, 0]]);
  for (let d = 0; d <= Math.min(a.length + b.length, mostEdits); d++) {
    trace.push(new Map(far));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && get(far, k - 1) < get(far, k + 1)) ? get(far, k + 1) : get(far, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      far.set(k, x);
      if (x >= a.length && x - k >= b.length) return walked(a, b, trace);
    }
  }
  return [...a.map((text): Line => ({ kind: "old", text })), ...b.map((text): Line => ({ kind: "new", text }))];
}

/** walked goes back along the edits. */
function walked(a: string[], b: string[], trace: Map<number, number>[]): Line[] {
  const list: Line[] = [];
  let [x, y] = [a.length, b.length];
  for (let d = trace.length - 1; d >= 0; d--) {
    const far = trace[d]!;
    const k = x - y;
    const from = k === -d || (k !== d && get(far, k - 1) < get(far, k + 1)) ? k + 1 : k - 1;
    const px = get(far, from);
    while (x > px && y > px - from) {
      list.push({ kind: "same", text: a[--x]! });
      y--;
    }
    if (d === 0) break;
    if (x === px) list.push({ kind: "new", text: b[--y]! });
    else list.push({ kind: "old", text: a[--x]! });
  }
  return list.toReversed();
}

/** near keeps the lines that differ and some around them; null stands for those that are left out. */
export function near(list: Line[], around = 3): (Line | null)[] {
  const kept = new Set(list.flatMap((l, i) => l.kind === "same" ? [] : Array.from({ length: 2 * around + 1 }, (_, k) => i + k - around)));
  return list.flatMap((l, i) => kept.has(i) ? [l] : kept.has(i - 1) ? [null] : []);
}

/** Hunk is what stands in one text instead of the lines from one on up to another of the text before. */
interface Hunk {
  from: number;
  to: number;
  now: string[];
}

function hunks(old: string, now: string): Hunk[] {
  const list: Hunk[] = [];
  let at = 0;
  let open: Hunk | null = null;
  for (const l of lines(old, now)) {
    if (l.kind === "same") open = null;
    else if (open === null) list.push((open = { from: at, to: at, now: [] }));
    if (l.kind === "new") open!.now.push(l.text);
    else at++;
    if (open !== null) open.to = at;
  }
  return list;
}

/** merged makes the changes of two people to a text; null: of lines that are the same, or next to each other. */
export function merged(before: string, mine: string, theirs: string): string | null {
  const all = [...hunks(before, mine), ...hunks(before, theirs)].toSorted((a, b) => a.from - b.from || a.to - b.to);
  const out = before.split("\n");
  let next = Infinity; // where what follows begins
  for (const [i, h] of [...all.entries()].toReversed()) {
    const same = all[i + 1];
    if (same !== undefined && same.from === h.from && same.to === h.to && same.now.join("\n") === h.now.join("\n")) continue;
    if (h.to >= next) return null;
    out.splice(h.from, h.to - h.from, ...h.now);
    next = h.from;
  }
  return out.join("\n");
}
