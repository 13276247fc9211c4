// Where two runs differ.

import { type Lane, type Run, statusAt } from "./run.ts";

/** Difference is the first instant at whose end a task has different statuses in two runs. */
export interface Difference {
  t: number;
  task: number; // of the first run
  statuses: [string, string];
}

/** LaidOver is the lanes of a second run, by task of the first one. */
export interface LaidOver {
  lanes: readonly (Lane | undefined)[];
  end: number; // of the second run [s]
  only: Lane[]; // of the second run: of tasks that the first one does not have
  missing: number[]; // tasks that the second run does not have
}

/** layOver finds the lanes of the second run for the tasks of the first one, by name. */
export function layOver(a: Run, b: Run): LaidOver {
  const named = new Map(b.data.tasks.map((task, i) => [task.name, i]));
  const known = new Set(a.data.tasks.map((task) => task.name));
  return {
    lanes: a.data.tasks.map((task) => b.laneOf[named.get(task.name) ?? -1]), end: b.data.end,
    only: b.lanes.filter((l) => !known.has(b.data.tasks[l.task]!.name)),
    missing: a.data.tasks.flatMap((task, i) => named.has(task.name) ? [] : [i]),
  };
}

/**
 * firstDifference compares the tasks that two runs have by name, while both last; null: they have the same statuses. Of
 * several tasks at one instant, it is the first one in the order of the lanes.
 */
export function firstDifference(a: Run, b: Run): Difference | null {
  const { lanes } = layOver(a, b);
  const end = Math.min(a.data.end, b.data.end);
  let first: Difference | null = null;
  for (const lane of a.lanes) {
    const other = lanes[lane.task];
    if (other === undefined) continue;
    for (const t of Float64Array.from(new Set([...lane.t, ...other.t])).sort()) {
      if (t > end || (first !== null && t >= first.t)) break;
      const statuses = [a.data.statuses[statusAt(lane, t)], b.data.statuses[statusAt(other, t)]];
      if (statuses[0] === statuses[1]) continue;
      first = { t, task: lane.task, statuses: [statuses[0] ?? "absent", statuses[1] ?? "absent"] };
      break;
    }
  }
  return first;
}
