// The attributes of the selected element, with what they mean.

import { useRef } from "preact/hooks";
import type { Piece } from "../model/connection.ts";
import { type Box, attribute } from "../model/outline.ts";

export interface FormProps {
  box: Box;
  pieces: Piece[];
  set: (name: string, value: string | null) => void; // null: it goes
  rename: (at: number, name: string) => void; // everywhere
}

/** pieceOf returns the piece that an element is; undefined: it is not known. */
function pieceOf(pieces: Piece[], box: Box): Piece | undefined {
  const id = attribute(box, "ID");
  return pieces.find((p) => id !== undefined && (p.id || p.element) === id && (p.category === "subtree") === (box.element === "SubTree"))
    ?? pieces.find((p) => p.element === box.element && p.id === "");
}

/** seldom are attributes of any node. */
const seldom = (name: string) => name.startsWith("_") || ["timeout", "retry", "every", "ID"].includes(name);

/** first lists the attributes for which an element is there: the ports of what a plan declares, which stand before the name, or those of a kind. */
function first({ attributes }: Piece): Piece["attributes"] {
  const ports = attributes.findIndex((a) => a.name === "name");
  return ports > 0 ? attributes.slice(0, ports) : attributes.filter((a) => !seldom(a.name));
}

export function Form({ box, pieces, set, rename }: FormProps) {
  const piece = pieceOf(pieces, box);
  const written = new Set(box.attributes.map((a) => a.name));
  const texts = new Map(piece?.attributes.map((a) => [a.name, a]));
  const open = piece === undefined ? [] : first(piece).filter((a) => !written.has(a.name));
  const more = piece?.attributes.filter((a) => !written.has(a.name) && !open.includes(a)) ?? [];
  const field = (a: Piece["attributes"][number]) =>
    <Field key={a.name} name={a.name} value={null} text={a.text} hint={a.default} set={(v) => set(a.name, v)} />;
  return <div class="form">
    {piece !== undefined && piece.text !== "" && <p class="muted">{piece.text}</p>}
    {box.attributes.map((a) => <Field key={a.name} name={a.name} value={a.value} text={texts.get(a.name)?.text ?? ""} set={(v) => set(a.name, v)}
      {...(a.name === "name" || a.name === "ID" ? { rename: (name: string) => rename(a.at, name) } : {})} />)}
    {open.map(field)}
    {more.length > 0 && <details key={piece!.element + piece!.id}>
      <summary>{more.length} more attributes</summary>
      {more.map(field)}
    </details>}
  </div>;
}

interface FieldProps {
  name: string;
  value: string | null; // null: it is not written
  text: string;
  hint?: string;
  set: (value: string | null) => void;
  rename?: (name: string) => void;
}

function Field({ name, value, text, hint, set, rename }: FieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const commit = () => input.current!.value !== (value ?? "") && set(input.current!.value);
  return <div class="field">
    <label>{name} <input type="text" ref={input} key={value ?? ""} defaultValue={value ?? ""} placeholder={hint}
      onChange={rename === undefined ? commit : undefined} onKeyDown={(e) => e.key === "Enter" && rename !== undefined && commit()} /></label>
    <span>
      {rename !== undefined && <>
        <button type="button" title="Change it here" onClick={commit}>Set</button>
        <button type="button" title="Change it wherever it is named" onClick={() => rename(input.current!.value)}>Rename</button>
      </>}
      {value !== null && <button type="button" aria-label={`Remove ${name}`} onClick={() => set(null)}>✕</button>}
    </span>
    {text !== "" && <div class="muted">{text}</div>}
  </div>;
}
