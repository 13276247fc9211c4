// The studio: the mission, its runs, and the run in progress above the page of the run that is shown.

import { useMemo, useState } from "preact/hooks";
import type { Desk } from "../desk.ts";
import type { Breakpoint, Entry, Finding, Progress, Settable } from "../model/connection.ts";
import { clock, exactly, number } from "../model/text.ts";
import { speeds } from "../store.ts";
import { Editor } from "./editor.tsx";
import { Page } from "./page.tsx";
import { Path } from "./path.tsx";
import { Problems } from "./problems.tsx";
import { parseTime } from "./transport.tsx";

export function Studio({ desk }: { desk: Desk }) {
  const state = desk.state.value;
  const store = desk.store.value;
  const [editing, setEditing] = useState(false);
  return <>
    <nav class="bar screen" aria-label="Studio">
      <b>{state?.mission || state?.file || "Canopy studio"}</b>
      {state !== null && <Runs desk={desk} runs={state.runs} />}
      {state !== null && (desk.live() === null ? state.file !== "" && <Fly desk={desk} busy={state.flight?.over === false} />
        : <Controls desk={desk} flight={desk.live()!} />)}
      {state !== null && state.file !== "" && <button type="button" onClick={() => void desk.prove(state.check.running)}>
        {state.check.running ? "Stop proving" : "Prove"}</button>}
      {state !== null && state.file !== "" && <button type="button" aria-pressed={editing} onClick={() => setEditing(!editing)}>Edit</button>}
    </nav>
    <div role="status" class="screen">
      {desk.lost.value !== "" && <p class="verdict failed">{desk.lost.value}</p>}
      {desk.trouble.value !== "" && <p class="verdict failed">
        {desk.trouble.value} <button type="button" aria-label="Close the message" onClick={() => (desk.trouble.value = "")}>✕</button></p>}
      {state?.flight?.over && state.flight.id === desk.shown.value && state.flight.error !== "" &&
        <p class="verdict interrupted">{state.flight.error}</p>}
    </div>
    {state !== null && desk.live() === null && state.runs.some((r) => r.id === desk.shown.value && r.outcome === "") &&
      <p class="verdict interrupted">The log of this run has no end so far: another program flies it, or it was cut off. The page follows the log.</p>}
    {editing ? <Editor desk={desk} /> : state !== null && state.problems.length > 0 && <Problems list={state.problems} />}
    {desk.findings.value !== null && <Findings desk={desk} list={desk.findings.value} stale={state?.check.stale === true} />}
    {desk.path.value !== null && <Path desk={desk} walk={desk.path.value} />}
    {store !== null ? <Page store={store} key={desk.shown.value} />
      : state !== null && desk.lost.value === "" && <>
        <h1>{state.mission || "Canopy studio"}</h1>
        <p class="lead">{state.file === "" ? "There is no run here." : "No run yet: fly the mission."}</p>
      </>}
  </>;
}

/** Runs chooses the run that is shown, and the one that is laid over it. */
function Runs({ desk, runs }: { desk: Desk; runs: Entry[] }) {
  if (runs.length === 0) return null;
  const flight = desk.state.value?.flight;
  const flying = flight?.over === false ? flight.id : null;
  const options = runs.map((r) => <option key={r.id} value={r.id}>
    {r.id} · {r.id === flying ? "in progress" : r.outcome === "" ? "without an end" : `${r.outcome}, ${clock(r.ended, 1)}`} · {new Date(1000 * r.changed).toLocaleString()}
  </option>);
  return <>
    <label>run <select value={desk.shown.value} onChange={(e) => desk.show(e.currentTarget.value)}>{options}</select></label>
    <label>with <select value={desk.against.value} onChange={(e) => desk.compare(e.currentTarget.value)}>
      <option value="">no other run</option>{options.filter((_, i) => runs[i]!.id !== desk.shown.value)}
    </select></label>
  </>;
}

/** speedNames are those of the speeds of a run. */
const speedNames = [[0, "as fast as it can"], ...speeds.map((s) => [s, `${s} ×`])] as [number, string][];

function Fly({ desk, busy }: { desk: Desk; busy: boolean }) {
  const [set, setSet] = useState("");
  const [speed, setSpeed] = useState(0);
  const shown = desk.store.value;
  const settings = () => set.split(";").map((one) => one.trim()).filter(Boolean);
  return <span class="tools">
    <button type="button" class="first" disabled={busy} onClick={() => void desk.fly({ do: "go", speed }, settings())}>Fly</button>
    <button type="button" disabled={busy} title="Pause after the first instant" onClick={() => void desk.fly({ do: "step", speed }, settings())}>Fly in steps</button>
    {shown !== null && shown.run.data.end > 0 && <button type="button" disabled={busy || shown.time.value <= 0} title="Fly again, pause at the cursor, and lay this run over it"
      onClick={() => void desk.branch(shown.time.value, speed, settings())}>Branch at the cursor</button>}
    <select aria-label="Speed of the run" value={speed} onChange={(e) => setSpeed(Number(e.currentTarget.value))}>
      {speedNames.map(([v, name]) => <option value={v}>{name}</option>)}
    </select>
    <input type="text" aria-label="Settings" placeholder="settings: horizon=3600; …" value={set} onInput={(e) => setSet(e.currentTarget.value)} />
    {busy && <span>Another run is in progress.</span>}
  </span>;
}

/** Controls are those of the run in progress. */
function Controls({ desk, flight }: { desk: Desk; flight: Progress }) {
  const [until, setUntil] = useState("");
  const wanted = parseTime(until);
  return <span class="tools">
    {flight.paused === "" ? <button type="button" class="first" onClick={() => void desk.want({ do: "pause" })}>Pause</button>
      : <button type="button" class="first" onClick={() => void desk.want({ do: "go" })}>Go on</button>}
    <button type="button" title="Go on to the next event or status change" onClick={() => void desk.want({ do: "step" })}>Step</button>
    <input type="text" class="time" aria-label="Time at which to pause" placeholder="h:mm:ss" value={until} onInput={(e) => setUntil(e.currentTarget.value)} />
    <button type="button" disabled={!Number.isFinite(wanted)} onClick={() => void desk.want({ do: "until", until: wanted })}>Go until</button>
    <select aria-label="Speed of the run" value={flight.speed} onChange={(e) => void desk.want({ do: "change", speed: Number(e.currentTarget.value) })}>
      {speedNames.map(([v, name]) => <option value={v}>{name}</option>)}
    </select>
    <button type="button" onClick={() => void desk.want({ do: "stop" })}>Stop</button>
    <progress aria-label="Progress of the run" value={flight.t} max={flight.until} />
    <output>{exactly(flight.t)}{flight.paused === "" ? "" : `, paused: ${flight.paused}`}</output>
    <Breakpoints desk={desk} list={flight.breakpoints ?? []} />
    {flight.settable.length > 0 && <Hand desk={desk} list={flight.settable} />}
  </span>;
}

/** Hand sets a state of the vehicle or a slot. */
function Hand({ desk, list }: { desk: Desk; list: Settable[] }) {
  const [name, setName] = useState(list[0]!.name);
  const signal = list.find((s) => s.name === name) ?? list[0]!;
  const [text, setText] = useState("");
  const value = signal.values === null ? Number(text) : signal.values.indexOf(text);
  const label = "New value of the signal";
  return <>
    <select aria-label="Signal to set" value={signal.name} onChange={(e) => setName(e.currentTarget.value)}>
      {list.map((s) => <option key={s.name}>{s.name}</option>)}
    </select>
    <span>{signal.value === null ? "no value" : signal.values?.[signal.value] ?? number(signal.value)}</span>
    {signal.writer !== "" ? <span>written by {signal.writer}</span> : <>
      {signal.values === null ? <input type="text" class="time" aria-label={label} placeholder="new value" value={text} onInput={(e) => setText(e.currentTarget.value)} />
        : <select aria-label={label} value={text} onChange={(e) => setText(e.currentTarget.value)}>
          <option value="">new value</option>{signal.values.map((v) => <option key={v}>{v}</option>)}
        </select>}
      <span>{signal.unit === "1" ? "" : signal.unit}</span>
      <button type="button" disabled={text.trim() === "" || !Number.isFinite(value) || value < 0 && signal.values !== null}
        onClick={() => void desk.want({ do: "set", signal: signal.name, value })}>Set</button>
    </>}
  </>;
}

/** Breakpoints lists the breakpoints, and adds one of the selected task, or of a condition. */
function Breakpoints({ desk, list }: { desk: Desk; list: Breakpoint[] }) {
  const [status, setStatus] = useState("");
  const [condition, setCondition] = useState("");
  const [truth, setTruth] = useState("true");
  const { data } = desk.store.value?.run ?? {};
  const selected = desk.store.value?.selected.value ?? null;
  const task = selected === null ? undefined : data?.tasks[selected]?.name;
  const put = (breakpoints: Breakpoint[]) => void desk.want({ do: "change", breakpoints });
  return <>
    {list.map((b) => <button type="button" key={`${b.status} ${b.task} ${b.condition}`} title="Remove this breakpoint" onClick={() => put(list.filter((x) => x !== b))}>
      pause when {b.task}{b.condition} {b.status === "" ? "changes" : `is ${b.status}`} ✕</button>)}
    <input type="text" aria-label="Condition of the breakpoint" placeholder="condition: soc ge 0.3" value={condition} onInput={(e) => setCondition(e.currentTarget.value)} />
    <select aria-label="Truth of the breakpoint" value={truth} onChange={(e) => setTruth(e.currentTarget.value)}>
      <option>true</option><option>false</option><option value="">another</option>
    </select>
    <button type="button" disabled={condition.trim() === ""} title="Pause when the condition is so" onClick={() => put([...list, { task: "", condition, status: truth }])}>Pause then</button>
    {task !== undefined && <>
      <button type="button" title="Go on to the next change of the selected task" onClick={() => void desk.want({ do: "step", task })}>Step {task}</button>
      <button type="button" onClick={() => put([...list, { task, condition: "", status }])}>Pause when {task} is</button>
      <select aria-label="Status of the breakpoint" value={status} onChange={(e) => setStatus(e.currentTarget.value)}>
        <option value="">another status</option>{data!.statuses.map((s) => <option key={s}>{s}</option>)}
      </select>
    </>}
  </>;
}

/** verdicts are those of findings, the worst first, with what the page shows of them. */
const verdicts = new Map([["refuted", "bad"], ["not_proved", "undecided"], ["proved_if", "undecided"], ["proved", "good"], ["not_asked", ""]]);

/** Findings lists what is proved of the mission, and what is not. */
function Findings({ desk, list, stale }: { desk: Desk; list: Finding[]; stale: boolean }) {
  const store = desk.store.value;
  const order = [...verdicts.keys()];
  const sorted = useMemo(() => list.toSorted((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict)), [list]);
  const count = (verdict: string) => list.filter((f) => f.verdict === verdict).length;
  const task = (name: string) => store?.run.data.tasks.findIndex((t) => t.name === name) ?? -1;
  return <details class="findings" open>
    <summary>Proofs: {count("refuted")} refuted, {count("not_proved")} not proved, {count("proved") + count("proved_if")} proved
      {stale && "; the files have changed since"}</summary>
    <table class="texts">
      <thead><tr><th>Verdict</th><th>Question</th><th>Answer</th></tr></thead>
      <tbody>{sorted.map((f) => <tr class={f.accepted !== undefined ? "good" : verdicts.get(f.verdict)}>
        <td>{f.verdict.replaceAll("_", " ")}</td><td>{f.question}</td>
        <td>{f.text}
          {f.at !== undefined && f.start === undefined && store !== null && <>{" "}
            <button type="button" class="link" onClick={() => store.find("", f.at)}>go to {exactly(f.at)}</button></>}
          {f.flight === true && <>{" "}<button type="button" disabled={desk.state.value?.flight?.over === false}
            title="Fly what shows this, and go to when it does" onClick={() => void desk.replay(f)}>Replay</button></>}
          {f.script !== undefined && <>{" "}<button type="button" title="Go through the path of the proof, step by step"
            onClick={() => void desk.walk(f)}>Steps</button></>}
          {(f.tasks ?? []).filter((name) => task(name) >= 0).slice(0, 5).map((name) => <>{" "}
            <button type="button" class="link" key={name} onClick={() => store!.select(task(name))}>{name}</button></>)}
          {(f.assumes ?? []).filter((a) => !a.watched).map((a) => <div class="muted">if {a.if}</div>)}
          {(f.where ?? []).map((w) => <div class="muted">where {w}</div>)}
          {f.accepted !== undefined ? <div class="muted">accepted: {f.accepted}</div>
            : f.verdict !== "proved" && f.advice !== undefined && <div class="muted">next: {f.advice}</div>}
        </td>
      </tr>)}</tbody>
    </table>
  </details>;
}
