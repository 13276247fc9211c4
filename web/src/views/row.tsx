// A row over the time axis: a label beside a drawing, with the cursors.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Pen } from "../draw/pen.ts";
import { type Window, place, timeOf } from "../draw/time.ts";
import type { Store } from "../store.ts";
import { Drawing } from "./drawing.tsx";

export const left = 54; // px for the labels of the value axes
export const right = 24;

/** Tip describes what is under the pointer. */
export interface Tip {
  x: number;
  y: number;
  name: string;
  text: string;
}

/** shifted draws to the right of the labels of the value axes. */
export const shifted = (body: (pen: Pen) => void) => (pen: Pen) => pen.scaled(1, left, 0, () => body(pen));

export interface RowProps {
  store: Store;
  w: Window;
  height: number;
  label: ComponentChildren;
  draw: (pen: Pen) => void;
  describe?: (t: number, y: number) => { name: string; text: string } | null;
  click?: (y: number) => void;
  tip: (tip: Tip | null) => void;
  name: string;
  labelClass?: string;
}

/** Row is a label beside a drawing over the time axis; dragging zooms, clicking moves the cursor. */
export function Row({ store, w, height, label, draw, describe, click, tip, name, labelClass }: RowProps) {
  const [range, setRange] = useState<[number, number] | null>(null);
  const from = useRef<number | null>(null);
  const x = (e: MouseEvent & { currentTarget: HTMLElement }) => e.clientX - e.currentTarget.getBoundingClientRect().left - left;
  const clamp = (v: number) => Math.min(w.width, Math.max(0, v));
  return <div class="row">
    <div class={`label ${labelClass ?? ""}`}>{label}</div>
    <div class="plotted" style={{ height: `${height}px` }}
      onPointerDown={(e) => {
        if (e.button !== 0 || e.pointerType === "touch" || x(e) < 0 || x(e) > w.width) return;
        from.current = x(e);
        e.currentTarget.setPointerCapture(e.pointerId);
      }}
      onPointerMove={(e) => {
        const at = x(e);
        store.hover.value = at < 0 || at > w.width ? null : timeOf(w, at);
        if (from.current !== null) {
          setRange([Math.min(from.current, clamp(at)), Math.max(from.current, clamp(at))]);
          return;
        }
        const found = store.hover.value === null ? null : describe?.(store.hover.value, e.clientY - e.currentTarget.getBoundingClientRect().top);
        tip(found ? { x: e.clientX, y: e.clientY, ...found } : null);
      }}
      onPointerUp={(e) => {
        if (from.current === null) return;
        const [a, b] = [from.current, clamp(x(e))].sort((p, q) => p - q) as [number, number];
        from.current = null;
        setRange(null);
        if (b - a > 4) {
          store.show(timeOf(w, a), timeOf(w, b));
          return;
        }
        store.seek(timeOf(w, b));
        click?.(e.clientY - e.currentTarget.getBoundingClientRect().top);
      }}
      onPointerLeave={() => {
        store.hover.value = null;
        tip(null);
      }}
      onDblClick={() => store.showAll()}
      onWheel={(e) => {
        if (!e.ctrlKey && !e.metaKey && e.deltaX === 0) return;
        e.preventDefault();
        if (e.deltaX !== 0) store.pan(e.deltaX / w.width * (w.to - w.from));
        else store.zoom(timeOf(w, x(e)), Math.exp(e.deltaY / 300));
      }}>
      <Drawing store={store} width={left + w.width + right} height={height} draw={draw} label={name} />
      {range !== null && <div class="range" style={{ left: `${left + range[0]}px`, width: `${range[1] - range[0]}px` }} />}
    </div>
  </div>;
}

/** Cursors are the lines of the cursor, of the second one and of the pointer over all rows. */
export function Cursors({ store, w }: { store: Store; w: Window }) {
  const line = (t: number | null, kind: string) => t === null || t < w.from || t > w.to ? null
    : <div class={`cursor ${kind}`} style={{ transform: `translateX(${left + place(w, t)}px)` }} />;
  return <div class="cursors">{line(store.hover.value, "hover")}{line(store.other.value, "other")}{line(store.time.value, "main")}</div>;
}
