// Curves over the time axis.

import type { Limit } from "../model/margin.ts";
import { type Signal, nameOf, valueAt } from "../model/run.ts";
import { after, before } from "../model/sorted.ts";
import { multiples, roundStep, tick } from "../model/text.ts";
import type { Colour, Pen } from "./pen.ts";
import { type Window, grid, place } from "./time.ts";

/** Curve is a signal with the number of its colour. */
export interface Curve {
  signal: Signal;
  colour: number;
  over?: boolean; // it is of the run that is laid over
}

const dashes = [5, 3];

/** strokeOf returns the line of a colour number: after seven colours, they come again with dashes. */
export const strokeOf = (colour: number) =>
  ({ stroke: `curve${colour % 7}`, width: 1.5, ...(colour >= 7 ? { dash: dashes } : {}) });

export type Point = [t: number, v: number];

/** visible lists the points of a curve within the window, cut off exactly at its ends. */
export function visible(signal: Signal, w: Window): Point[] {
  const { time, values } = signal;
  const points: Point[] = [];
  const a = before(time, w.from);
  const b = after(time, w.to);
  if (a > 0 && a < time.length && time[a]! > w.from) points.push([w.from, valueAt(signal, w.from)]);
  for (let i = a; i < b; i++) points.push([time[i]!, values[i]!]);
  if (b > 0 && b < time.length && time[b - 1]! < w.to) points.push([w.to, valueAt(signal, w.to)]);
  return points;
}

/**
 * line joins points by straight lines. Where there are many to a pixel it keeps the first, the extremes and the last of
 * each column, which look the same.
 */
export function line(points: Point[], w: Window, y: (v: number) => number): string {
  const dense = points.length > 4 * w.width;
  let d = "";
  let pen = "M";
  const put = (x: number, v: number) => {
    d += pen + x.toFixed(2) + " " + y(v).toFixed(2);
    pen = "L";
  };
  let column: { at: number; first: number; least: number; greatest: number; last: number } | null = null;
  const flush = () => {
    if (column === null) return;
    const c = column;
    column = null;
    for (const v of [c.first, c.least, c.greatest, c.last]) put(c.at, v);
  };
  for (const [t, v] of points) {
    if (!Number.isFinite(v)) {
      flush();
      pen = "M";
      continue;
    }
    const x = place(w, t);
    if (!dense) {
      put(x, v);
      continue;
    }
    const at = Math.floor(x) + 0.5;
    if (column !== null && column.at !== at) flush();
    column ??= { at, first: v, least: v, greatest: v, last: v };
    column.least = Math.min(column.least, v);
    column.greatest = Math.max(column.greatest, v);
    column.last = v;
  }
  flush();
  return d;
}

/** Scale is the range of a value axis. */
export interface Scale {
  least: number;
  greatest: number;
}

/**
 * scale gives a value axis: a little more than what is seen, 0 where it is near, and never so little that rounding errors
 * fill the plot; null: there is no value.
 */
export function scale(curves: Point[][]): Scale | null {
  let least = Infinity;
  let greatest = -Infinity;
  for (const points of curves) {
    for (const [, v] of points) {
      if (!Number.isFinite(v)) continue;
      least = Math.min(least, v);
      greatest = Math.max(greatest, v);
    }
  }
  if (least > greatest) return null;
  if (least > 0 && least < 0.35 * greatest) least = 0;
  if (greatest < 0 && greatest > 0.35 * least) greatest = 0;
  const size = Math.max(Math.abs(least), Math.abs(greatest));
  const margin = greatest > least ? Math.max(0.06 * (greatest - least), 1e-5 * size) : 0.05 * size || 1;
  return { least: least - margin, greatest: greatest + margin };
}

/** plot draws curves that share a value axis, with the thresholds that are within it; labels stand to the left of 0. */
export function plot(pen: Pen, w: Window, height: number, curves: Curve[], limits: Limit[], faults: number[]) {
  const points = curves.map((c) => visible(c.signal, w));
  const range = scale(points);
  grid(pen, w, height);
  if (range === null) {
    pen.text(w.width / 2, height / 2, curves.length === 0 ? "no curve is shown" : "no values", { anchor: "middle" });
  } else {
    const y = (v: number) => 5 + (height - 10) * (range.greatest - v) / (range.greatest - range.least);
    const step = roundStep((range.greatest - range.least) / (height / 21));
    let lines = "";
    for (const v of multiples(step, range.least, range.greatest)) {
      const at = Math.round(y(v)) + 0.5;
      lines += `M0 ${at}H${w.width}`;
      pen.text(-6, at + 3.5, tick(v, step), { anchor: "end" });
    }
    pen.path(lines, { stroke: "faint" });
    pen.inside(0, 0, w.width, height, () => {
      let free = Infinity; // below which a label is above the next one
      for (const limit of limits.filter((l) => l.value > range.least && l.value < range.greatest).sort((a, b) => a.value - b.value)) {
        const at = Math.round(y(limit.value)) + 0.5;
        pen.path(`M0 ${at}H${w.width}`, { stroke: "muted", dash: [2, 3] });
        if (at > free) continue;
        pen.text(4, at > 14 ? at - 3 : at + 10, limit.text, { size: 10 });
        free = at - 12;
      }
      markFaults(pen, w, height, faults);
      for (let i = curves.length; i-- > 0;) {
        const { colour, over } = curves[i]!;
        pen.path(line(points[i]!, w, y), over ? { ...strokeOf(colour), dash: [2, 3] } : strokeOf(colour));
      }
    });
  }
  pen.rect(0.5, 0.5, w.width - 1, height - 1, { stroke: "rule" });
}

function markFaults(pen: Pen, w: Window, height: number, faults: number[]) {
  const d = faults.filter((t) => t >= w.from && t <= w.to).map((t) => `M${Math.round(place(w, t))}.5 0V${height}`).join("");
  if (d !== "") pen.path(d, { stroke: "error", dash: [4, 3] });
}

/** Named is an interval with a text. */
export interface Named {
  from: number;
  to: number;
  text: string;
  colour: Colour;
}

/** blocks draws intervals as a lane, with their texts where there is room; what is short remains visible. */
export function blocks(pen: Pen, w: Window, height: number, list: Named[]) {
  grid(pen, w, height);
  pen.inside(0, 0, w.width, height, () => {
    for (const { from, to, text, colour } of list) {
      if (to < w.from || from > w.to) continue;
      const x1 = Math.max(-2, place(w, from));
      const x2 = Math.max(x1 + 0.8, Math.min(w.width + 2, place(w, to)));
      pen.rect(x1, 2, x2 - x1, height - 4, { fill: colour, opacity: 0.25, stroke: colour }, 2);
      if (text !== "" && x2 - x1 > 7 * text.length) pen.text((Math.max(x1, 0) + Math.min(x2, w.width)) / 2, height / 2 + 4, text, { anchor: "middle", fill: "ink" });
    }
  });
}

/** valuesOf lists the intervals in which a signal whose values have names has a value, except false. */
export function valuesOf(signal: Signal, colour: number): Named[] {
  const { time, values: v } = signal;
  const list: Named[] = [];
  for (let i = 0; i < time.length;) {
    let end = i + 1;
    while (end < time.length && v[end] === v[i]) end++;
    const text = nameOf(signal, v[i]!);
    const to = time[Math.min(end, time.length - 1)]!;
    if (text !== undefined && text !== "false" && to > time[i]!) list.push({ from: time[i]!, to, text, colour: `curve${colour % 7}` });
    i = end;
  }
  return list;
}
