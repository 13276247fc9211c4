// What a status follows from.

import type { Run } from "./run.ts";
import { after } from "./sorted.ts";

/** Chain leads from a status change to the first change behind it, and to the reason of that. */
export interface Chain {
  t: number;
  changes: number[]; // their places
  reason: string;
}

/** chain explains the status that a task has at the end of the instant t; null: the log does not say why it has it. */
export function chain(run: Run, task: number, t: number): Chain | null {
  const { t: times, task: tasks, back, why } = run.data.changes;
  let k = after(times ?? [], t) - 1;
  while (k >= 0 && tasks![k] !== task) k--;
  const changes: number[] = [];
  for (let i = k; i >= 0 && back?.[i] !== undefined; i -= back[i]!) {
    changes.push(i);
    if (back[i] === 0) return why![i] === "" ? null : { t: times![k]!, changes, reason: why![i]! };
  }
  return null;
}
