// The time axis that all drawings share.

import { clock, multiples, roundStep, timeStep } from "../model/text.ts";
import type { Pen } from "./pen.ts";

/** Window is an interval of time and its width on the screen. */
export interface Window {
  from: number; // [s]
  to: number;
  width: number; // [px]
}

/** place returns where a time is, from the left of the window [px]. */
export const place = (w: Window, t: number) => (t - w.from) / (w.to - w.from) * w.width;

/** timeOf is the inverse of place, within the window. */
export const timeOf = (w: Window, x: number) => w.from + Math.min(1, Math.max(0, x / w.width)) * (w.to - w.from);

/** resolution is the round time [s] that a pixel tells apart, at most 1 s. */
export const resolution = (w: Window) => Math.min(1, roundStep((w.to - w.from) / w.width));

const labelWidth = (t: number, step: number) => 6.3 * clock(t, step).length;

/** gridStep is the distance [s] of the labels of the axis, so that they leave some room between them. */
export function gridStep(w: Window): number {
  for (let apart = 80; ;) {
    const step = timeStep((w.to - w.from) * apart / w.width);
    const needed = labelWidth(w.to, step) + 14;
    if (needed <= apart || apart > w.width) return step;
    apart = needed;
  }
}

/** grid draws the lines of the time axis. */
export function grid(pen: Pen, w: Window, height: number) {
  const d = multiples(gridStep(w), w.from, w.to).map((t) => `M${Math.round(place(w, t)) + 0.5} 0V${height}`).join("");
  pen.path(d, { stroke: "faint" });
}

export const axisHeight = 20;

/** axis draws the axis with its labels, above the drawings or below them; it uses some room on both sides. */
export function axis(pen: Pen, w: Window, side: "above" | "below", room: number) {
  const edge = side === "below" ? 0.5 : axisHeight - 0.5;
  const step = gridStep(w);
  let ticks = `M0 ${edge}H${w.width}`;
  let free = -room;
  for (const t of multiples(step, w.from, w.to)) {
    const x = Math.round(place(w, t)) + 0.5;
    ticks += `M${x} ${edge}v${side === "below" ? 4 : -4}`;
    const half = labelWidth(t, step) / 2;
    const middle = Math.max(half - room, Math.min(x, w.width + room - half));
    if (middle - half < free) continue;
    free = middle + half + 4;
    pen.text(middle, side === "below" ? 16 : 11, clock(t, step), { anchor: "middle" });
  }
  pen.path(ticks, { stroke: "muted" });
}
