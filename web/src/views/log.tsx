// The table of status changes and events.

import { useMemo, useState } from "preact/hooks";
import { exactly } from "../model/text.ts";
import type { Store } from "../store.ts";

interface Line {
  t: number;
  micro: number;
  kind: string;
  what: string;
  from: string;
  to: string;
  task: number | null;
  fault: boolean;
  order: number;
  text: string;
}

type Column = "t" | "micro" | "kind" | "what" | "from" | "to";

const columns: [Column, string][] = [
  ["t", "Time [h:min:s]"], ["micro", "It."], ["kind", "Kind"], ["what", "Task or event"], ["from", "From"], ["to", "To"],
];

/** linesOf lists status changes and events in the order of their instants and iterations. */
function linesOf(store: Store): Line[] {
  const { data, events, faults } = store.run;
  const { changes } = data;
  const grave = new Set(faults);
  const list = (changes.t ?? []).map((t, i) => ({
    t, micro: changes.micro![i]!, kind: "status", what: data.tasks[changes.task![i]!]!.name, task: changes.task![i] as number | null,
    from: data.statuses[changes.from![i]!]!, to: data.statuses[changes.to![i]!]!, fault: false,
  })).concat(events.map((e) => ({ t: e.t, micro: e.micro, kind: e.kind, what: e.text, task: null, from: "", to: "", fault: grave.has(e) })));
  return list.map((l, order) => ({ ...l, order, text: `${l.kind} ${l.what} ${l.from} ${l.to}`.toLowerCase() })).sort(natural);
}

const natural = (a: Line, b: Line) => a.t - b.t || a.micro - b.micro || a.order - b.order;

const [page, paper] = [100, 500]; // lines shown before all are asked for

export function Log({ store }: { store: Store }) {
  const all = useMemo(() => linesOf(store), [store]);
  const kinds = useMemo(() => [...new Set(all.map((l) => l.kind))], [all]);
  const [words, setWords] = useState("");
  const [kind, setKind] = useState("");
  const [only, setOnly] = useState(false);
  const [sort, setSort] = useState<{ by: Column; down: boolean }>({ by: "t", down: false });
  const [everything, setEverything] = useState(false);
  const selected = only ? store.selected.value : null;
  const found = useMemo(() => {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const list = all.filter((l) => (kind === "" || l.kind === kind) && (selected === null || l.task === selected) &&
      wanted.every((word) => l.text.includes(word)));
    if (sort.by !== "t") list.sort((a, b) => Number(a[sort.by] > b[sort.by]) - Number(a[sort.by] < b[sort.by]) || natural(a, b));
    return sort.down ? list.reverse() : list;
  }, [all, words, kind, selected, sort]);
  const shown = everything ? found : found.slice(0, store.printing.value ? paper : page);
  return <section>
    <h2>Status changes and events</h2>
    <p class="tools screen">
      <input type="search" placeholder="filter: task, status, event" aria-label="Filter" onInput={(e) => setWords(e.currentTarget.value)} />
      <select aria-label="Kind" onChange={(e) => setKind(e.currentTarget.value)}>
        <option value="">all</option>{kinds.map((k) => <option key={k}>{k}</option>)}
      </select>
      <label><input type="checkbox" onChange={(e) => setOnly(e.currentTarget.checked)} /> selected task</label>
      <span>{found.length} of {all.length} lines. Click a line to go to its time.</span>
    </p>
    {(store.run.data.notes.table ?? []).map((note) => <p class="note">{note}</p>)}
    <table class="log">
      <thead><tr>{columns.map(([by, title]) => <th key={by} class={by === "t" || by === "micro" ? "number" : ""}
        aria-sort={sort.by === by ? (sort.down ? "descending" : "ascending") : undefined}>
        <button type="button" onClick={() => setSort({ by, down: sort.by === by && !sort.down })}
          title={by === "micro" ? "event iteration within the instant" : undefined}>{title}</button></th>)}</tr></thead>
      <tbody>{shown.map((l) => <tr key={l.order} class={l.fault ? "fault" : ""} onClick={() => {
        store.seek(l.t);
        if (l.task !== null) store.select(l.task);
      }}>
        <td class="number">{exactly(l.t)}</td><td class="number">{l.micro}</td><td>{l.kind}</td>
        {l.kind === "status" ? <><td>{l.what}</td><td>{l.from}</td><td>{l.to}</td></> : <td colSpan={3}>{l.what}</td>}
      </tr>)}</tbody>
    </table>
    {shown.length < found.length && <>
      <p class="screen"><button type="button" onClick={() => setEverything(true)}>Show all {found.length}</button></p>
      <p class="note paper">The first {shown.length} of {found.length} lines; status.csv and run.mcap have all.</p>
    </>}
  </section>;
}
