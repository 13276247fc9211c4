// A recorded run, as the page receives it, and as it uses it.

import { after, before } from "./sorted.ts";

/** Task is a task of the plan. */
export interface Task {
  name: string;
  label: string; // shorter than the name
  kind: string;
  symbol: string; // of the kind in drawings; "": none
  role: "composite" | "parallel" | "decorator" | "condition" | "action";
  parent: number; // -1: none
  note: string; // parameters or expressions
  detail: string[]; // of the tooltip
  leaf: boolean;
  rests: boolean; // a condition that is not judged where the plan does not hear it
  on?: Logic; // of a condition
  off?: Logic;
  mark?: string; // in the editor: error, warning, disabled or ""
}

/** Logic is the Boolean structure of a condition. What is neither a threshold nor a combination is opaque. */
export interface Logic {
  op: "true" | "false" | "opaque" | "threshold" | "not" | "and" | "or";
  signal?: string;
  limit?: number; // in the unit of the signal
  args?: Logic[];
}

/** Lane is the history of a task: s[i] holds from t[i] to t[i+1], the last to the end. */
export interface Lane {
  task: number;
  depth: number;
  t: number[];
  s: number[];
}

interface PackedSignal {
  name: string;
  unit: string;
  text: string;
  type: string; // "" is real
  names: string[] | null; // of the values of an enumeration
  time: string; // float64s in base64; "": the times of the log
  values: string; // float32s in base64
}

/** Signal is a recorded signal with its samples. */
export interface Signal extends Omit<PackedSignal, "time" | "values"> {
  time: Float64Array;
  values: Float32Array;
}

interface PackedProperty {
  text: string;
  kind: string;
  verdict: string;
  margin: number | null; // null: only tasks decide
  at: number | null; // if violated: the first time at which it fails
  decided: number | null; // null: it is open
  always: boolean; // it is violated where the robustness is negative
  time: string; // of the robustness, as of signals
  values: string;
}

/** Property is a property of the mission with its robustness over time. */
export interface Property extends Omit<PackedProperty, "time" | "values"> {
  robustness: Signal;
}

export interface Event {
  t: number;
  micro: number;
  kind: string;
  text: string;
  grave?: boolean;
}

/** Table is a table of texts. */
export interface Table {
  title: string;
  columns: string[]; // those that begin with # contain numbers
  rows: string[][];
  classes: string[] | null; // of rows
}

/**
 * Changes are the status changes by column. Of the first ones, it is known what they follow from: the change that is so
 * many places back or, if that is 0, a reason; "": it is not known.
 */
export interface Changes {
  back: number[] | null;
  why: string[] | null;
  t: number[] | null;
  micro: number[] | null;
  task: number[] | null;
  from: number[] | null;
  to: number[] | null;
}

/** Data is what the page receives. */
export interface Data {
  mission: string;
  text: string;
  verdict: { outcome: string; word: string; at: string; horizon: string; reason: string };
  facts: { name: string; text: string; small: string }[];
  flight: boolean; // over a link, not simulated
  axis: string;
  start: number;
  end: number;
  statuses: string[];
  transient: boolean[]; // by status
  tasks: Task[];
  lanes: Lane[] | null;
  time: string;
  signals: PackedSignal[] | null;
  plots: { title: string; signals: number[] }[] | null;
  changes: Changes;
  events: Event[] | null;
  gap: [number, number] | null; // the omitted events
  notes: { history: string[] | null; table: string[] | null };
  properties: PackedProperty[] | null;
  verdicts: Table | null;
  activities: Table | null;
  extremes: Table | null;
  parameters: { text: string; changed: Table | null; all: Table } | null;
  documents: { name: string; text: string }[] | null;
  fence: Area[] | null; // the vehicle must be inside each area, and outside each forbidden one
  rally: Coordinates[] | null; // places to return to instead of home
}

/** Coordinates are those of a place [m], from home. */
export interface Coordinates {
  north: number;
  east: number;
}

/** Area is a polygon or, without corners, a circle. */
export interface Area {
  forbidden: boolean;
  corners: Coordinates[] | null;
  centre: Coordinates;
  radius: number;
}

/** Run is a run with its samples unpacked. It never changes. */
export interface Run {
  data: Data;
  from: number; // the time axis [s]
  to: number;
  lanes: Lane[]; // in the order in which a tree is read
  laneOf: (Lane | undefined)[]; // by task
  children: number[][]; // by task
  root: number;
  signals: Signal[];
  named: ReadonlyMap<string, Signal>; // the first one of each name
  properties: Property[];
  time: Float64Array; // of the log; empty if each signal has its own
  events: Event[];
  faults: Event[];
  instants: Float64Array; // at which a status changes or an event occurs, each once
}

function unpack(text: string): ArrayBuffer {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = packed.charCodeAt(i);
  return bytes.buffer;
}

const degrees = 180 / Math.PI;

/** shown writes angles in degrees, as people read them. */
const shown = (s: Signal): Signal => s.unit === "rad" ? { ...s, unit: "°", values: s.values.map((v) => v * degrees) } : s;

/** inDegrees returns a structure with its limits on angles likewise. */
function inDegrees(logic: Logic, angles: ReadonlySet<string>): Logic {
  if (logic.signal !== undefined) return angles.has(logic.signal) ? { ...logic, limit: logic.limit! * degrees } : logic;
  return logic.args === undefined ? logic : { ...logic, args: logic.args.map((part) => inDegrees(part, angles)) };
}

/** read unpacks the data of a run. */
export function read(packed: Data): Run {
  const angles = new Set((packed.signals ?? []).filter((s) => s.unit === "rad").map((s) => s.name));
  const tasks = packed.tasks.map((task) => ({
    ...task,
    ...(task.on === undefined ? {} : { on: inDegrees(task.on, angles) }),
    ...(task.off === undefined ? {} : { off: inDegrees(task.off, angles) }),
  }));
  const data = { ...packed, tasks };
  const time = new Float64Array(unpack(data.time));
  const children: number[][] = tasks.map(() => []);
  tasks.forEach((task, i) => children[task.parent]?.push(i));
  const lanes = data.lanes ?? [];
  const laneOf: (Lane | undefined)[] = data.tasks.map(() => undefined);
  for (const lane of lanes) laneOf[lane.task] = lane;
  const events = data.events ?? [];
  const signals = (data.signals ?? []).map((s) => shown({
    ...s,
    time: s.time ? new Float64Array(unpack(s.time)) : time,
    values: new Float32Array(unpack(s.values)),
  }));
  return {
    data,
    from: data.start,
    to: data.end > data.start ? data.end : data.start + 1,
    lanes,
    laneOf,
    children,
    root: data.tasks.findIndex((task) => task.parent < 0),
    signals,
    named: new Map(signals.toReversed().map((s) => [s.name, s])),
    properties: (data.properties ?? []).map(({ time, values, ...p }) => ({ ...p, robustness: {
      name: p.text, unit: "1", text: "", type: "", names: null, time: new Float64Array(unpack(time)), values: new Float32Array(unpack(values)),
    } })),
    time,
    events,
    faults: events.filter((e) => e.grave || /error|conflict|chatter|loop|fail/i.test(e.kind)),
    instants: Float64Array.from(new Set([...(data.changes.t ?? []), ...events.map((e) => e.t)])).sort(),
  };
}

/** valueAt reads a signal at a time: numbers straight between samples, infinite and other values as of the last sample. */
export function valueAt({ time, values, type }: Signal, t: number): number {
  const k = after(time, t);
  if (k === 0) return NaN;
  if (time[k - 1] === t || (type !== "" && k < time.length)) return values[k - 1]!;
  if (k === time.length) return NaN;
  if (Math.abs(values[k - 1]!) === Infinity || Math.abs(values[k]!) === Infinity) return values[k - 1]!;
  const part = (t - time[k - 1]!) / (time[k]! - time[k - 1]!);
  return values[k - 1]! + part * (values[k]! - values[k - 1]!);
}

/** nameOf returns the name of a value of an enumeration or Boolean signal; undefined: it is a number. */
export function nameOf(signal: Signal, v: number): string | undefined {
  if (signal.type === "boolean") return v === 1 ? "true" : v === 0 ? "false" : undefined;
  return signal.names?.[v];
}

/** statusAt returns the status of a task at the end of the instant t; -1 before it had one. */
export function statusAt(lane: Lane | undefined, t: number): number {
  if (lane === undefined) return -1;
  const i = after(lane.t, t);
  return i === 0 ? -1 : lane.s[i - 1]!;
}

/** statusesAt returns the status of each task at the end of the instant t. */
export const statusesAt = (run: Run, t: number) => run.laneOf.map((lane) => statusAt(lane, t));

/** next returns the first of the sorted times after t, previous the last before it; undefined: there is none. */
export const next = (times: ArrayLike<number>, t: number): number | undefined => times[after(times, t)];
export const previous = (times: ArrayLike<number>, t: number): number | undefined => times[before(times, t) - 1];

/** snapped returns the instant of a run that a time from another flight means, where rounding alone tells them apart. */
export function snapped(run: Run, t: number): number {
  const k = after(run.instants, t);
  const near = [run.instants[k - 1], run.instants[k]].filter((at) => at !== undefined && Math.abs(at - t) <= 1e-6 * Math.max(1, t)) as number[];
  return near.sort((a, b) => Math.abs(a - t) - Math.abs(b - t))[0] ?? t;
}

/** since returns from when and until when a task has the status that it has at t [s]. */
export function since(run: Run, lane: Lane, t: number): [number, number] {
  const i = Math.max(0, after(lane.t, t) - 1);
  return [lane.t[i] ?? run.from, lane.t[i + 1] ?? run.data.end];
}
