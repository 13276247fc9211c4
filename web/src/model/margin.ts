// How far a condition is from changing.

import { type Logic, type Run, valueAt } from "./run.ts";

/** Margin is the robustness of a condition: positive where it holds, and by how much its deciding signal may move. */
export interface Margin {
  value: number; // NaN: not known
  signal: string; // that decides; "": none
  limit: number; // of this signal,
  below: boolean; // below which the condition holds, not from which on
}

const unknown: Margin = { value: NaN, signal: "", limit: NaN, below: false };

/** negated is the margin of the opposite. */
const negated = (m: Margin): Margin => ({ ...m, value: -m.value, below: !m.below });

/** margin evaluates the structure of a condition at a time, with the signals that the run has recorded. */
export function margin(run: Run, logic: Logic, t: number): Margin {
  switch (logic.op) {
    case "true":
      return { ...unknown, value: Infinity };
    case "false":
      return { ...unknown, value: -Infinity };
    case "threshold": {
      const signal = run.named.get(logic.signal!);
      if (signal === undefined) return unknown;
      const v = valueAt(signal, t);
      return { value: v - logic.limit!, signal: signal.name, limit: logic.limit!, below: false };
    }
    case "not":
      return negated(margin(run, logic.args![0]!, t));
    case "and":
    case "or": {
      // A part that is not known decides unless another one does.
      const parts = logic.args!.map((l) => margin(run, l, t));
      const sign = logic.op === "and" ? 1 : -1;
      const known = parts.filter((m) => !Number.isNaN(m.value));
      const least = known.reduce((a, b) => (sign * b.value < sign * a.value ? b : a), { ...unknown, value: sign * Infinity });
      return known.length === parts.length || sign * least.value < 0 ? least : unknown;
    }
    default:
      return unknown;
  }
}

/**
 * forecast returns when a condition with a margin would change if its signal went on as at the end of the run; null: it
 * never would, or t is earlier.
 */
export function forecast(run: Run, m: Margin, t: number): number | null {
  const { time, values } = run.named.get(m.signal)!;
  const n = time.length;
  if (n < 2 || t < time[n - 1]!) return null;
  let k = n - 2;
  while (k > 0 && time[k] === time[n - 1]) k--; // both sides of an event
  const left = (m.limit - values[n - 1]!) * (time[n - 1]! - time[k]!) / (values[n - 1]! - values[k]!);
  return left > 0 && left < Infinity ? time[n - 1]! + left : null;
}

/** thresholds lists the limits of each signal in a structure. */
export function thresholds(logic: Logic | undefined): { signal: string; limit: number }[] {
  if (logic === undefined) return [];
  if (logic.op === "threshold") return [{ signal: logic.signal!, limit: logic.limit! }];
  return (logic.args ?? []).flatMap(thresholds);
}

/** Limit is a threshold of a condition on a signal that is drawn. */
export interface Limit {
  value: number;
  text: string;
}

const mostLimits = 12; // that are drawn on a plot

/**
 * limitsOn lists the thresholds of conditions on a signal, with their names: of the selected one if there is
 * one. Too many are left out.
 */
export function limitsOn(run: Run, signal: string, selected: number | null): Limit[] {
  const found = new Map<number, Set<string>>();
  const chosen = selected === null ? undefined : run.data.tasks[selected];
  for (const task of chosen?.on === undefined ? run.data.tasks : [chosen]) {
    for (const { signal: name, limit } of [...thresholds(task.on), ...thresholds(task.off)]) {
      if (name !== signal) continue;
      found.set(limit, (found.get(limit) ?? new Set()).add(task.label));
    }
  }
  return found.size > mostLimits ? [] : [...found].map(([value, names]) => ({ value, text: [...names].slice(0, 3).join(", ") }));
}
