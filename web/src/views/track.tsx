// The track of the vehicle, linked to the cursor and the view.

import { useCallback, useMemo } from "preact/hooks";
import { track as draw } from "../draw/track.ts";
import type { Pen } from "../draw/pen.ts";
import { valueAt } from "../model/run.ts";
import { exactly, number } from "../model/text.ts";
import { frameOf, nearest, track } from "../model/track.ts";
import type { Store } from "../store.ts";
import { Drawing, Save } from "./drawing.tsx";

const reach = 40; // px

export function TrackView({ store, width }: { store: Store; width: number }) {
  const { run } = store;
  const t = useMemo(() => track(run), [run]);
  const over = useMemo(() => (store.against === null ? null : track(store.against)), [store]);
  const height = Math.min(width, 420);
  const frame = useMemo(() => (t === null ? null : frameOf(t, width, height)), [t, width, height]);
  const view = store.view.value;
  const now = store.hover.value ?? store.time.value;
  const paint = useCallback((pen: Pen) => {
    if (t !== null && frame !== null) draw(pen, t, over, frame, view, now, width, height);
  }, [t, over, frame, view, now, width, height]);
  if (t === null || frame === null) return null;
  const find = (e: MouseEvent & { currentTarget: HTMLElement }) => {
    const box = e.currentTarget.getBoundingClientRect();
    const found = nearest(t, frame, e.clientX - box.left, e.clientY - box.top);
    return found !== null && found.distance <= reach ? found.t : null;
  };
  const [x, y] = t.names.map((name) => number(valueAt(run.named.get(name)!, now)));
  return <div>
    <div class="track" onPointerMove={(e) => (store.hover.value = find(e))} onPointerLeave={() => (store.hover.value = null)}
      onClick={(e) => {
        const at = find(e);
        if (at !== null) store.seek(at);
      }}>
      <Drawing store={store} width={width} height={height} draw={paint} label={`The track, at ${exactly(now)}: ${t.names[0]} ${x}, ${t.names[1]} ${y} ${t.unit}`} />
    </div>
    <p class="tools screen"><span>{t.names[0]} {x}, {t.names[1]} {y} {t.unit}</span><Save name="track" width={width} height={height} draw={paint} /></p>
  </div>;
}
