// The tree of a plan as it is written, with what changes it: keys, buttons, dragging, and a form of the selected task.

import { useState } from "preact/hooks";
import type { Desk } from "../desk.ts";
import type { Draft } from "../draft.ts";
import type { Piece } from "../model/connection.ts";
import { type Box, type Op, type Place, attribute, beside, siblings } from "../model/outline.ts";
import { Form } from "./form.tsx";
import { TreeView } from "./tree.tsx";

/** Search finds a piece by its name, its category or what it does. */
function Search({ label, pieces, off, take }: { label: string; pieces: Piece[]; off: boolean; take: (p: Piece) => void }) {
  const [wanted, setWanted] = useState("");
  const [open, setOpen] = useState(false);
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const name = (p: Piece) => p.id || p.element;
  const found = pieces.filter((p) => words.every((word) => `${name(p)} ${p.category} ${p.text}`.toLowerCase().includes(word)))
    .toSorted((a, b) => Number(name(b).toLowerCase().startsWith(words[0] ?? "")) - Number(name(a).toLowerCase().startsWith(words[0] ?? "")));
  const choose = (p: Piece) => {
    setWanted("");
    setOpen(false);
    take(p);
  };
  return <span class="picker" onFocusOut={(e) => !e.currentTarget.contains(e.relatedTarget as Node | null) && setOpen(false)}>
    <input type="search" placeholder={label} aria-label={label} disabled={off} value={wanted} onFocus={() => setOpen(true)}
      onInput={(e) => {
        setWanted(e.currentTarget.value);
        setOpen(true);
      }}
      onKeyDown={(e) => {
        if (e.key === "Escape") setOpen(false);
        if (e.key === "Enter" && found[0] !== undefined) choose(found[0]);
      }} />
    {open && <ul class="menu pieces">{found.map((p, i) => <li key={`${p.element} ${p.id}`}>
      {words.length === 0 && p.category !== found[i - 1]?.category && <div class="muted">{p.category}</div>}
      <button type="button" onClick={() => choose(p)}><b>{name(p)}</b> <span class="muted">{p.text}{p.include !== "" && ` (${p.include})`}</span></button>
    </li>)}</ul>}
  </span>;
}

const order = ["composite", "decorator", "condition", "action", "subtree", "tree"];

/** step returns the box that an arrow key leads to; undefined: there is none. */
function step(boxes: Box[], i: number, key: string): number | undefined {
  const row = siblings(boxes, i);
  switch (key) {
    case "ArrowUp": return row[row.indexOf(i) - 1];
    case "ArrowDown": return row[row.indexOf(i) + 1];
    case "ArrowLeft": return boxes[i]!.parent < 0 ? undefined : boxes[i]!.parent;
    case "ArrowRight": return boxes.findIndex((b) => b.parent === i) + 1 ? boxes.findIndex((b) => b.parent === i) : undefined;
  }
  return undefined;
}

/** where returns where a new task gets beside the selected one: into what may have children, else behind it. */
const where = (boxes: Box[], i: number): Place =>
  ({ to: i, where: ["condition", "action"].includes(boxes[i]!.role) ? "after" : "into" });

export interface ArrangeProps {
  desk: Desk;
  draft: Draft;
  width: number;
  rename: (at: number, name: string) => void; // everywhere
}

export function Arrange({ desk, draft, width, rename }: ArrangeProps) {
  const store = draft.tree.value;
  const [place, setPlace] = useState("");
  const [name, setName] = useState("");
  if (store === null) return null;
  const { boxes } = draft;
  const selected = store.selected.value ?? -1;
  const box = boxes[selected];
  const at = (all: Box[], i: number): Place => place === "" ? where(all, i) : { to: i, where: place as Place["where"] };
  const act = (make: (all: Box[], i: number) => Op | null) => void draft.act((all, i) => all[i] === undefined ? null : make(all, i));
  const move = (direction: 1 | -1) => act((all, i) => {
    const to = beside(all, i, direction);
    return to && { do: "move", task: i, ...to };
  });
  const copied = () => box === undefined ? "" : draft.document().text.slice(box.from, box.to);
  const copy = () => (desk.clip.value = copied());
  const remove = () => act((_, i) => ({ do: "delete", task: i }));
  const paste = (text: string) => act((all, i) => ({ do: "paste", text, ...at(all, i) }));
  const moved = (e: KeyboardEvent) => {
    if (e.altKey && e.key === "ArrowUp") move(-1);
    else if (e.altKey && e.key === "ArrowDown") move(1);
    else if (e.altKey && e.key === "ArrowLeft") act((all, i) => ({ do: "move", task: i, to: all[i]!.parent, where: "after" }));
    else if (e.altKey && e.key === "ArrowRight") {
      act((all, i) => {
        const to = beside(all, i, -1);
        return to && { do: "move", task: i, to: to.to, where: "into" };
      });
    } else if (e.key === "Delete") remove();
    else if (!e.altKey && !e.ctrlKey && !e.metaKey && e.key.startsWith("Arrow")) {
      const to = box === undefined ? 0 : step(boxes, selected, e.key);
      if (to !== undefined) store.select(to);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const arranging = {
    drop: (i: number, to: Place) => void draft.act(() => ({ do: "move", task: i, ...to })),
    open: (i: number) => { // the tree that is used there
      const tree = boxes.findIndex((b) => b.element === "BehaviorTree" && boxes[i]!.element === "SubTree" && attribute(b, "ID") === attribute(boxes[i]!, "ID"));
      if (tree >= 0) store.select(tree);
    },
  };
  const button = (text: string, keys: string, act: () => void, off = false) =>
    <button type="button" title={keys} disabled={box === undefined || off} onClick={act}>{text}</button>;
  const root = box === undefined || box.parent < 0;
  const task = !root && box.parent > 0;
  const pieces = draft.pieces.value.toSorted((a, b) => order.indexOf(a.category) - order.indexOf(b.category));
  return <>
    <p class="tools">
      <Search label="add a task" off={box === undefined} pieces={pieces} take={(p) => act((all, i) => ({ do: "add", element: p.element, id: p.id, include: p.include, ...at(all, i) }))} />
      <select aria-label="Place of what is added" disabled={box === undefined} value={place} onChange={(e) => setPlace(e.currentTarget.value)}>
        <option value="">where it fits</option><option value="into">into it</option><option value="before">before it</option><option value="after">after it</option>
      </select>
      <Search label="wrap in" off={!task} pieces={pieces.filter((p) => p.category === "composite" || p.category === "decorator")}
        take={(p) => act((_, i) => ({ do: "wrap", task: i, element: p.element, id: p.id }))} />
      {button("Unwrap", "Put what is in it in its place", () => act((_, i) => ({ do: "unwrap", task: i })), !task)}
      {button("Up", "Alt+↑", () => move(-1), root)}
      {button("Down", "Alt+↓", () => move(1), root)}
      {button("Delete", "Delete", remove, root)}
      {button("Copy", "Ctrl+C", copy, root)}
      {button("Paste", "Ctrl+V", () => paste(desk.clip.value), desk.clip.value === "")}
      {button(box?.disabled ? "Enable" : "Disable", "A disabled task is skipped", () => act((_, i) => ({ do: "toggle", task: i })), !task)}
      <input type="text" class="name" aria-label="Name of the new tree" placeholder="name of a tree" disabled={!task} value={name} onInput={(e) => setName(e.currentTarget.value)} />
      {button("Extract", "Make the task a tree of its own", () => act((_, i) => ({ do: "extract", task: i, name })), !task || name === "")}
    </p>
    {draft.stale.value && <p class="note">The text is not well-formed. This is the tree as it was.</p>}
    <div class="arranged" tabIndex={0} role="group" aria-label="Tree of the plan: arrow keys select, with Alt they move" onKeyDown={moved}
      onCopy={(e) => {
        e.clipboardData?.setData("text/plain", copy());
        e.preventDefault();
      }}
      onCut={(e) => {
        e.clipboardData?.setData("text/plain", copy());
        e.preventDefault();
        if (!root) remove();
      }}
      onPaste={(e) => {
        e.preventDefault();
        paste(e.clipboardData?.getData("text/plain") || desk.clip.value);
      }}>
      <TreeView store={store} width={width} arranging={arranging} />
    </div>
    <p class="muted" aria-live="polite">{box === undefined ? "Select a task." : `${box.element} ${box.label === box.element ? "" : box.label}`}</p>
    {box !== undefined && <Form key={selected} box={box} pieces={pieces} rename={rename}
      set={(name, value) => void draft.act(() => value === null ? { do: "unset", task: selected, name } : { do: "set", task: selected, name, value })} />}
  </>;
}
