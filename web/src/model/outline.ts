// The tree of a plan as it is written: its elements, edits of its text, and what undoes them.

import { type Data, type Run, type Task, read } from "./run.ts";

/** Box is an element of a plan. Places count the code units of the text. */
export interface Box {
  element: string;
  label: string;
  symbol: string;
  role: Task["role"];
  parent: number; // -1: none
  attributes: { name: string; value: string; at: number }[]; // at: where the value begins
  disabled: boolean;
  at: number;
  from: number; // with the comments that belong to it, and the blanks before these
  to: number;
}

/** Edit is a change of a text. */
export interface Edit {
  at: number;
  end: number;
  new: string;
}

/** Place is where an element gets, in relation to another one. */
export interface Place {
  to: number; // of the boxes
  where: "into" | "before" | "after";
}

/** Op is what a person does with the tree: editor/planedit describes it. */
export interface Op extends Partial<Place> {
  do: "add" | "paste" | "delete" | "move" | "wrap" | "unwrap" | "set" | "unset" | "toggle" | "extract";
  task?: number;
  element?: string;
  id?: string;
  include?: string;
  text?: string;
  name?: string;
  value?: string;
}

const nothing: Data = {
  mission: "", text: "", verdict: { outcome: "", word: "", at: "", horizon: "", reason: "" }, facts: [], flight: false, axis: "", start: 0, end: 0,
  statuses: [], transient: [], tasks: [], lanes: null, time: "", signals: null, plots: null,
  changes: { back: null, why: null, t: null, micro: null, task: null, from: null, to: null }, events: null, gap: null,
  notes: { history: null, table: null }, properties: null, verdicts: null, activities: null, extremes: null, parameters: null,
  documents: null, fence: null, rally: null,
};

/** drawn returns boxes as the tasks of a run that has not begun; those of some severity of a mistake have its mark. */
export function drawn(boxes: Box[], marks: ReadonlyMap<number, string>): Run {
  return read({ ...nothing, tasks: boxes.map((b, i) => {
    const rest = b.attributes.filter(({ name, value }) => value !== b.label && !name.startsWith("_") && name !== "BTCPP_format");
    return {
      name: b.label, label: b.label, kind: b.element, symbol: b.symbol, role: b.role, parent: b.parent, detail: [], leaf: false, rests: false,
      note: b.disabled ? "disabled" : rest.map(({ name, value }) => `${name}: ${value}`).join(", ") || (b.label === b.element ? "" : b.element),
      mark: marks.get(i) ?? (b.disabled ? "disabled" : ""),
    };
  }) });
}

/** attribute returns the value of an attribute of a box; undefined: it has none. */
export const attribute = (box: Box, name: string) => box.attributes.find((a) => a.name === name)?.value;

/** siblings lists the boxes beside a box, itself included. */
export const siblings = (boxes: Box[], i: number) => boxes.flatMap((b, k) => (b.parent === boxes[i]!.parent ? [k] : []));

/** beside returns the place by which a box gets before the previous one, or behind the next one; null: there is none. */
export function beside(boxes: Box[], i: number, direction: 1 | -1): Place | null {
  const row = siblings(boxes, i);
  const to = row[row.indexOf(i) + direction];
  return to === undefined ? null : { to, where: direction < 0 ? "before" : "after" };
}

/** around returns the innermost box around a place in the text. */
export function around(boxes: Box[], at: number): number {
  let found = 0;
  boxes.forEach((b, i) => {
    if (b.from <= at && at <= b.to) found = i;
  });
  return found;
}

/** same returns a function from the boxes of a text to those of the next one that are the same. */
export function same(old: Box[], now: Box[]): (i: number) => number | undefined {
  const equal = (a: Box | undefined, b: Box | undefined) => a !== undefined && b !== undefined && a.element === b.element && a.label === b.label;
  let [start, end] = [0, 0];
  while (equal(old[start], now[start])) start++;
  while (end < Math.min(old.length, now.length) - start && equal(old.at(-1 - end), now.at(-1 - end))) end++;
  return (i) => i < start ? i : i >= old.length - end ? i + now.length - old.length : old.length === now.length ? i : undefined;
}

/** applied returns a text with edits made to it, all at once. */
export function applied(text: string, edits: Edit[]): string {
  let [made, at] = ["", 0];
  for (const e of edits.toSorted((a, b) => a.at - b.at || a.end - b.end)) {
    made += text.slice(at, e.at) + e.new;
    at = e.end;
  }
  return made + text.slice(at);
}

/** between returns the smallest edit that makes a text of another one. */
export function between(old: string, now: string): Edit {
  const most = Math.min(old.length, now.length);
  let [at, end] = [0, 0];
  while (at < most && old[at] === now[at]) at++;
  while (end < most - at && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  return { at, end: old.length - end, new: now.slice(at, now.length - end) };
}

/** History is what was done with a text, as edits that undo it and do it again. It never changes. */
export interface History {
  of: string; // the text as it is now
  undo: readonly Edit[];
  redo: readonly Edit[];
}

const untouched = (of: string): History => ({ of, undo: [], redo: [] });

/** done returns the history after a text has changed. What is typed in a row is one edit. */
export function done(before: History | undefined, old: string, now: string): History {
  const h = before?.of === old ? before : untouched(old);
  if (old === now) return h;
  const back = between(now, old);
  const last = h.undo.at(-1);
  const typed = back.new === "" && back.end - back.at === 1 && now[back.at] !== "\n";
  if (typed && h.redo.length === 0 && last?.new === "" && last.end === back.at && last.end > last.at && !now.slice(last.at, last.end).includes("\n")) {
    return { of: now, undo: [...h.undo.slice(0, -1), { ...last, end: back.end }], redo: [] };
  }
  return { of: now, undo: [...h.undo.slice(-999), back], redo: [] };
}

/** undone returns the history of a text without its last edit; null: there is none. */
export function undone(h: History | undefined, text: string): History | null {
  const e = h?.undo.at(-1);
  if (e === undefined || h!.of !== text) return null;
  const now = applied(text, [e]);
  return { of: now, undo: h!.undo.slice(0, -1), redo: [...h!.redo, between(now, text)] };
}

/** redone returns the history of a text with the last edit that was undone; null: there is none. */
export function redone(h: History | undefined, text: string): History | null {
  const swapped = h && undone({ of: h.of, undo: h.redo, redo: h.undo }, text);
  return swapped ? { of: swapped.of, undo: swapped.redo, redo: swapped.undo } : null;
}
