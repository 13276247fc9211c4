// A text that is edited, with proposals of what may be written.

import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Proposal } from "../model/connection.ts";

export interface TextProps {
  area: RefObject<HTMLTextAreaElement | null>;
  label: string;
  text: string;
  write: (text: string, caret?: number) => void;
  point: () => void; // the caret has moved
  propose: (at: number) => Promise<Proposal[]>;
}

const most = 200; // proposals that are shown
const opening = /[<"'[]$/; // after what proposals are asked for

/** placeOf returns where the caret is drawn. The letters have one width, and lines do not wrap. */
function placeOf(area: HTMLTextAreaElement): { left: string; top: string } {
  const style = getComputedStyle(area);
  const before = area.value.slice(0, area.selectionStart).split("\n");
  const pen = document.createElement("canvas").getContext("2d")!;
  pen.font = `${style.fontSize} ${style.fontFamily}`;
  return {
    left: `${Math.max(0, Math.min(area.clientWidth - 320, pen.measureText(before.at(-1)!).width - area.scrollLeft))}px`,
    top: `${before.length * parseFloat(style.lineHeight) - area.scrollTop + 10}px`,
  };
}

export function TextArea({ area, label, text, write, point, propose }: TextProps) {
  const [list, setList] = useState<Proposal[]>([]);
  const [chosen, setChosen] = useState(0);
  const asked = useRef(0);
  const close = () => {
    asked.current++;
    setList([]);
  };
  const ask = async () => {
    const number = ++asked.current;
    const at = area.current!.selectionStart;
    const found = await propose(at).catch(() => []);
    const fitting = found.filter((p) => p.new.toLowerCase().startsWith(area.current!.value.slice(p.at, at).toLowerCase())).slice(0, most);
    if (number !== asked.current) return;
    setList(fitting);
    setChosen(0);
  };
  const take = (p: Proposal) => {
    write(text.slice(0, p.at) + p.new + text.slice(area.current!.selectionStart), p.at + p.new.length);
    close();
    area.current!.focus();
  };
  const keys = (e: KeyboardEvent) => {
    if (e.key === " " && e.ctrlKey) void ask();
    else if (list.length === 0) return;
    else if (e.key === "Escape") close();
    else if (e.key === "ArrowDown") setChosen((chosen + 1) % list.length);
    else if (e.key === "ArrowUp") setChosen((chosen + list.length - 1) % list.length);
    else if (e.key === "Enter" || e.key === "Tab") take(list[chosen]!);
    else return;
    e.preventDefault();
  };
  const at = list.length > 0 ? placeOf(area.current!) : null;
  return <div class="text">
    <textarea ref={area} aria-label={label} spellcheck={false} wrap="off" rows={26} value={text} onKeyDown={keys} onBlur={close} onClick={() => {
      close();
      point();
    }} onKeyUp={point} aria-controls={at === null ? undefined : "proposals"} aria-activedescendant={at === null ? undefined : `proposal-${chosen}`}
      onInput={(e) => {
        const now = e.currentTarget.value;
        write(now);
        const typed = now.slice(0, e.currentTarget.selectionStart);
        if (now.length > text.length && (opening.test(typed) || (list.length > 0 && /[\w.]$/.test(typed)))) void ask();
        else close();
      }} />
    {at !== null && <ul class="menu pieces" id="proposals" role="listbox" aria-label="Proposals" style={at}>{list.map((p, i) =>
      <li key={p.new} id={`proposal-${i}`} role="option" aria-selected={i === chosen} ref={(e) => {
        if (i === chosen) e?.scrollIntoView({ block: "nearest" });
      }}
        onPointerDown={(e) => {
          e.preventDefault(); // the text keeps the focus
          take(p);
        }}><b>{p.new}</b> <span class="muted">{p.detail}</span></li>)}</ul>}
  </div>;
}
