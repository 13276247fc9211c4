// The robustness of a property over the time axis.

import type { Property } from "../model/run.ts";
import { tick } from "../model/text.ts";
import type { Pen } from "./pen.ts";
import { type Point, line, visible } from "./plot.ts";
import { type Window, grid, place } from "./time.ts";

export const robustnessHeight = 42;

/** held gives infinite values a number beyond the others, and draws them as steps. */
export function held(points: Point[], beyond: number): Point[] {
  const list: Point[] = [];
  points.forEach(([t, v], i) => {
    const last = points[i - 1];
    if (last !== undefined && !(Number.isFinite(v) && Number.isFinite(last[1]))) list.push([t, list.at(-1)![1]]);
    list.push([t, Number.isFinite(v) ? v : Math.sign(v) * beyond]);
  });
  return list;
}

/** negative lists the intervals in which lines between points are below 0. */
export function negative(points: Point[]): [number, number][] {
  const list: [number, number][] = [];
  points.forEach(([t, v], i) => {
    const [s, u] = points[i - 1] ?? [t, v];
    if (v >= 0 && u >= 0) return;
    const zero = s + (t - s) * u / (u - v);
    const [from, to] = [u < 0 ? s : zero, v < 0 ? t : zero];
    const last = list.at(-1);
    if (last !== undefined && last[1] >= from) last[1] = to;
    else list.push([from, to]);
  });
  return list;
}

/**
 * robustness draws the robustness of a property with the areas between it and 0. Of "always", a band shows where the
 * property is violated, and a line from when on. That of a run that is laid over is dotted.
 */
export function robustness(pen: Pen, w: Window, p: Property, over: Property | null) {
  const height = robustnessHeight;
  grid(pen, w, height);
  const points = visible(p.robustness, w);
  const finite = [...points, ...(over === null ? [] : visible(over.robustness, w))].map(([, v]) => v).filter(Number.isFinite);
  const [least, greatest] = [finite.reduce((a, b) => Math.min(a, b), 0), finite.reduce((a, b) => Math.max(a, b), 0)];
  const size = Math.max(greatest, -least) || 1;
  const [bottom, top] = least < 0 || points.some(([, v]) => v < 0) ? [Math.min(least, -0.3 * size), greatest || size] : [0, size];
  const y = (v: number) => Math.min(height - 3, Math.max(3, 3 + (height - 6) * (top - v) / (top - bottom)));
  const zero = y(0);
  pen.inside(0, 0, w.width, height, () => {
    const drawn = held(points, 2 * size);
    const [first, last] = [drawn[0], drawn.at(-1)];
    const d = line(drawn, w, y);
    for (const [from, to] of p.always ? negative(drawn) : []) {
      pen.rect(place(w, from), 0, Math.max(1, place(w, to) - place(w, from)), height, { fill: "error", opacity: 0.2 });
    }
    if (first !== undefined && last !== undefined) {
      const area = `M${place(w, first[0]).toFixed(2)} ${zero}${d.replaceAll("M", "L")}L${place(w, last[0]).toFixed(2)} ${zero}Z`;
      pen.inside(0, 0, w.width, zero, () => pen.path(area, { fill: "success", opacity: 0.22 }));
      pen.inside(0, zero, w.width, height - zero, () => pen.scaled(1, 0, -zero, () => pen.path(area, { fill: p.always ? "error" : "muted", opacity: 0.3 })));
    }
    if (last !== undefined && last[0] < w.to && p.decided !== null) pen.text(Math.max(0, place(w, last[0])) + 6, zero - 6, "decided");
    pen.path(`M0 ${zero}H${w.width}`, { stroke: "muted" });
    pen.path(d, { stroke: p.verdict === "violated" ? "error" : "success", width: 1.5 });
    if (over !== null) pen.path(line(held(visible(over.robustness, w), 2 * size), w, y), { stroke: "ink", width: 1.5, dash: [2, 3] });
    if (p.at !== null) pen.path(`M${Math.round(place(w, p.at))}.5 0V${height}`, { stroke: "error", dash: [4, 3] });
  });
  for (const [v, at] of [[greatest, 3], [least, height - 3]] as const) {
    if (v !== 0) pen.text(-6, at === 3 ? 11 : height - 3, tick(Number(v.toPrecision(3)), 10 ** Math.floor(Math.log10(Math.abs(v)) - 2)), { anchor: "end", size: 10 });
  }
  pen.rect(0.5, 0.5, w.width - 1, height - 1, { stroke: "rule" });
}
