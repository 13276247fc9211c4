// The way of a vehicle over ground.

import type { Area, Coordinates, Run, Signal } from "./run.ts";

/** Track is a way in a plane: x to the right, y up. */
export interface Track {
  names: [string, string];
  unit: string;
  time: Float64Array;
  x: Float32Array;
  y: Float32Array;
  route: [number, number][]; // the places to which tasks sent the vehicle
  home: boolean; // the origin is home
  areas: Area[];
  rally: Coordinates[];
}

const pairs: [string, string][] = [["east", "north"], ["x", "y"], ["lon", "lat"]];

/** track finds the signals of a position; null: none are recorded. */
export function track(run: Run): Track | null {
  const find = (name: string): Signal | undefined => {
    const s = run.named.get(name);
    return s?.type === "" ? s : undefined;
  };
  for (const [right, up] of pairs) {
    const [x, y] = [find(right), find(up)];
    if (x === undefined || y === undefined || x.unit !== y.unit || x.values.length !== y.values.length) continue;
    if (x.time.length === 0 || !x.time.every((t, i) => t === y.time[i])) continue;
    const local = right === "east";
    return {
      names: [right, up], unit: x.unit, time: x.time, x: x.values, y: y.values, home: local,
      route: places(find(`target_${right}`), find(`target_${up}`)),
      areas: local ? run.data.fence ?? [] : [], rally: local ? run.data.rally ?? [] : [],
    };
  }
  return null;
}

const mostPlaces = 200;

/** places lists the places that two signals had together, each once, in their order. */
function places(x: Signal | undefined, y: Signal | undefined): [number, number][] {
  const list = new Map<string, [number, number]>();
  for (let i = 0; x !== undefined && y !== undefined && i < Math.min(x.values.length, y.values.length) && list.size < mostPlaces; i++) {
    const place: [number, number] = [x.values[i]!, y.values[i]!];
    if (place.every(Number.isFinite)) list.set(place.join(), place);
  }
  return [...list.values()];
}

/** Frame maps a track to pixels; north is up, and both axes have one scale except that of longitude. */
export interface Frame {
  scale: [number, number]; // px for a unit
  origin: [number, number]; // px
}

/** frameOf fits a track, its route and its fence into a size. */
export function frameOf(t: Track, width: number, height: number): Frame {
  const xs: number[] = [];
  const ys: number[] = [];
  const add = (x: number, y: number) => {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    xs.push(x);
    ys.push(y);
  };
  t.x.forEach((x, i) => add(x, t.y[i]!));
  for (const [x, y] of t.route) add(x, y);
  for (const p of t.rally) add(p.east, p.north);
  for (const a of t.areas) {
    for (const c of a.corners ?? []) add(c.east, c.north);
    if (a.radius > 0) {
      add(a.centre.east - a.radius, a.centre.north - a.radius);
      add(a.centre.east + a.radius, a.centre.north + a.radius);
    }
  }
  if (t.home) add(0, 0);
  const range = (v: number[]): [number, number] => v.length === 0 ? [0, 1] : [v.reduce((a, b) => Math.min(a, b)), v.reduce((a, b) => Math.max(a, b))];
  const [[left, right], [bottom, top]] = [range(xs), range(ys)];
  const narrow = t.unit === "°" ? Math.max(0.01, Math.cos((bottom + top) / 2 * Math.PI / 180)) : 1;
  const room = 18; // px on each side
  const span = Math.max((right - left) * narrow, top - bottom, 1e-9);
  const scale = Math.min((width - 2 * room) / Math.max((right - left) * narrow, span * 1e-3), (height - 2 * room) / Math.max(top - bottom, span * 1e-3));
  return {
    scale: [scale * narrow, -scale],
    origin: [width / 2 - (left + right) / 2 * scale * narrow, height / 2 + (bottom + top) / 2 * scale],
  };
}

/** pixel is where a place is. */
export const pixel = (f: Frame, x: number, y: number): [number, number] => [f.origin[0] + x * f.scale[0], f.origin[1] + y * f.scale[1]];

/** nearest returns the time at which the track was nearest to a point [px], and how near; null: it has no point. */
export function nearest(t: Track, f: Frame, px: number, py: number): { t: number; distance: number } | null {
  let best: { t: number; distance: number } | null = null;
  for (let i = 0; i < t.time.length; i++) {
    const [x, y] = pixel(f, t.x[i]!, t.y[i]!);
    const distance = Math.hypot(x - px, y - py);
    if (Number.isFinite(distance) && (best === null || distance < best.distance)) best = { t: t.time[i]!, distance };
  }
  return best;
}
