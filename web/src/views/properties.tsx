// The properties of the mission with their verdicts and their robustness over the time axis.

import { useMemo } from "preact/hooks";
import type { Pen } from "../draw/pen.ts";
import { robustness, robustnessHeight } from "../draw/robustness.ts";
import type { Window } from "../draw/time.ts";
import { type Property, valueAt } from "../model/run.ts";
import { clock, exactly, margin } from "../model/text.ts";
import type { Store } from "../store.ts";
import { Save } from "./drawing.tsx";
import { Row, type RowProps, left, right, shifted } from "./row.tsx";

const looks: Record<string, { sign: string; line: string }> = {
  satisfied: { sign: "✓", line: "success" }, violated: { sign: "✕", line: "error" }, open: { sign: "?", line: "change" },
};

/** Properties has a row for each property whose robustness is known; the violated ones come first. */
export function Properties({ store, w, tip }: { store: Store; w: Window; tip: RowProps["tip"] }) {
  const list = useMemo(() => store.run.properties.toSorted((a, b) =>
    Number(b.verdict === "violated") - Number(a.verdict === "violated")), [store]);
  if (list.length === 0) return null;
  const height = robustnessHeight + 16;
  const all = (pen: Pen) => list.forEach((p, i) => pen.scaled(1, 0, i * height, () => {
    pen.text(left, 11, `${p.verdict}: ${p.text}`, { fill: "ink" });
    pen.scaled(1, 0, 14, () => shifted((to) => robustness(to, w, p, over(store, p)))(pen));
  }));
  return <>
    <div class="row"><div class="label"><h3>Robustness of properties
      <Save name="properties" width={left + w.width + right} height={list.length * height} draw={all} /></h3></div></div>
    {list.map((p) => <Lane key={`${p.kind} ${p.text}`} store={store} w={w} property={p} tip={tip} />)}
  </>;
}

/** over returns a property as the run that is laid over has it; null: there is none. */
const over = (store: Store, p: Property) => store.against?.properties.find((q) => q.kind === p.kind && q.text === p.text) ?? null;

function Lane({ store, w, property: p, tip }: { store: Store; w: Window; property: Property; tip: RowProps["tip"] }) {
  const draw = useMemo(() => shifted((pen: Pen) => robustness(pen, w, p, over(store, p))), [store, w, p]);
  const { sign, line } = looks[p.verdict]!;
  const go = p.at ?? p.decided;
  return <Row store={store} w={w} height={robustnessHeight} draw={draw} tip={tip} name={`robustness of ${p.text}`} labelClass="property"
    describe={(t) => ({ name: p.text, text: `robustness ${margin(valueAt(p.robustness, t))} at ${exactly(t)}` })}
    label={<>
      <div title={`${p.kind} ${p.text}`}>{p.text}</div>
      <div><b class={`status ${line}`}>{sign} {p.verdict}</b>{" "}
        {go !== null && <button type="button" class="link" title={p.at === null ? "Go to when this was decided" : "Go to the first violation"}
          onClick={() => store.seek(go)}>{clock(go, 1)}</button>}
        <output>{margin(valueAt(p.robustness, store.hover.value ?? store.time.value))}</output></div>
    </>} />;
}
