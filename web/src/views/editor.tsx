// The editor: the files of the mission as text, with the tree and the problems of what is written, before it is saved.

import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Desk } from "../desk.ts";
import * as server from "../model/connection.ts";
import { offsetOf } from "../model/text.ts";
import { read } from "../model/run.ts";
import { Store } from "../store.ts";
import { Problems } from "./problems.tsx";
import { TreeView } from "./tree.tsx";
import { useWidth } from "./page.tsx";

const pause = 300; // ms after a key, before what is written is tried

export function Editor({ desk }: { desk: Desk }) {
  const [list, setList] = useState<server.Document[]>([]); // as they are on the disk
  const version = desk.state.value?.version;
  useEffect(() => void server.documents().then(setList, () => undefined), [version]);
  return list.length === 0 ? null : <Documents desk={desk} list={list}
    saved={(d) => setList((old) => old.map((o) => (o.name === d.name ? d : o)))} />;
}

interface DocumentsProps {
  desk: Desk;
  list: server.Document[];
  saved: (d: server.Document) => void;
}

function Documents({ desk, list, saved: replace }: DocumentsProps) {
  const [name, setName] = useState("");
  const [trial, setTrial] = useState<server.Trial | null>(null);
  const [tree, setTree] = useState<{ store: Store; lines: number[] } | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const [side, width] = useWidth(null);
  const stored = list.find((d) => d.name === name) ?? list[0]!;
  const edits = desk.edits.value;
  const edited = edits.has(stored.name);
  const document = edits.get(stored.name) ?? stored;
  const { text } = document;

  useEffect(() => {
    let over = false;
    const waiting = setTimeout(() => void server.attempt(document).then((found) => {
      if (over) return;
      setTrial(found);
      if (found.run === null) return;
      const store = new Store(read(found.run));
      setTree((old) => {
        if (old !== null) store.follow(old.store);
        store.dark.value = desk.dark.value;
        return { store, lines: found.lines };
      });
    }, () => undefined), trial === null ? 0 : pause);
    return () => {
      over = true;
      clearTimeout(waiting);
    };
  }, [document.name, text, stored.stamp]);
  const go = (line: number, column: number) => {
    const at = offsetOf(text, line, column);
    area.current!.focus();
    area.current!.setSelectionRange(at, at);
    area.current!.scrollTop = (line - 8) * parseFloat(getComputedStyle(area.current!).lineHeight);
  };
  useEffect(() => {
    if (tree === null) return;
    let clicked = false; // what was selected in the tree before is no click
    return effect(() => { // a click on a task leads to its line
      const task = tree.store.selected.value;
      const line = task === null ? 0 : tree.lines[task] ?? 0;
      if (clicked && line > 0 && area.current !== null) go(line, 1);
      clicked = true;
    });
  }, [tree]);
  const save = () => void desk.save(document, replace);
  return <section class="editor">
    <p class="tools">
      <select aria-label="File" value={document.name} onChange={(e) => setName(e.currentTarget.value)}>
        {list.map((d) => <option key={d.name} value={d.name}>{d.name}{edits.has(d.name) ? " •" : ""}</option>)}
      </select>
      <button type="button" disabled={!edited} title="Ctrl+S" onClick={save}>Save</button>
      <button type="button" disabled={!edited} onClick={() => desk.edit(stored, null)}>Discard the changes</button>
    </p>
    <div class="replay">
      <textarea ref={area} aria-label={`Text of ${document.name}`} spellcheck={false} wrap="off" rows={26} value={text}
        onInput={(e) => desk.edit(stored, e.currentTarget.value)} onKeyDown={(e) => {
          if (e.key !== "s" || !(e.ctrlKey || e.metaKey)) return;
          e.preventDefault();
          if (edited) save();
        }} />
      <div ref={side}>
        {trial !== null && trial.problems.length > 0 && <Problems list={trial.problems} go={(p) => p.file === document.name && go(p.line, p.column)} />}
        {tree !== null && width > 0 && <TreeView store={tree.store} width={width} />}
      </div>
    </div>
  </section>;
}
