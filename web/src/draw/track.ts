// The way of a vehicle over ground, with its fence, the places of its route, home and rally points.

import { after, before } from "../model/sorted.ts";
import { number, roundStep } from "../model/text.ts";
import { type Frame, type Track, pixel } from "../model/track.ts";
import type { Pen } from "./pen.ts";

const at = ([x, y]: [number, number]) => `${x.toFixed(1)} ${y.toFixed(1)}`;

/** circle is the path round a point. */
const circle = ([x, y]: [number, number], r: number) => `M${(x - r).toFixed(1)} ${y.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;

/** way joins the samples from one index to another. */
function way(t: Track, f: Frame, from: number, to: number): string {
  let d = "";
  let pen = "M";
  for (let i = Math.max(0, from); i < Math.min(to, t.time.length); i++) {
    const p = pixel(f, t.x[i]!, t.y[i]!);
    if (!p.every(Number.isFinite)) {
      pen = "M";
      continue;
    }
    d += pen + at(p);
    pen = "L";
  }
  return d;
}

/** track draws the whole way, what is in view of it strongly, a way that is laid over, and where the vehicle was. */
export function track(pen: Pen, t: Track, over: Track | null, f: Frame, view: { from: number; to: number }, now: number, width: number, height: number) {
  for (const a of t.areas) {
    const corners = (a.corners ?? []).map((c) => at(pixel(f, c.east, c.north)));
    const d = corners.length > 0 ? `M${corners.join("L")}Z` : circle(pixel(f, a.centre.east, a.centre.north), a.radius * f.scale[0]);
    pen.path(d, a.forbidden ? { fill: "error", opacity: 0.12, stroke: "error" } : { stroke: "success", dash: [6, 3] });
  }
  pen.path(way(t, f, 0, t.time.length), { stroke: "rule", width: 1.5 });
  pen.path(way(t, f, before(t.time, view.from), after(t.time, view.to)), { stroke: "curve0", width: 1.5 });
  if (over !== null) pen.path(way(over, f, 0, over.time.length), { stroke: "curve1", width: 1.5, dash: [2, 3] });
  for (const [x, y] of t.route) pen.path(circle(pixel(f, x, y), 4), { stroke: "change", fill: "paper", width: 1.5 });
  for (const p of t.rally) {
    const [x, y] = pixel(f, p.east, p.north);
    pen.path(`M${x} ${y - 5}L${x + 5} ${y}L${x} ${y + 5}L${x - 5} ${y}Z`, { fill: "curve3" });
  }
  if (t.home) {
    const [x, y] = pixel(f, 0, 0);
    pen.path(`M${x - 5} ${y + 5}V${y - 1}L${x} ${y - 6}L${x + 5} ${y - 1}V${y + 5}Z`, { fill: "ink" });
  }
  const i = Math.max(0, after(t.time, now) - 1);
  const here = pixel(f, t.x[i] ?? NaN, t.y[i] ?? NaN);
  if (here.every(Number.isFinite)) pen.path(circle(here, 6), { fill: "accent", stroke: "paper", width: 2 });
  const step = roundStep(60 / f.scale[0]);
  pen.path(`M8 ${height - 8}v-4m0 2H${8 + step * f.scale[0]}m0 -2v4`, { stroke: "muted" });
  pen.text(8, height - 16, `${number(step)} ${t.unit}`);
  pen.text(width - 6, 12, t.unit === "°" || t.home ? "north ↑" : `${t.names[1]} ↑ ${t.names[0]} →`, { anchor: "end" });
}
