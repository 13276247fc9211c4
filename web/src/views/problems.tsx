// The mistakes in the files of a mission, each with its place.

import type { Problem } from "../model/connection.ts";

export interface ProblemsProps {
  list: Problem[];
  go?: (p: Problem) => void; // to its place
  fix?: (p: Problem) => void; // as the hint suggests
}

export function Problems({ list, go, fix }: ProblemsProps) {
  return <section class="problems" aria-label="Problems in the mission">
    <ul>{list.map((p) => {
      const place = `${p.file}:${p.line}:${p.column}`;
      return <li class={p.severity}>
        {p.line > 0 && (go === undefined ? <code>{place}</code> : <button type="button" class="link" onClick={() => go(p)}>{place}</button>)}{" "}
        <b>{p.severity}</b>: {p.text}{p.hint !== "" && <span class="muted"> {p.hint}</span>}
        {fix !== undefined && p.fix.length > 0 && <>{" "}<button type="button" onClick={() => fix(p)}>Write {p.fix[0]!.new}</button></>}
      </li>;
    })}</ul>
  </section>;
}
