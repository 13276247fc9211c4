// The report: a document about a run that replays it.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { firstDifference } from "../model/difference.ts";
import type { Table } from "../model/run.ts";
import { exactly } from "../model/text.ts";
import { Store } from "../store.ts";
import { Figure } from "./figure.tsx";
import { Log } from "./log.tsx";
import type { Tip } from "./row.tsx";
import { TrackView } from "./track.tsx";
import { Transport } from "./transport.tsx";
import { Details, TreeView } from "./tree.tsx";

const paper = 676; // px: the width of a printed page

/** useWidth measures an element, and is the width of a page while it is printed. */
export function useWidth(store: Store | null) {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    observer.observe(ref.current!);
    setWidth(Math.floor(ref.current!.clientWidth));
    return () => observer.disconnect();
  }, []);
  return [ref, store?.printing.value === true ? paper : width] as const;
}

function Head({ store }: { store: Store }) {
  const { mission, text, verdict: v, facts } = store.run.data;
  return <header>
    <h1>{mission}</h1>
    {text !== "" && <p class="lead">{text}</p>}
    {!store.live && <p class={`verdict ${v.outcome}`}><strong>{v.word}</strong>; ended at {v.at} of {v.horizon}{v.reason === "" ? "" : `: ${v.reason}`}</p>}
    {store.run.properties.map((p) => p.verdict === "violated" && <p class="verdict failed" key={`${p.kind} ${p.text}`}>
      {p.kind} <b>{p.text}</b> is violated{p.at === null ? "" : <>{" "}
        <button type="button" class="link" onClick={() => store.seek(p.at!)}>at {exactly(p.at)}</button></>}</p>)}
    <dl class="facts">{facts.map((f) => <div key={f.name}><dt>{f.name}</dt><dd>{f.text}<small>{f.small}</small></dd></div>)}</dl>
  </header>;
}

/** Against says which run is laid over, and where the two begin to differ. */
function Against({ store }: { store: Store }) {
  const { run, against } = store;
  const first = useMemo(() => (against === null ? null : firstDifference(run, against)), [run, against]);
  if (against === null) return null;
  const { missing, only } = store.laidOver!;
  const some = (what: string, names: string[]) => names.length === 0 ? "" : ` ${what}: ${names.slice(0, 8).join(", ")}${names.length > 8 ? `, and ${names.length - 8} more` : ""}.`;
  const { mission, verdict } = against.data;
  return <p class="against">Dotted curves and the lower strips of lanes: {mission}, {verdict.word}; ended at {verdict.at}.{" "}
    {first === null ? "While both last, the tasks that both have are in the same statuses." : <>The runs first differ at{" "}
      <button type="button" class="link" onClick={() => {
        store.seek(first.t);
        store.select(first.task);
      }}>{exactly(first.t)}</button>: {run.data.tasks[first.task]!.name} is {first.statuses[0]} here, {first.statuses[1]} there.</>}
    {some("Tasks only here", missing.map((task) => run.data.tasks[task]!.name))}
    {some("Tasks only there", only.map((l) => against.data.tasks[l.task]!.name))}
  </p>;
}

/** Rows shows a table of texts. */
export function Rows({ table, caption }: { table: Table; caption?: string }) {
  const number = table.columns.map((c) => c.startsWith("#"));
  return <table class="texts">
    {caption !== undefined && <caption>{caption}</caption>}
    <thead><tr>{table.columns.map((c, i) => <th class={number[i] ? "number" : ""}>{c.replace("#", "")}</th>)}</tr></thead>
    <tbody>{table.rows.map((row, k) => <tr class={table.classes?.[k] ?? ""}>{row.map((cell, i) =>
      <td class={number[i] ? "number" : ""}>{cell}</td>)}</tr>)}</tbody>
  </table>;
}

function Titled({ table }: { table: Table | null }) {
  return table === null ? null : <section><h2>{table.title}</h2><Rows table={table} /></section>;
}

function Parameters({ store }: { store: Store }) {
  const { parameters } = store.run.data;
  if (parameters === null) return null;
  return <section>
    <h2>Parameters</h2>
    <p>{parameters.text}</p>
    {parameters.changed !== null && <Rows table={parameters.changed} caption="Changed by the mission" />}
    <details><summary>All parameters</summary><Rows table={parameters.all} /></details>
  </section>;
}

function Replay({ store }: { store: Store }) {
  const [ref, width] = useWidth(store);
  const [side, across] = useWidth(store);
  return <section>
    <h2>Tree at {exactly(store.time.value)}</h2>
    <div class="replay">
      <div ref={ref}>
        {store.run.root >= 0 && width > 0 && <TreeView store={store} width={width} />}
        {store.laidOver !== null && store.laidOver.only.length + store.laidOver.missing.length > 0 && width > 0 && <OtherTree store={store} width={width} />}
      </div>
      <div ref={side}>
        <Details store={store} />
        {across > 0 && <TrackView store={store} width={across} />}
      </div>
    </div>
  </section>;
}

/** OtherTree is the tree of another plan, whose run is laid over, at the same time. */
function OtherTree({ store, width }: { store: Store; width: number }) {
  const against = store.against!;
  const other = useMemo(() => new Store(against), [against]);
  const chosen = other.selected.value;
  useLayoutEffect(() => {
    other.time.value = store.time.value;
    other.dark.value = store.dark.value;
    other.printing.value = store.printing.value;
  });
  useEffect(() => void (chosen !== null && store.find(against.data.tasks[chosen]!.name)), [chosen]);
  return <>
    <h3>Tree of the other run{store.time.value > against.data.end ? ", as it ended" : ""}</h3>
    <TreeView store={other} width={width} />
  </>;
}

export function Page({ store }: { store: Store }) {
  const { data } = store.run;
  const [ref, width] = useWidth(store);
  const [tip, setTip] = useState<Tip | null>(null);
  return <>
    <Head store={store} />
    <Against store={store} />
    <div class="sides">
      <Replay store={store} />
      <section>
        <h2>History</h2>
        {(data.notes.history ?? []).map((note) => <p class="note">{note}</p>)}
        <div ref={ref}>{width > 0 && <Figure store={store} width={width} tip={setTip} />}</div>
      </section>
    </div>
    <Titled table={data.verdicts} />
    <div class="pair"><Titled table={data.activities} /><Titled table={data.extremes} /></div>
    <Log store={store} />
    <Parameters store={store} />
    {(data.documents ?? []).map((d) => <details class="document" key={d.name}><summary>{d.name}</summary><pre>{d.text}</pre></details>)}
    <Transport store={store} width={width} />
    {tip !== null && <TipBox tip={tip} />}
  </>;
}

function TipBox({ tip }: { tip: Tip }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = ref.current!.getBoundingClientRect();
    ref.current!.style.left = `${Math.max(4, Math.min(tip.x + 14, window.innerWidth - box.width - 8))}px`;
    const below = tip.y + 16;
    ref.current!.style.top = `${below + box.height < window.innerHeight ? below : tip.y - box.height - 10}px`;
  });
  return <div class="tip" ref={ref}>{tip.name !== "" && <b>{tip.name}{"\n"}</b>}{tip.text}</div>;
}
