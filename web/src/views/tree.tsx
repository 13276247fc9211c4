// The tree at the time of the cursor, with what is selected.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Area, judged, reading, tree } from "../draw/tree.ts";
import { type Pen, font } from "../draw/pen.ts";
import { active, look } from "../draw/status.ts";
import { type Layout, type Measure, hit, layout, size } from "../model/layout.ts";
import { chain } from "../model/cause.ts";
import type { Place } from "../model/outline.ts";
import { forecast } from "../model/margin.ts";
import { since, statusAt, statusesAt } from "../model/run.ts";
import { clock, duration, exactly } from "../model/text.ts";
import type { Store } from "../store.ts";
import { Drawing, Save } from "./drawing.tsx";

const mostHeight = 620; // px, of the view of a large tree
const smallest = 5; // px: smaller letters are not drawn

const letters = document.createElement("canvas").getContext("2d")!;
const widths = new Map<string, number>();

/** onScreen measures texts in the font of the page. */
const onScreen: Measure = (text, size, bold) => {
  const key = `${bold ? "b" : ""}${size} ${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    letters.font = `${bold ? 600 : 400} ${size}px ${font}`;
    width = letters.measureText(text).width;
    if (widths.size > 100_000) widths.clear();
    widths.set(key, width);
  }
  return width;
};

/** Arranging is what a person does with boxes that can be moved. */
export interface Arranging {
  drop: (task: number, to: Place) => void;
  open: (task: number) => void; // that has no children
}

/** placeAt returns where a task gets that is dropped at a point; null: no box is there. */
function placeAt(l: Layout, p: { x: number; y: number }): Place | null {
  const to = hit(l, p.x, p.y);
  if (to === undefined) return null;
  const part = (p.y - l.of[to]!.y) / size.height;
  return { to, where: part < 0.3 ? "before" : part > 0.7 ? "after" : "into" };
}

/** mark draws where a task would get. */
function mark(pen: Pen, l: Layout, { to, where }: Place) {
  const b = l.of[to]!;
  if (where === "into") pen.rect(b.x - 5, b.y - 5, b.width + 10, size.height + 10, { stroke: "accent", width: 2.5 }, 8);
  else pen.rect(b.x, where === "before" ? b.y - 6 : b.y + size.height + 3, b.width, 3, { fill: "accent" }, 1.5);
}

/** TreeView shows the tree of a run, or one that is arranged: without statuses. */
export function TreeView({ store, width, arranging, name }: { store: Store; width: number; arranging?: Arranging; name?: string }) {
  const { run } = store;
  const collapsed = store.collapsed.value;
  const l = useMemo(() => layout(run, collapsed, onScreen), [run, collapsed]);
  const fitting = Math.min(1, width / l.width);
  const [at, setAt] = useState<{ x: number; y: number; scale: number } | null>(null); // null: as large as fits
  const scale = at?.scale ?? Math.max(fitting, smallest / size.note);
  const printing = store.printing.value;
  const height = printing ? l.height * fitting : Math.min(mostHeight, Math.ceil(l.height * scale));
  const limit = (v: number, most: number) => Math.min(Math.max(0, v), Math.max(0, most));
  const root = l.boxes[0]?.y ?? 0;
  const area: Area = printing ? { x: 0, y: 0, width: l.width, height: l.height } : {
    x: limit(at?.x ?? 0, l.width - width / scale), y: limit(at?.y ?? root - height / scale / 2, l.height - height / scale),
    width: width / scale, height: height / scale,
  };
  const t = arranging === undefined ? store.time.value : null;
  const selected = store.selected.value;
  const zoom = printing ? fitting : scale;
  const [target, setTarget] = useState<Place | null>(null);
  const draw = useCallback((pen: Pen) => pen.scaled(zoom, -area.x, -area.y, () => {
    tree(pen, l, run, t, selected, area, size.note * zoom >= smallest ? onScreen : null);
    if (target !== null && l.of[target.to] !== undefined) mark(pen, l, target);
  }), [l, t, selected, zoom, area.x, area.y, area.width, area.height, target]);
  const box = useRef<HTMLDivElement>(null);
  const drag = useRef<{ x: number; y: number; moved: boolean; task: number | undefined } | null>(null);
  const point = (e: MouseEvent) => {
    const r = box.current!.getBoundingClientRect();
    return { x: area.x + (e.clientX - r.left) / scale, y: area.y + (e.clientY - r.top) / scale };
  };
  const zoomBy = (factor: number, about = { x: area.x + area.width / 2, y: area.y + area.height / 2 }) => {
    const next = Math.min(2, Math.max(Math.min(fitting, 0.05), scale * factor));
    setAt({ x: about.x - (about.x - area.x) * scale / next, y: about.y - (about.y - area.y) * scale / next, scale: next });
  };
  useEffect(() => { // a task that was selected elsewhere comes into view
    const b = selected === null ? undefined : l.of[selected];
    if (b === undefined || printing) return;
    const outside = b.x < area.x || b.y < area.y || b.x + b.width > area.x + area.width || b.y + size.height > area.y + area.height;
    if (outside) setAt({ x: b.x - area.width / 3, y: b.y - area.height / 2, scale });
  }, [selected, l]);
  return <div>
    <div class="tree" ref={box} style={{ height: `${height}px` }}
      onWheel={(e) => {
        if (!e.ctrlKey && !e.metaKey) return;
        e.preventDefault();
        zoomBy(Math.exp(-e.deltaY / 300), point(e));
      }}
      onPointerDown={(e) => {
        if (e.button !== 0) return;
        const p = point(e);
        drag.current = { x: e.clientX, y: e.clientY, moved: false, task: arranging === undefined ? undefined : hit(l, p.x, p.y) };
        e.currentTarget.setPointerCapture(e.pointerId);
      }}
      onPointerMove={(e) => {
        const d = drag.current;
        if (d === null || (!d.moved && Math.hypot(e.clientX - d.x, e.clientY - d.y) < 4)) return;
        if (d.task !== undefined) {
          d.moved = true;
          setTarget(placeAt(l, point(e)));
          return;
        }
        setAt({ x: area.x - (e.clientX - d.x) / scale, y: area.y - (e.clientY - d.y) / scale, scale });
        drag.current = { ...d, x: e.clientX, y: e.clientY, moved: true };
      }}
      onPointerUp={(e) => {
        const d = drag.current;
        drag.current = null;
        const p = point(e);
        if (d?.moved === false) store.select(hit(l, p.x, p.y) ?? null);
        else if (d?.task !== undefined && target !== null && target.to !== d.task) arranging!.drop(d.task, target);
        setTarget(null);
      }}
      onDblClick={(e) => {
        const p = point(e);
        const task = hit(l, p.x, p.y);
        if (task === undefined) return;
        if (run.children[task]!.length > 0) store.fold(task);
        else arranging?.open(task);
      }}>
      <Drawing store={store} width={width} height={height} draw={draw}
        label={name ?? (t === null ? "The tree as it is written" : `The tree at ${exactly(t)}; the list of tasks has the statuses`)} />
    </div>
    <div class="tools screen">
      <button type="button" aria-label="Smaller" onClick={() => zoomBy(0.8)}>−</button>
      <button type="button" aria-label="Larger" onClick={() => zoomBy(1.25)}>+</button>
      <button type="button" onClick={() => setAt(fitting < 1 ? { x: 0, y: 0, scale: fitting } : null)}>fit</button>
      <button type="button" onClick={() => (store.collapsed.value = new Set())} hidden={collapsed.size === 0}>open all</button>
      <Save name="tree" width={Math.ceil(l.width)} height={Math.ceil(l.height)}
        draw={(pen) => tree(pen, l, run, t, selected, { x: 0, y: 0, width: l.width, height: l.height }, onScreen)} />
    </div>
  </div>;
}

/** Details tells about the selected task, or what runs now. */
export function Details({ store }: { store: Store }) {
  const { run } = store;
  const t = store.time.value;
  const selected = store.selected.value;
  if (selected === null) return <Now store={store} />;
  const task = run.data.tasks[selected]!;
  const lane = run.laneOf[selected];
  const s = statusAt(lane, t);
  const status = run.data.statuses[s] ?? "unknown";
  const m = judged(run, selected, status === "Success", t);
  const next = m === undefined ? null : forecast(run, m, t);
  const [from, to] = lane === undefined ? [t, t] : since(run, lane, t);
  const closed = keeping(store, selected);
  return <section class="details" aria-live="polite">
    <h3>{task.name} <button type="button" class="screen" aria-label="Select nothing" onClick={() => store.select(null)}>✕</button></h3>
    <p><b class={`status ${look(status).line}`}>{look(status).sign} {status}</b> from {exactly(from)} to {exactly(to)}, {duration(to - from)}</p>
    <p class="muted">{task.kind}{task.detail.length > 0 ? ":" : ""}</p>
    {task.detail.map((d) => <pre>{d}</pre>)}
    {m !== undefined && <p>{reading(run, m, t)}{next !== null && `; as ${m.signal} moves now, it would change at ${clock(next, 1)}`}</p>}
    {m !== undefined && task.rests && (m.value > 0) !== (task.off !== undefined || status === "Success") &&
      <p class="muted">The plan does not hear this condition now; its status is that of its last judgement.</p>}
    {closed !== null && <p>Not active: the status of{" "}
      <button type="button" class="link" onClick={() => store.select(closed)}>{run.data.tasks[closed]!.label}</button> is{" "}
      {run.data.statuses[statusAt(run.laneOf[closed], t)] ?? "unknown"}.</p>}
    <Because store={store} task={closed ?? selected} />
    <p class="muted">{lane === undefined ? 0 : Math.max(0, lane.t.length - 1)} status changes are drawn.</p>
  </section>;
}

/** Because tells what the status of a task at the cursor follows from. */
function Because({ store, task }: { store: Store; task: number }) {
  const { run } = store;
  const found = chain(run, task, store.time.value);
  if (found === null) return null;
  const { task: tasks, from, to } = run.data.changes;
  return <ul class="because">
    {found.changes.map((k, i) => <li key={k}>
      {i === 0 ? `${exactly(found.t)} ` : "because "}
      <button type="button" class="link" onClick={() => store.select(tasks![k]!)}>{run.data.tasks[tasks![k]!]!.label}</button>{" "}
      {run.data.statuses[from![k]!]} → {run.data.statuses[to![k]!]}
    </li>)}
    <li>because {found.reason}</li>
  </ul>;
}

/** keeping returns the highest ancestor that is not active and so keeps a task closed; null: none. */
function keeping(store: Store, task: number): number | null {
  const { run } = store;
  const status = (i: number) => run.data.statuses[statusAt(run.laneOf[i], store.time.value)];
  let highest: number | null = null;
  for (let p = run.data.tasks[task]!.parent; p >= 0; p = run.data.tasks[p]!.parent) if (!active(status(p))) highest = p;
  return active(status(task)) ? null : highest;
}

/** Now lists the active leaves. */
function Now({ store }: { store: Store }) {
  const { run } = store;
  const running = statusesAt(run, store.time.value).flatMap((s, i) =>
    run.data.tasks[i]!.leaf && active(run.data.statuses[s]) ? [{ task: i, status: run.data.statuses[s]! }] : []);
  return <section class="details">
    <h3>Active at {exactly(store.time.value)}</h3>
    {running.length === 0 && <p class="muted">No action is active.</p>}
    <ul>{running.slice(0, 20).map(({ task, status }) => <li key={task}>
      <b class={`status ${look(status).line}`}>{look(status).sign}</b>{" "}
      <button type="button" class="link" onClick={() => store.select(task)}>{run.data.tasks[task]!.label}</button>{" "}
      <span class="muted">{status === "Running" ? "" : `${status} `}for {duration(store.time.value - since(run, run.laneOf[task]!, store.time.value)[0])}</span>
    </li>)}</ul>
    <p class="muted screen">Select a task in the tree or in the lanes.</p>
  </section>;
}
