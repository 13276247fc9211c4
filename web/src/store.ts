// What changes while a person looks at a run: one time cursor, one selection, one view.

import { type Signal, signal } from "@preact/signals";
import { collapsedBelow, ancestors } from "./model/layout.ts";
import { type LaidOver, layOver } from "./model/difference.ts";
import { type Run, next, previous, snapped } from "./model/run.ts";

/** mostOpen is how many tasks of a tree are open at first. */
const mostOpen = 400;

/** least is the shortest interval that is shown [s]: below it the digits of a time of day end. */
const least = 1e-6;

export const speeds = [1, 10, 60, 600, 3600];

export class Store {
  readonly run: Run;
  readonly against: Run | null; // a second run that is laid over it
  readonly laidOver: LaidOver | null; // its lanes
  readonly time: Signal<number>; // the cursor [s]
  readonly other: Signal<number | null> = signal(null); // the second cursor
  readonly hover: Signal<number | null> = signal(null); // where the pointer is
  readonly view: Signal<{ from: number; to: number }>;
  readonly selected: Signal<number | null> = signal(null); // a task
  readonly hidden: Signal<ReadonlySet<number>> = signal(new Set()); // signals
  readonly picked: Signal<readonly number[]> = signal([]); // signals that are drawn in addition
  readonly collapsed: Signal<ReadonlySet<number>>;
  readonly playing: Signal<boolean> = signal(false);
  readonly speed: Signal<number>; // simulated seconds in a second
  readonly printing: Signal<boolean> = signal(false);
  readonly dark: Signal<boolean> = signal(false);
  live = false; // the run is in progress

  constructor(run: Run, against: Run | null = null) {
    this.run = run;
    this.against = against;
    this.laidOver = against === null ? null : layOver(run, against);
    this.time = signal(run.data.end);
    this.view = signal({ from: run.from, to: run.to });
    this.collapsed = signal(collapsedBelow(run, mostOpen));
    this.speed = signal(speeds.find((s) => (run.to - run.from) / s < 120) ?? speeds.at(-1)!);
  }

  /** seek moves the cursor, and the view with it where the cursor would leave it. */
  seek(t: number) {
    const { run, view: { value: { from, to } } } = this;
    this.time.value = Math.min(run.data.end, Math.max(run.from, t));
    if (this.time.value < from || this.time.value > to) this.pan(this.time.value - (from + to) / 2);
  }

  /** find moves the cursor to a time of another flight of the mission, if there is one, and selects a task by its name. */
  find(name: string, t?: number) {
    if (t !== undefined) this.seek(snapped(this.run, t));
    const task = this.run.data.tasks.findIndex((one) => one.name === name);
    if (task >= 0) this.select(task);
  }

  /** step moves the cursor to the next or previous instant with a change of a task, null: with any change or event. */
  step(direction: 1 | -1, task: number | null) {
    const times = task === null ? this.run.instants : this.run.laneOf[task]?.t ?? [];
    this.seek((direction > 0 ? next : previous)(times, this.time.value) ?? (direction > 0 ? this.run.data.end : this.run.from));
  }

  /** advance plays the run for some time of the viewer [s], if it is not paused. */
  advance(dt: number) {
    if (!this.playing.value) return;
    this.seek(this.time.value + dt * this.speed.value);
    if (this.time.value >= this.run.data.end) this.playing.value = false;
  }

  /** play starts, at the beginning if the cursor is at the end, or pauses. */
  play() {
    if (!this.playing.value && this.time.value >= this.run.data.end) this.seek(this.run.from);
    this.playing.value = !this.playing.value;
  }

  /** show shows an interval as far as it is in the run, and not less than can be told apart. */
  show(from: number, to: number) {
    const { run } = this;
    const shortest = Math.min(least, run.to - run.from);
    const start = Math.max(run.from, Math.min(from, run.to - shortest));
    this.view.value = { from: start, to: Math.min(run.to, Math.max(to, start + shortest)) };
  }

  showAll() {
    this.view.value = { from: this.run.from, to: this.run.to };
  }

  /** zoom shows less time by a factor, with a time where it is. */
  zoom(at: number, factor: number) {
    const { from, to } = this.view.value;
    this.show(at - (at - from) * factor, at + (to - at) * factor);
  }

  /** pan moves the view by a time [s], as far as the run goes. */
  pan(by: number) {
    const { from, to } = this.view.value;
    const d = by < 0 ? Math.max(by, this.run.from - from) : Math.min(by, this.run.to - to);
    this.view.value = { from: from + d, to: to + d };
  }

  /** select chooses a task, and opens the tasks above it. */
  select(task: number | null) {
    this.selected.value = task;
    if (task === null) return;
    const open = new Set(this.collapsed.value);
    if (ancestors(this.run, task).filter((a) => open.delete(a)).length > 0) this.collapsed.value = open;
  }

  /** fold collapses a task or opens it. */
  fold(task: number) {
    this.collapsed.value = toggled(this.collapsed.value, task);
  }

  /** hide hides the curve of a signal or shows it. */
  hide(index: number) {
    this.hidden.value = toggled(this.hidden.value, index);
  }

  /** pick draws a signal in addition, or no longer. */
  pick(index: number) {
    const { value } = this.picked;
    this.picked.value = value.includes(index) ? value.filter((i) => i !== index) : [...value, index];
  }

  /** follow takes over what a person sees of another run, or of the same one when it had not come so far. */
  follow(old: Store) {
    const [run, before] = [this.run, old.run];
    this.hidden.value = old.hidden.value;
    this.picked.value = old.picked.value.filter((i) => i < run.signals.length);
    if (before.data.tasks.length === run.data.tasks.length) {
      this.collapsed.value = old.collapsed.value;
      this.selected.value = old.selected.value;
    }
    const { from, to } = old.view.value;
    if (from !== before.from || to !== before.to) this.show(from, to);
    this.other.value = old.other.value;
    this.speed.value = old.speed.value;
    this.playing.value = old.playing.value;
    if (old.time.value < before.data.end) this.seek(old.time.value);
  }

  /** address returns what is seen as the fragment of an address, read sets it. */
  address(): string {
    const { from, to } = this.view.value;
    const words = [`t=${this.time.value}`];
    if (from !== this.run.from || to !== this.run.to) words.push(`view=${from},${to}`);
    if (this.selected.value !== null) words.push(`task=${encodeURIComponent(this.run.data.tasks[this.selected.value]!.name)}`);
    return words.join("&");
  }

  read(fragment: string) {
    const words = new URLSearchParams(fragment.replace(/^#/, ""));
    const numbers = (name: string) => words.get(name)?.split(",").map(Number).filter(Number.isFinite) ?? [];
    const [from, to] = numbers("view");
    if (from !== undefined && to !== undefined && from < to) this.show(from, to);
    const [t] = numbers("t");
    if (t !== undefined) this.seek(t);
    const task = this.run.data.tasks.findIndex((one) => one.name === words.get("task"));
    if (task >= 0) this.select(task);
  }
}

function toggled(set: ReadonlySet<number>, element: number): ReadonlySet<number> {
  const copy = new Set(set);
  if (!copy.delete(element)) copy.add(element);
  return copy;
}
