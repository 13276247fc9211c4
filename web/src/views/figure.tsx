// Everything over the time axis: plots, events and lanes, with one cursor.

import { useCallback, useMemo, useState } from "preact/hooks";
import { events, eventsNear, laneHeight, lanes } from "../draw/lanes.ts";
import { type Colour, type Pen, svg } from "../draw/pen.ts";
import { blocks, plot, strokeOf, valuesOf } from "../draw/plot.ts";
import { look, sample } from "../draw/status.ts";
import { type Window, axis, axisHeight, place, resolution } from "../draw/time.ts";
import { type Block, flightLanes } from "../model/flight.ts";
import { limitsOn } from "../model/margin.ts";
import { type Lane, type Run, nameOf, since, statusAt, valueAt } from "../model/run.ts";
import { clock, duration, exactly, number } from "../model/text.ts";
import type { Store } from "../store.ts";
import { Save, save } from "./drawing.tsx";
import { Properties } from "./properties.tsx";
import { Cursors, Row, type RowProps, left, right, shifted } from "./row.tsx";

const lanesPerRow = 25; // so that a long tree can break over printed pages
const mostLanes = 200; // that are drawn at once

function Axis({ store, w, side, tip }: { store: Store; w: Window; side: "above" | "below"; tip: RowProps["tip"] }) {
  const draw = useCallback(shifted((pen) => axis(pen, w, side, right)), [w, side]);
  const bubble = (t: number | null, kind: string) => t === null || t < w.from || t > w.to ? null
    : <span class={`bubble ${kind}`} style={{ left: `${left + place(w, t)}px` }}>{clock(t, resolution(w))}</span>;
  return <div class="axis">
    <Row store={store} w={w} height={axisHeight} draw={draw} tip={tip} name="time axis"
      label={side === "above" ? `${store.run.data.axis} [h:min]` : ""} />
    <div class="bubbles screen">{bubble(store.time.value, "main")}{bubble(store.hover.value, "hover")}</div>
  </div>;
}

function Plot({ store, w, title, signals, tip }: { store: Store; w: Window; title: string; signals: number[]; tip: RowProps["tip"] }) {
  const { run } = store;
  const hidden = store.hidden.value;
  const selected = store.selected.value;
  const height = Math.max(128, 26 + 16 * signals.length);
  const draw = useMemo(() => {
    const own = signals.map((s, i) => ({ signal: run.signals[s]!, colour: i, index: s })).filter((c) => !hidden.has(c.index));
    const over = own.flatMap(({ signal: { name, unit }, colour }) => {
      const signal = store.against?.named.get(name);
      return signal?.unit !== unit ? [] : [{ signal, colour, over: true }];
    });
    const curves = [...own, ...over];
    const limits = own.flatMap((c) => limitsOn(run, c.signal.name, selected));
    return shifted((pen) => plot(pen, w, height, curves, limits, run.faults.map((e) => e.t)));
  }, [run, w, height, hidden, signals, selected]);
  const units = new Set(signals.map((s) => run.signals[s]!.unit));
  return <Row store={store} w={w} height={height} draw={draw} tip={tip} name={title} label={<>
    <h3>{title} {units.size === 1 && <span>[{[...units][0]}]</span>}
      <Save name={title} width={left + w.width + right} height={height} draw={draw} /></h3>
    {signals.map((s, i) => <Key store={store} key={s} index={s} colour={i} unit={units.size > 1} />)}
  </>} />;
}

/** Key is the entry of a legend, with the value at the pointer or at the cursor. */
function Key({ store, index, colour, unit }: { store: Store; index: number; colour: number; unit: boolean }) {
  const signal = store.run.signals[index]!;
  const t = store.hover.value ?? store.time.value;
  const v = valueAt(signal, t);
  const other = store.other.value;
  const change = other === null || store.hover.value !== null ? "" : ` Δ ${number(v - valueAt(signal, other))}`;
  const shown = !store.hidden.value.has(index);
  const picked = store.picked.value.includes(index);
  const { stroke, dash } = strokeOf(colour);
  return <div class={`key ${shown ? "" : "off"}`} title={signal.text ? `${signal.name}: ${signal.text}` : signal.name}>
    <button type="button" aria-pressed={shown} onClick={() => picked ? store.pick(index) : store.hide(index)}
      title={picked ? `Remove ${signal.name}` : shown ? `Hide ${signal.name}` : `Show ${signal.name}`}>
      <svg width="18" height="10" aria-hidden="true"><path d="M0 5H18" style={`stroke:var(--${stroke});stroke-width:2${dash ? ";stroke-dasharray:5 3" : ""}`} /></svg>
      <span>{unit ? `${signal.name} [${signal.unit}]` : signal.name}</span>
    </button>
    <output>{nameOf(signal, v) ?? number(v)}{change}</output>
  </div>;
}

/** Picker searches a signal to draw. */
function Picker({ store }: { store: Store }) {
  const [wanted, setWanted] = useState("");
  const { run } = store;
  const drawn = new Set([...(run.data.plots ?? []).flatMap((p) => p.signals), ...store.picked.value]);
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : run.signals.flatMap((s, i) =>
    !drawn.has(i) && words.every((word) => `${s.name} ${s.text} ${s.unit}`.toLowerCase().includes(word)) ? [i] : []);
  return <span class="picker">
    <input type="search" placeholder="add a signal" aria-label="Add a signal" value={wanted} onInput={(e) => setWanted(e.currentTarget.value)}
      onKeyDown={(e) => {
        if (e.key !== "Enter" || found[0] === undefined) return;
        store.pick(found[0]);
        setWanted("");
      }} />
    {found.length > 0 && <ul class="menu">{found.slice(0, 12).map((i) => <li key={i}>
      <button type="button" onClick={() => {
        store.pick(i);
        setWanted("");
      }}><b>{run.signals[i]!.name}</b> [{run.signals[i]!.unit}] <span class="muted">{run.signals[i]!.text}</span></button>
    </li>)}</ul>}
    {words.length > 0 && found.length === 0 && <span class="muted"> no other signal</span>}
  </span>;
}

/** Values is a lane for a signal whose values have names. */
export function Values({ store, w, index, colour, tip }: { store: Store; w: Window; index: number; colour: number; tip: RowProps["tip"] }) {
  const signal = store.run.signals[index]!;
  const list = useMemo(() => valuesOf(signal, colour), [signal, colour]);
  const draw = useMemo(() => shifted((pen: Pen) => blocks(pen, w, 22, list)), [w, list]);
  return <Row store={store} w={w} height={22} draw={draw} tip={tip} name={signal.name}
    label={<Key store={store} index={index} colour={colour} unit={false} />} />;
}

const looks: Record<Block["look"], Colour> = { ours: "success", other: "change", quiet: "accept", bad: "error", waiting: "running" };

/** Flight is what a flight has: modes, who commands, lost sources, and commands with their answers. */
function Flight({ store, w, tip }: { store: Store; w: Window; tip: RowProps["tip"] }) {
  const { run } = store;
  const list = useMemo(() => flightLanes(run).map((lane) => ({ ...lane, blocks: lane.blocks.map((b) => ({ ...b, colour: looks[b.look] })) })), [run]);
  const plotted = new Set((run.data.plots ?? []).flatMap((p) => p.signals));
  const modes = run.data.flight ? ["mode", "wanted_mode"].map((name) => run.signals.findIndex((s) => s.name === name && s.names !== null)) : [];
  if (list.length === 0) return null;
  const all = (pen: Pen) => list.forEach((lane, i) => pen.scaled(1, 0, i * 36, () => {
    pen.text(left, 11, lane.name, { fill: "ink" });
    pen.scaled(1, 0, 14, () => shifted((to) => blocks(to, w, 22, lane.blocks))(pen));
  }));
  return <>
    <div class="row"><div class="label"><h3>{run.data.flight ? "Flight" : "Sources"}
      <Save name="flight" width={left + w.width + right} height={list.length * 36} draw={all} /></h3></div></div>
    {modes.map((i, k) => i >= 0 && !plotted.has(i) && <Values key={i} store={store} w={w} index={i} colour={k} tip={tip} />)}
    {list.map((lane) => <BlockRow key={lane.name} store={store} w={w} lane={lane} tip={tip} />)}
  </>;
}

function BlockRow({ store, w, lane, tip }: { store: Store; w: Window; lane: { name: string; blocks: (Block & { colour: Colour })[] }; tip: RowProps["tip"] }) {
  const draw = useMemo(() => shifted((pen: Pen) => blocks(pen, w, 22, lane.blocks)), [w, lane]);
  const reach = 3 * (w.to - w.from) / w.width;
  const at = (t: number) => lane.blocks.findLast((b) => b.from - reach <= t && t <= b.to + reach);
  const now = store.hover.value ?? store.time.value;
  const here = lane.blocks.findLast((b) => b.from <= now && now <= b.to);
  return <Row store={store} w={w} height={22} draw={draw} tip={tip} name={lane.name}
    label={<div class="key"><span title={lane.name}>{lane.name}</span><output>{here?.text ?? ""}</output></div>}
    describe={(t) => {
      const b = at(t);
      return b === undefined ? null : { name: lane.name, text: [b.text, b.detail, `from ${exactly(b.from)} to ${exactly(b.to)}`].filter(Boolean).join("\n") };
    }} />;
}

/** Plots are the plots of the mission and the picked signals; values with names are lanes. */
function Plots({ store, w, tip }: { store: Store; w: Window; tip: RowProps["tip"] }) {
  const { run } = store;
  const picked = store.picked.value;
  const panels = useMemo(() => {
    const named = (i: number) => run.signals[i]!.type === "boolean" || run.signals[i]!.names !== null;
    const list = (run.data.plots ?? []).map((p) => ({ title: p.title, signals: p.signals.filter((i) => !named(i)), lanes: p.signals.filter(named) }));
    const units = new Map<string, number[]>();
    for (const i of picked) if (!named(i)) units.set(run.signals[i]!.unit, [...(units.get(run.signals[i]!.unit) ?? []), i]);
    for (const signals of units.values()) list.push({ title: "Picked", signals, lanes: [] });
    list.push({ title: "", signals: [], lanes: picked.filter(named) });
    return list;
  }, [run, picked]);
  return <>{panels.map((p, n) => <>
    {p.signals.length > 0 && <Plot key={`p${n}`} store={store} w={w} title={p.title} signals={p.signals} tip={tip} />}
    {p.lanes.map((i, k) => <Values key={i} store={store} w={w} index={i} colour={k} tip={tip} />)}
  </>)}</>;
}

function Events({ store, w, tip }: { store: Store; w: Window; tip: RowProps["tip"] }) {
  const { run } = store;
  const draw = useMemo(() => shifted((pen: Pen) => events(pen, w, run)), [w, run]);
  const { gap } = run.data;
  return <Row store={store} w={w} height={laneHeight} draw={draw} tip={tip} name="events" labelClass="names"
    label={<div class="muted">{gap === null ? `events (${run.events.length})` : "events (some)"}</div>}
    describe={(t) => {
      const near = eventsNear(w, run, t, 5);
      if (near.length === 0) return gap !== null && t >= gap[0] && t <= gap[1] ? { name: "", text: "events that are in run.mcap only" } : null;
      const lines = near.slice(0, 8).map((e) => `${exactly(e.t)}  ${e.kind}: ${e.text}`);
      if (near.length > 8) lines.push(`and ${near.length - 8} more`);
      return { name: "", text: lines.join("\n") };
    }} />;
}

function Lanes({ store, run, w, list, tip, narrow }: { store: Store; run: Run; w: Window; list: Lane[]; tip: RowProps["tip"]; narrow: boolean }) {
  const own = run === store.run;
  const selected = own ? store.selected.value : null;
  const select = (task: number) => own && store.select(task);
  const inside = list.some((l) => l.task === selected) ? selected : null;
  const draw = useMemo(() => shifted((pen: Pen) => lanes(pen, w, run, list, inside, narrow, own ? store.laidOver : null)), [w, run, list, inside, narrow]);
  const at = (y: number) => list[Math.floor(y / laneHeight)];
  return <Row store={store} w={w} height={list.length * laneHeight} draw={draw} tip={tip} name="histories of tasks" labelClass="names"
    click={(y) => {
      const lane = at(y);
      if (lane !== undefined) select(lane.task);
    }}
    label={list.map((lane) => {
      const task = run.data.tasks[lane.task]!;
      return <button type="button" key={lane.task} class={task.leaf ? "" : "muted"} aria-pressed={lane.task === selected}
        style={{ paddingLeft: `${Math.min(lane.depth, 12) * 9}px`, height: `${laneHeight}px` }}
        title={[`${task.name}: ${task.kind}`, ...task.detail].join("\n")} onClick={() => select(lane.task)}>{task.label}</button>;
    })}
    describe={(t, y) => {
      const lane = at(y);
      if (lane === undefined) return null;
      const task = run.data.tasks[lane.task]!;
      const [from, to] = since(run, lane, t);
      return { name: task.name, text: `${[task.kind, ...task.detail].join("\n")}\n` +
        `${run.data.statuses[statusAt(lane, t)] ?? "unknown"} from ${exactly(from)} to ${exactly(to)}, ${duration(to - from)}` };
    }} />;
}

const rare = ["Skipped", "Dropped"]; // in the key only if a task has them

function StatusKey({ store, w }: { store: Store; w: Window }) {
  const { run, run: { data: { statuses } } } = store;
  const shown = statuses.filter((name, s) => !rare.includes(name) || store.run.lanes.some((l) => l.s.includes(s)));
  return <div class="row"><div class="label"><h3>Status of the tasks
    <Save name="tasks" width={left + w.width + right} height={run.lanes.length * laneHeight}
      draw={shifted((pen) => lanes(pen, w, run, run.lanes, null, true, store.laidOver))} /></h3></div>
    <div class="statuses">{shown.map((name) => <span key={name}>
      <span aria-hidden="true" dangerouslySetInnerHTML={{ __html: svg(26, 16, (pen) => sample(pen, name)) }} />
      {look(name).sign} {name}
    </span>)}</div>
  </div>;
}

/** csv writes all recorded signals that have the times of the log. */
function csv(run: Run): string {
  const list = run.signals.filter((s) => s.time === run.time);
  const rows = [["t", ...list.map((s) => `${s.name} [${s.unit}]`)].join(",")];
  run.time.forEach((t, i) => rows.push([t, ...list.map((s) => nameOf(s, s.values[i]!) ?? s.values[i])].join(",")));
  return rows.join("\n") + "\n";
}

/** Figure is all that is drawn over the time axis in a width. */
export function Figure({ store, width, tip }: { store: Store; width: number; tip: RowProps["tip"] }) {
  const { run } = store;
  const view = store.view.value;
  const printing = store.printing.value;
  const narrow = width < 640;
  const label = narrow ? 0 : printing ? 140 : 200;
  const w = useMemo<Window>(() => ({ ...view, width: Math.max(120, width - label - left - right) }), [view, width, label]);
  const [more, setMore] = useState(1);
  const rows = useMemo(() => {
    const groups: Lane[][] = [];
    for (let i = 0; i < run.lanes.length; i += lanesPerRow) groups.push(run.lanes.slice(i, i + lanesPerRow));
    return groups;
  }, [run]);
  const shown = printing ? rows : rows.slice(0, more * mostLanes / lanesPerRow);
  const all = view.from === run.from && view.to === run.to;
  const only = useMemo(() => (store.laidOver?.only ?? []).slice(0, mostLanes), [store]);
  return <>
    <p class="tools screen">
      <span class="muted">Click to move the cursor, drag to zoom, Ctrl and wheel to zoom.</span>
      <button type="button" onClick={() => store.showAll()} disabled={all}>show all</button>
      <Picker store={store} />
      {run.time.length > 0 && <button type="button" onClick={() => save("signals.csv", "text/csv", csv(run))}>CSV</button>}
    </p>
    <div class={`figure ${narrow ? "narrow" : ""}`} style={{ "--label": `${label}px` }}>
      <Axis store={store} w={w} side="above" tip={tip} />
      <Plots store={store} w={w} tip={tip} />
      <Flight store={store} w={w} tip={tip} />
      <Properties store={store} w={w} tip={tip} />
      <Events store={store} w={w} tip={tip} />
      {run.lanes.length > 0 && <StatusKey store={store} w={w} />}
      {shown.map((list, i) => <Lanes key={i} store={store} run={run} w={w} list={list} tip={tip} narrow={narrow} />)}
      {shown.length < rows.length && <button type="button" class="screen" onClick={() => setMore(more + 1)}>
        Show more of {run.lanes.length} tasks</button>}
      {only.length > 0 && <>
        <div class="row"><div class="label"><h3>Tasks that only the other run has</h3></div></div>
        <Lanes store={store} run={store.against!} w={w} list={only} tip={tip} narrow={narrow} />
      </>}
      <Axis store={store} w={w} side="below" tip={tip} />
      <Cursors store={store} w={w} />
    </div>
  </>;
}
