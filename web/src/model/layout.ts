// The place of each task in the drawing of a tree.

import type { Run, Task } from "./run.ts";

/** Lengths of the drawing in pixels, and the sizes of its letters. */
export const size = {
  height: 40, row: 9, column: 34, edge: 12, padding: 10, symbol: 24, sign: 14, name: 13, note: 10.5, mostName: 300, mostNote: 260,
};

export interface Box {
  task: number;
  x: number;
  y: number;
  width: number;
  name: string;
  note: string;
  hidden: number; // tasks below, if the box is collapsed
}

export interface Layout {
  boxes: Box[]; // parents first
  of: (Box | undefined)[]; // by task
  width: number;
  height: number;
}

/** ems estimates the width of a character in relation to the size of its font, rather too large than too small. */
function ems(c: string): number {
  if ("iljtfrI.,:;|!'`()[]/ ".includes(c)) return 0.38;
  if ("mwMW@%→≥≤…".includes(c)) return 0.95;
  if (c > "ÿ") return 1.05;
  return c >= "A" && c <= "Z" ? 0.72 : 0.61;
}

/** Measure returns the width of a text in letters of a size [px]. */
export type Measure = (text: string, size: number, bold: boolean) => number;

/** estimate is a measure without a screen. */
export const estimate: Measure = (text, size, bold) => {
  let sum = 0;
  for (const c of text) sum += ems(c);
  return sum * size * (bold ? 1.15 : 1);
};

/** fit cuts a text to a width. */
export function fit(text: string, size: number, bold: boolean, most: number, measure: Measure): string {
  if (measure(text, size, bold) <= most) return text;
  const letters = [...text];
  let [low, high] = [0, letters.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (measure(letters.slice(0, middle).join("") + "…", size, bold) <= most) low = middle;
    else high = middle - 1;
  }
  return `${letters.slice(0, low).join("")}…`;
}

/** inset is the distance of a box's text from its left side. */
export const inset = (task: Task) =>
  size.padding + (task.symbol !== "" ? size.symbol : task.role === "condition" ? 3 : 0);

/** reading is the room for the text that a condition with a threshold shows. */
const reading = "battery_soc −12 345 ≥ −12 345 (+12 345)";

/**
 * layout places the tasks: each to the right of its parent, each leaf in its own row, every other task in the middle of
 * its children. So the rows of a task's subtree belong to it alone, and no two boxes overlap. The children of collapsed
 * tasks are left out.
 */
export function layout(run: Run, collapsed: ReadonlySet<number>, measure: Measure): Layout {
  const of: (Box | undefined)[] = run.data.tasks.map(() => undefined);
  const boxes: Box[] = [];
  let width = 0;
  let height = size.edge;
  // A stack instead of recursion: a tree may be a chain of thousands.
  const stack: { task: number; x: number; done: boolean }[] = run.root < 0 ? [] : [{ task: run.root, x: size.edge, done: false }];
  while (stack.length > 0) {
    const at = stack.pop()!;
    const children = collapsed.has(at.task) ? [] : run.children[at.task]!;
    if (at.done) {
      of[at.task]!.y = (of[children[0]!]!.y + of[children.at(-1)!]!.y) / 2;
      continue;
    }
    const task = run.data.tasks[at.task]!;
    const name = fit(task.label, size.name, true, size.mostName, measure);
    const note = fit(task.note, size.note, false, size.mostNote, measure);
    const inner = Math.max(measure(name, size.name, true) + size.sign, measure(note, size.note, false),
      task.on === undefined ? 0 : measure(reading, size.note, false) * 0.8);
    const box: Box = { task: at.task, x: at.x, y: height, width: inner + inset(task) + size.padding + (task.role === "condition" ? 3 : 0),
      name, note, hidden: 0 };
    boxes.push(box);
    of[at.task] = box;
    width = Math.max(width, box.x + box.width + size.edge);
    if (children.length === 0) {
      if (run.children[at.task]!.length > 0) box.hidden = below(run, at.task);
      height += size.height + size.row;
      continue;
    }
    stack.push({ ...at, done: true });
    for (const child of children.toReversed()) stack.push({ task: child, x: box.x + box.width + size.column, done: false });
  }
  return { boxes, of, width, height: height - size.row + size.edge };
}

/** below counts the tasks under a task. */
export function below(run: Run, task: number): number {
  let n = 0;
  const open = [...run.children[task]!];
  while (open.length > 0) {
    n++;
    open.push(...run.children[open.pop()!]!);
  }
  return n;
}

/** hit returns the task whose box contains a point. */
export function hit(layout: Layout, x: number, y: number): number | undefined {
  return layout.boxes.find((b) => x >= b.x && x <= b.x + b.width && y >= b.y && y <= b.y + size.height)?.task;
}

/** ancestors lists the tasks above a task, the nearest first. */
export function ancestors(run: Run, task: number): number[] {
  const list: number[] = [];
  for (let p = run.data.tasks[task]!.parent; p >= 0; p = run.data.tasks[p]!.parent) list.push(p);
  return list;
}

/** collapsedBelow collapses the tasks at a depth, so that a large tree begins with what fits a screen. */
export function collapsedBelow(run: Run, most: number): Set<number> {
  const collapsed = new Set<number>();
  let level = run.root < 0 ? [] : [run.root];
  for (let seen = level.length; level.length > 0; seen += level.length) {
    if (seen > most) {
      for (const task of level) if (run.children[task]!.length > 0) collapsed.add(task);
      break;
    }
    level = level.flatMap((task) => run.children[task]!);
  }
  return collapsed;
}
