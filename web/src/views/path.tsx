// The path of a finding through the model of a proof, step by step.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Desk, Walk } from "../desk.ts";
import { useWidth } from "./page.tsx";
import { TreeView } from "./tree.tsx";

/** meaning says what the path of a finding is. */
function meaning({ verdict, flight }: Walk["finding"]): string {
  if (verdict.startsWith("proved")) return "It is the worst case of what is proved.";
  if (flight === true) return "It is a path through the model of the proof; Replay shows the flight.";
  return verdict === "refuted" ? "The model of the proof allows these steps, and the tree takes them with these inputs."
    : "The model of the proof allows these steps; no flight that the proof has tried takes them.";
}

export function Path({ desk, walk }: { desk: Desk; walk: Walk }) {
  const { finding, path, store } = walk;
  const { data } = store.run;
  const [n, setStep] = useState(0);
  const [ref, width] = useWidth(store);
  const section = useRef<HTMLElement>(null);
  const go = (to: number) => setStep(Math.min(path.steps.length - 1, Math.max(0, to)));
  const step = path.steps[n] ?? path.steps[0]!;
  useEffect(() => {
    setStep(0);
    section.current!.scrollIntoView({ block: "nearest" });
    section.current!.focus({ preventScroll: true });
  }, [walk]);
  useEffect(() => {
    store.time.value = step.at;
    store.dark.value = desk.dark.value;
  }, [walk, step, desk.dark.value]);
  const { t, task, from, to } = data.changes;
  const changes = n > 0 && path.steps[n - 1]!.at === step.at ? []
    : (t ?? []).flatMap((at, k) => at === step.at ? [`${data.tasks[task![k]!]!.name}: ${data.statuses[from![k]!]} → ${data.statuses[to![k]!]}`] : []);
  return <section class="path" aria-label="Path of a finding" tabIndex={-1} ref={section} onKeyDown={(e) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (by === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
    go(n + by);
    e.preventDefault();
    e.stopPropagation();
  }}>
    <h2>Path of the finding: {finding.question}</h2>
    <p class="verdict interrupted"><b>This is not a flight.</b> {meaning(finding)}
      {finding.verdict === "not_proved" && finding.advice !== undefined && <> What would exclude it: {finding.advice}.</>}</p>
    <p class="tools">
      <button type="button" disabled={n === 0} onClick={() => go(n - 1)}>Previous step</button>
      <button type="button" disabled={n === path.steps.length - 1} onClick={() => go(n + 1)}>Next step</button>
      <output>step {n + 1} of {path.steps.length}</output>
      <button type="button" onClick={() => (desk.path.value = null)}>Close the path</button>
    </p>
    <div class="replay">
      <div ref={ref}>{width > 0 && store.run.root >= 0 && <TreeView store={store} width={width} name={`The tree after step ${n + 1}`} />}</div>
      <div class="details" aria-live="polite">
        <ol>{path.steps.map((s, i) => <li key={i} aria-current={i === n ? "step" : undefined}>
          <button type="button" class="link" onClick={() => go(i)}>{[s.text, s.inputs].filter(Boolean).join("; ") || (i === 0 ? "the start" : "nothing changes")}</button>
          {i === n && changes.map((c) => <div class="muted">{c}</div>)}
        </li>)}</ol>
        {path.error !== "" && <p class="verdict failed">{path.error}</p>}
      </div>
    </div>
  </section>;
}
