// The tree with the statuses of an instant.

import { type Box, type Layout, type Measure, fit, inset, size } from "../model/layout.ts";
import { type Margin, margin } from "../model/margin.ts";
import { type Run, type Task, statusesAt, valueAt } from "../model/run.ts";
import { number, signed } from "../model/text.ts";
import type { Colour, Pen } from "./pen.ts";
import { active, look } from "./status.ts";

/** Area is the part of the drawing that is seen. */
export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

const roles: Record<string, Colour> = {
  composite: "running", parallel: "curve3", decorator: "muted", condition: "change", action: "success",
};

/** judged returns the margin that decides when a condition changes next. */
export function judged(run: Run, task: number, holds: boolean, t: number): Margin | undefined {
  const { on, off } = run.data.tasks[task]!;
  if (on === undefined) return undefined;
  const m = margin(run, holds && off !== undefined ? off : on, t);
  return m.signal === "" ? undefined : m;
}

/** reading writes the deciding threshold of a condition with the value of its signal: soc 0.71 < 0.99 (+0.28). */
export function reading(run: Run, m: Margin, t: number): string {
  const signal = run.named.get(m.signal)!;
  return `${m.signal} ${number(valueAt(signal, t))} ${m.below ? "<" : "≥"} ${number(m.limit)} (${signed(m.value)})`;
}

/**
 * tree draws what an area shows of a tree. With a time, colours and signs show the statuses at its end, and conditions
 * show how far they are from changing; with null, colours show the roles of tasks. Without a measure there are no texts.
 */
export function tree(pen: Pen, l: Layout, run: Run, t: number | null, selected: number | null, area: Area, measure: Measure | null) {
  const statuses = t === null ? null : statusesAt(run, t).map((s) => run.data.statuses[s]);
  const seen = (b: Box) => b.y + size.height >= area.y && b.y <= area.y + area.height && b.x <= area.x + area.width && b.x + b.width >= area.x;
  const quiet: string[] = [];
  const lit = new Map<Colour, string>();
  for (const to of l.boxes) {
    const from = l.of[run.data.tasks[to.task]!.parent];
    if (from === undefined) continue;
    const [x0, y0, x1, y1] = [from.x + from.width, from.y + size.height / 2, to.x, to.y + size.height / 2];
    if (Math.max(y0, y1) < area.y || Math.min(y0, y1) > area.y + area.height || x1 < area.x || x0 > area.x + area.width) continue;
    const middle = (x0 + x1) / 2;
    const d = `M${x0.toFixed(1)} ${y0.toFixed(1)}C${middle.toFixed(1)} ${y0.toFixed(1)} ${middle.toFixed(1)} ${y1.toFixed(1)} ${x1.toFixed(1)} ${y1.toFixed(1)}`;
    const status = statuses?.[to.task];
    if (active(status)) lit.set(look(status).line, (lit.get(look(status).line) ?? "") + d);
    else quiet.push(d);
  }
  pen.path(quiet.join(""), { stroke: "accept", width: 1.2 });
  for (const [stroke, d] of lit) pen.path(d, { stroke, width: 2.4 });
  for (const b of l.boxes) if (seen(b)) box(pen, b, run, t, statuses?.[b.task], b.task === selected, measure);
}

/** plain returns what a box shows of a task without a status. */
function plain({ mark, role }: Task): { line: Colour; share: number; sign: string } {
  if (mark === "error") return { line: "error", share: 0.15, sign: "!" };
  if (mark === "disabled") return { line: "accept", share: 0, sign: "" };
  return { line: roles[role]!, share: 0.15, sign: mark === "warning" ? "!" : "" };
}

function box(pen: Pen, b: Box, run: Run, t: number | null, status: string | undefined, selected: boolean, measure: Measure | null) {
  const task = run.data.tasks[b.task]!;
  const { line, share, sign } = t === null ? plain(task) : look(status);
  const radius = task.role === "condition" ? size.height / 2 : 5;
  if (selected) pen.rect(b.x - 3, b.y - 3, b.width + 6, size.height + 6, { stroke: "ink", width: 1.5 }, radius + 3);
  pen.rect(b.x, b.y, b.width, size.height, { fill: "paper" }, radius);
  pen.rect(b.x, b.y, b.width, size.height, { fill: line, opacity: share, stroke: line, width: active(status) ? 2.2 : 1.2 }, radius);
  if (measure === null) return;
  if (task.symbol !== "") {
    pen.text(b.x + size.padding + size.symbol / 2 - 4, b.y + size.height / 2 + 6, task.symbol, { size: 18, weight: 600, anchor: "middle", fill: line });
  }
  const x = b.x + inset(task);
  pen.text(x, b.y + 17, b.name, { size: size.name, weight: 600, fill: "ink" });
  if (sign !== "") pen.text(b.x + b.width - 7, b.y + 14, sign, { size: 10, anchor: "end", fill: line });
  const m = t === null ? undefined : judged(run, b.task, status === "Success", t);
  const note = m === undefined || t === null ? b.note : fit(reading(run, m, t), size.note, false, b.x + b.width - x - 4, measure);
  pen.text(x, b.y + 31, note, { size: size.note });
  if (b.hidden > 0) pen.text(b.x + b.width + 5, b.y + size.height / 2 + 4, `+ ${b.hidden}`, { size: size.note });
}
