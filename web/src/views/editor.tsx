// The editor: the files of the mission as text, with the tree and the problems of what is written, before it is saved.

import { effect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Desk } from "../desk.ts";
import { Draft } from "../draft.ts";
import * as server from "../model/connection.ts";
import { between } from "../model/outline.ts";
import { lines, merged, near } from "../model/lines.ts";
import { offsetOf } from "../model/text.ts";
import { Arrange } from "./arrange.tsx";
import { TextArea } from "./text.tsx";
import { Problems } from "./problems.tsx";
import { useWidth } from "./page.tsx";

const pause = 300; // ms after a key, before what is written is tried

export function Editor({ desk }: { desk: Desk }) {
  const version = desk.state.value?.version;
  useEffect(() => void server.documents().then((list) => (desk.documents.value = list), () => undefined), [version]);
  return desk.documents.value.length === 0 ? null : <Documents desk={desk} list={desk.documents.value} />;
}

function Documents({ desk, list }: { desk: Desk; list: server.Document[] }) {
  const [name, setName] = useState("");
  const area = useRef<HTMLTextAreaElement>(null);
  const [side, width] = useWidth(null);
  const stored = list.find((d) => d.name === name) ?? list[0]!;
  const draft = useMemo(() => new Draft(desk, stored), [stored.name]);
  draft.stored = stored;
  const edits = desk.edits.value;
  const edited = edits.has(stored.name);
  const document = edits.get(stored.name) ?? stored;
  const { text } = document;
  const tree = draft.tree.value;

  useEffect(() => {
    const waiting = setTimeout(() => void draft.judge().catch(() => undefined), draft.fresh() ? 0 : pause);
    return () => clearTimeout(waiting);
  }, [draft, edits, stored.stamp]);
  const show = (at: number) => {
    const lines = area.current!.value.slice(0, at).split("\n").length;
    area.current!.setSelectionRange(at, at);
    const { scrollTop, clientHeight } = area.current!;
    const top = lines * parseFloat(getComputedStyle(area.current!).lineHeight);
    if (top < scrollTop + 40 || top > scrollTop + clientHeight - 20) area.current!.scrollTop = top - clientHeight / 3;
  };
  const fromText = useRef(false);
  useEffect(() => {
    if (tree === null) return;
    let first = !draft.chosen;
    return effect(() => { // a task that is selected in the tree leads to its place in the text
      const task = tree.selected.value;
      if (task !== null && !first && !fromText.current && area.current !== null) show(draft.boxes[task]!.at);
      first = false;
    });
  }, [tree]);
  const caret = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (caret.current !== null) area.current!.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  }, [text]);
  const step = (undo: boolean) => {
    if (undo) draft.undo();
    else draft.redo();
    const e = between(text, draft.document().text);
    caret.current = e.at + e.new.length;
  };
  const select = () => { // and the other way round
    fromText.current = true;
    draft.point(area.current!.selectionStart);
    fromText.current = false;
  };
  const rename = (at: number, name: string) => void desk.rename(draft.document(), at, name);
  const save = () => void desk.save(document);
  const keys = (e: KeyboardEvent) => {
    if (!(e.ctrlKey || e.metaKey) || (e.target as HTMLElement).closest("input") !== null) return;
    const key = e.key.toLowerCase();
    if (key === "s" && edited) save();
    else if (key === "z" && !e.shiftKey) step(true);
    else if (key === "y" || key === "z") step(false);
    else if (key !== "s") return;
    e.preventDefault();
  };
  useEffect(() => { // wherever the focus is: a button that has no more to do loses it
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  });
  const history = draft.history();
  return <section class="editor">
    <p class="tools">
      <select aria-label="File" value={document.name} onChange={(e) => setName(e.currentTarget.value)}>
        {list.map((d) => <option key={d.name} value={d.name}>{d.name}{edits.has(d.name) ? " •" : ""}</option>)}
      </select>
      <button type="button" disabled={!edited} title="Ctrl+S" onClick={save}>Save</button>
      <button type="button" disabled={!edited} onClick={() => draft.write(stored.text)}>Discard the changes</button>
      <button type="button" disabled={!history?.undo.length} title="Ctrl+Z" onClick={() => step(true)}>Undo</button>
      <button type="button" disabled={!history?.redo.length} title="Ctrl+Y" onClick={() => step(false)}>Redo</button>
    </p>
    {edited && document.stamp !== stored.stamp && <Changed desk={desk} stored={stored} />}
    <div class="replay">
      <TextArea area={area} label={`Text of ${document.name}`} text={text} point={select}
        propose={(at) => server.complete(draft.document(), desk.texts(), at)} write={(now, at) => {
          draft.write(now);
          if (at !== undefined) caret.current = at;
        }} />
      <div ref={side}>
        {width > 0 && <Arrange desk={desk} draft={draft} width={width} rename={rename} />}
        {draft.problems.value.length > 0 && <Problems list={draft.problems.value} go={(p) => {
          if (p.file !== document.name) return;
          area.current!.focus();
          show(offsetOf(text, p.line, p.column));
        }} fix={(p) => desk.apply({ [p.file]: p.fix })} />}
      </div>
    </div>
    <Difference document={document} />
  </section>;
}

/** Changed asks what is to become of edits of a file that another program has changed. */
function Changed({ desk, stored }: { desk: Desk; stored: server.Document }) {
  const { before, text } = desk.edits.value.get(stored.name)!;
  const both = useMemo(() => merged(before, text, stored.text), [before, text, stored.text]);
  return <p class="note tools" role="alert">
    Another program has changed {stored.name}.
    {both !== null && <button type="button" onClick={() => desk.settle(stored, both)}>Merge</button>}
    <button type="button" onClick={() => desk.settle(stored, text)}>Keep mine</button>
    <button type="button" onClick={() => desk.edit(stored, stored.text)}>Take theirs</button>
    {both === null && "Both have changed the same lines."}
  </p>;
}

/** Difference shows what differs from the last commit. */
function Difference({ document }: { document: server.Document }) {
  const [head, setHead] = useState<{ name: string; text: string; why: string } | null>(null);
  const known = head?.name === document.name ? head : null;
  const different = useMemo(() => known === null || known.why !== "" ? [] : near(lines(known.text.replaceAll("\r\n", "\n"), document.text)), [known, document.text]);
  const sign = { old: "−", new: "+", same: " " };
  return <details onToggle={(e) => e.currentTarget.open && void server.head(document).then((h) => setHead({ name: document.name, ...h }), () => undefined)}>
    <summary>Difference to the last commit</summary>
    {known !== null && known.why !== "" && <p class="note">{known.why}</p>}
    {known !== null && known.why === "" && different.length === 0 && <p class="note">There is none.</p>}
    {different.length > 0 && <pre class="difference" tabIndex={0}>{different.map((l) => l === null ? "…\n" : <span class={l.kind}>{sign[l.kind]} {l.text}{"\n"}</span>)}</pre>}
  </details>;
}
