// The histories of tasks as lanes over the time axis.

import type { LaidOver } from "../model/difference.ts";
import type { Lane, Run } from "../model/run.ts";
import { after, before } from "../model/sorted.ts";
import type { Pen } from "./pen.ts";
import { block, fillOf, look } from "./status.ts";
import { type Window, grid, place } from "./time.ts";

export const laneHeight = 18;

const strip = 7; // the height of a lane that is laid over

/**
 * lanes draws some lanes below each other, with the names of their tasks if there is no room for them beside. Those of a
 * run that is laid over are narrow strips below.
 */
export function lanes(pen: Pen, w: Window, run: Run, list: Lane[], selected: number | null, named: boolean, over: LaidOver | null) {
  const height = list.length * laneHeight;
  list.forEach((l, i) => {
    if (l.task === selected) pen.rect(0, i * laneHeight, w.width, laneHeight, { fill: "accent", opacity: 0.18 });
    else if (i % 2 === 0) pen.rect(0, i * laneHeight, w.width, laneHeight, { fill: "faint", opacity: 0.6 });
  });
  grid(pen, w, height);
  pen.inside(0, 0, w.width, height, () => list.forEach((l, i) => {
    const other = over?.lanes[l.task];
    lane(pen, w, run, l, run.data.end, i * laneHeight, other === undefined ? laneHeight : laneHeight - strip);
    if (other !== undefined) lane(pen, w, run, { ...other, task: l.task }, over!.end, (i + 1) * laneHeight - strip, strip);
    if (named) pen.text(3, i * laneHeight + 13, run.data.tasks[l.task]!.label, { fill: "ink", size: 10 });
  }));
}

/** lane draws one lane up to its end: a path for each status, and a line where the task was active for no time. */
function lane(pen: Pen, w: Window, run: Run, l: Lane, last: number, y: number, height: number) {
  const { statuses, transient } = run.data;
  const paths = statuses.map(() => "");
  const moments = statuses.map(() => "");
  for (let i = Math.max(0, before(l.t, w.from) - 1); i < l.t.length && l.t[i]! <= w.to; i++) {
    const end = l.t[i + 1] ?? last;
    const s = l.s[i]!;
    if (end > l.t[i]! || i === l.t.length - 1) {
      const x1 = Math.max(-4, place(w, l.t[i]!));
      const x2 = Math.min(w.width + 4, Math.max(place(w, end), x1 + (transient[s] ? 0 : 0.8)));
      if (x2 >= 0) paths[s] += block(statuses[s]!, x1, x2, y, height);
    } else if (!transient[s] && passed(run, l, i)) {
      moments[s] += `M${place(w, l.t[i]!).toFixed(2)} ${y + 0.14 * height}V${y + 0.86 * height}`;
    }
  }
  const leaf = run.data.tasks[l.task]!.leaf;
  paths.forEach((d, s) => d !== "" && pen.path(d, fillOf(statuses[s]!, leaf)));
  moments.forEach((d, s) => d !== "" && pen.path(d, { stroke: look(statuses[s]!).line, width: 1.5 }));
}

/** passed tells whether the task was transient before and after the instant in which it had its i-th status. */
function passed(run: Run, l: Lane, i: number): boolean {
  let a = i;
  let b = i;
  while (a > 0 && l.t[a] === l.t[i]) a--;
  while (b < l.t.length - 1 && l.t[b + 1] === l.t[i]) b++;
  return run.data.transient[l.s[a]!]! && run.data.transient[l.s[b]!]!;
}

/** events draws a mark for each event. */
export function events(pen: Pen, w: Window, run: Run) {
  grid(pen, w, laneHeight);
  pen.inside(0, 0, w.width, laneHeight, () => {
    const { gap } = run.data;
    if (gap !== null) {
      const [x1, x2] = gap.map((t) => Math.min(w.width, Math.max(0, place(w, t)))) as [number, number];
      pen.rect(x1, 3, x2 - x1, laneHeight - 6, { fill: "muted", opacity: 0.4 });
    }
    const marks = (times: number[]) => times.filter((t) => t >= w.from && t <= w.to)
      .map((t) => `M${Math.round(place(w, t))}.5 3V${laneHeight - 3}`).join("");
    pen.path(marks(run.events.map((e) => e.t)), { stroke: "muted" });
    pen.path(marks(run.faults.map((e) => e.t)), { stroke: "error", width: 2 });
  });
}

/** eventsNear lists the events within some pixels of a time. */
export function eventsNear(w: Window, run: Run, t: number, pixels: number) {
  const times = run.events.map((e) => e.t);
  const reach = pixels / w.width * (w.to - w.from);
  return run.events.slice(before(times, t - reach), after(times, t + reach));
}
