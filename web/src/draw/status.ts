// How statuses look. No meaning rests on colour alone: they differ by place, hatching and sign, too.

import type { Colour, Paint, Pen } from "./pen.ts";

interface Look {
  line: Colour;
  fill: Colour; // of a lane
  share: number; // the opacity of the filling of a box
  sign: string;
  span: [number, number]; // top and bottom in a lane of height 1
}

const full: [number, number] = [0.14, 0.86];
const middle: [number, number] = [0.45, 0.55];

const looks: Record<string, Look> = {
  Success: { line: "success", fill: "success", share: 0.12, sign: "✓", span: [0.14, 0.3] },
  Failure: { line: "failure", fill: "failure", share: 0.12, sign: "✕", span: [0.7, 0.86] },
  Accept: { line: "accept", fill: "accept", share: 0.08, sign: "·", span: middle },
  Activating: { line: "change", fill: "hatch activating", share: 0.25, sign: "◔", span: full },
  Running: { line: "running", fill: "running", share: 0.28, sign: "▶", span: full },
  Finished: { line: "success", fill: "hatch finished", share: 0.4, sign: "✓", span: full },
  Aborted: { line: "failure", fill: "hatch aborted", share: 0.4, sign: "✕", span: full },
  Deactivating: { line: "change", fill: "hatch deactivating", share: 0.4, sign: "◑", span: full },
  Skipped: { line: "muted", fill: "muted", share: 0.12, sign: "–", span: middle },
  Dropped: { line: "muted", fill: "muted", share: 0.4, sign: "–", span: full },
};

const none: Look = { line: "rule", fill: "rule", share: 0, sign: "", span: middle };

/** look returns the look of a status by its name. */
export const look = (status: string | undefined): Look => looks[status ?? ""] ?? none;

/** active tells whether a task with this status is active: its edge is lit. */
export const active = (status: string | undefined): boolean =>
  ["Activating", "Running", "Finished", "Aborted", "Dropped"].includes(status ?? "");

/** block is the path round one interval of a lane. */
export function block(status: string, x1: number, x2: number, y: number, height: number): string {
  const [top, bottom] = look(status).span;
  return `M${x1.toFixed(2)} ${(y + top * height).toFixed(1)}H${x2.toFixed(2)}V${(y + bottom * height).toFixed(1)}H${x1.toFixed(2)}Z`;
}

/** fillOf is the paint of a block. Composites are lighter while they run. */
export const fillOf = (status: string, leaf: boolean): Paint =>
  ({ fill: look(status).fill, opacity: status === "Running" && !leaf ? 0.45 : 1 });

/** sample draws a block by itself, for a key. */
export const sample = (pen: Pen, status: string) => pen.path(block(status, 0, 26, 0, 16), fillOf(status, true));
