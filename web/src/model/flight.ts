// What a flight over a link has beside its signals: who commands, the commands with their answers, sources that are lost.

import type { Run } from "./run.ts";

/** Block is an interval of a lane. */
export interface Block {
  from: number; // [s]
  to: number;
  text: string; // short
  detail: string; // what the log says
  look: "ours" | "other" | "quiet" | "bad" | "waiting";
}

export interface BlockLane {
  name: string;
  blocks: Block[];
}

type Holder = [text: string, look: Block["look"]];

/** holders are the events after which somebody else commands the vehicle. */
const holders: Record<string, Holder> = {
  attached: ["Canopy", "ours"], resumed: ["Canopy", "ours"], observed: ["only observed", "quiet"], rebooted: ["nobody", "quiet"],
  "pilot took over": ["pilot", "other"], "another station took over": ["another station", "other"], "failsafe took over": ["failsafe", "other"],
};

/** commander is the lane of who commands; while the link is lost, nobody knows. */
function commander(run: Run): BlockLane {
  const blocks: Block[] = [];
  let before: Holder = ["nobody", "quiet"];
  const add = (t: number, [text, look]: Holder, detail: string) => {
    blocks.at(-1)!.to = t;
    blocks.push({ from: t, to: run.data.end, text, detail, look });
  };
  blocks.push({ from: run.from, to: run.data.end, text: before[0], detail: "", look: before[1] });
  for (const e of run.events) {
    const holder = holders[e.kind];
    if (holder !== undefined) add(e.t, (before = holder), `${e.kind}: ${e.text}`);
    else if (e.kind === "link lost") add(e.t, ["link lost", "bad"], e.text);
    else if (e.kind === "link back") add(e.t, before, e.text);
  }
  return { name: "commanded by", blocks: blocks.filter((b) => b.to > b.from || b.from === run.data.end) };
}

/** unknown are the lanes of the sources that were lost. */
function unknown(run: Run): BlockLane[] {
  const lanes = new Map<string, Block[]>();
  for (const e of run.events) {
    if (e.kind !== "unknown" && e.kind !== "known") continue;
    const blocks = lanes.get(e.text) ?? [];
    lanes.set(e.text, blocks);
    const open = blocks.at(-1)?.to === run.data.end;
    if (e.kind === "unknown" && !open) blocks.push({ from: e.t, to: run.data.end, text: "unknown", detail: `${e.text} is unknown`, look: "bad" });
    if (e.kind === "known" && open) blocks.at(-1)!.to = e.t;
  }
  return [...lanes].map(([name, blocks]) => ({ name: `source ${name}`, blocks }));
}

const answers = ["proved", "refused"];

/** commands are the lanes of the slots: a block lasts from a command to the answer that telemetry or the autopilot gave. */
function commands(run: Run): BlockLane[] {
  const lanes = new Map<string, Block[]>();
  const seconds = (t: number) => `${Number(t.toFixed(2))} s`;
  for (const e of run.events) {
    const [, slot, text] = /^([^:]+)(?:: (.*))?$/s.exec(e.text) ?? [];
    if (slot === undefined) continue;
    const blocks = lanes.get(slot);
    const last = blocks?.at(-1);
    if (e.kind === "commanded") {
      if (last?.look === "waiting") last.to = e.t;
      lanes.set(slot, [...blocks ?? [], { from: e.t, to: run.data.end, text: "", detail: `${text ?? ""}\nnot answered`, look: "waiting" }]);
    } else if (last?.look === "waiting" && answers.includes(e.kind)) {
      last.to = e.t;
      last.look = e.kind === "proved" ? "ours" : "bad";
      last.detail = last.detail.replace(/not answered$/, `${e.kind} after ${seconds(e.t - last.from)}${e.kind === "refused" ? `: ${text ?? ""}` : ""}`);
    } else if (last?.look === "waiting" && e.kind === "waiting") {
      last.detail = last.detail.replace(/not answered$/, `${text ?? ""}\nnot answered`);
    }
  }
  return [...lanes].map(([slot, blocks]) => ({ name: `command ${slot}`, blocks }));
}

/** flightLanes lists the lanes of a run that its events give. */
export function flightLanes(run: Run): BlockLane[] {
  return run.data.flight ? [commander(run), ...unknown(run), ...commands(run)] : unknown(run);
}
