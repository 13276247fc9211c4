// The bar that moves through time.

import { useEffect } from "preact/hooks";
import { resolution } from "../draw/time.ts";
import { clock, duration } from "../model/text.ts";
import { type Store, speeds } from "../store.ts";

/** usePlay lets the cursor run while the run is played. */
function usePlay(store: Store) {
  const playing = store.playing.value;
  useEffect(() => {
    if (!playing) return;
    let last = performance.now();
    let request = requestAnimationFrame(function tick(now) {
      store.advance((now - last) / 1000);
      last = now;
      request = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(request);
  }, [store, playing]);
}

/** parseTime reads h:mm:ss, m:ss or seconds; NaN if it is none. */
export function parseTime(text: string): number {
  const parts = text.trim().split(":");
  if (parts.length > 3 || parts.some((p) => p.trim() === "" || !Number.isFinite(Number(p)))) return NaN;
  return parts.reduce((sum, p) => 60 * sum + Number(p), 0) * (parts.length === 2 ? 60 : 1);
}

export function Transport({ store, width }: { store: Store; width: number }) {
  usePlay(store);
  const { run } = store;
  const task = store.selected.value;
  const t = store.time.value;
  const name = task === null ? "event" : "change of the selected task";
  const button = (icon: string, label: string, act: () => void) =>
    <button type="button" title={label} aria-label={label} onClick={act}><svg width="14" height="12" aria-hidden="true"><path d={icon} /></svg></button>;
  return <div class="transport screen" role="toolbar" aria-label="Time">
    {button("M1 1H3V11H1ZM13 1L4 6L13 11Z", "To the start (Home)", () => store.seek(run.from))}
    {button("M12 1L3 6L12 11ZM2 1H3V11H2Z", `Previous ${name} (←)`, () => store.step(-1, task))}
    {button(store.playing.value ? "M3 1H6V11H3ZM9 1H12V11H9Z" : "M2 0L13 6L2 12Z", store.playing.value ? "Pause (Space)" : "Play (Space)", () => store.play())}
    {button("M2 1L11 6L2 11ZM11 1H12V11H11Z", `Next ${name} (→)`, () => store.step(1, task))}
    {button("M1 1L10 6L1 11ZM11 1H13V11H11Z", "To the end (End)", () => store.seek(run.data.end))}
    <select aria-label="Speed" value={store.speed.value} onChange={(e) => (store.speed.value = Number(e.currentTarget.value))}>
      {speeds.map((s) => <option value={s}>{s} ×</option>)}
    </select>
    <input class="time" aria-label="Time of the cursor" key={t} defaultValue={clock(t, resolution({ ...store.view.value, width }))}
      onChange={(e) => {
        const wanted = parseTime(e.currentTarget.value);
        if (Number.isFinite(wanted)) store.seek(wanted);
      }} />
    {store.other.value === null
      ? <button type="button" title="Set a second cursor here (M)" onClick={() => (store.other.value = t)}>mark</button>
      : <button type="button" title="Remove the second cursor (M)" onClick={() => (store.other.value = null)}>
        Δ {duration(t - store.other.value)} ✕
      </button>}
    <input class="scrub" type="range" aria-label="Time" min={run.from} max={run.data.end} step="any" value={t}
      onInput={(e) => store.seek(Number(e.currentTarget.value))} />
  </div>;
}

/** keys handles the keys of the page. */
export function keys(store: Store, event: KeyboardEvent) {
  const target = event.target as HTMLElement;
  if (target.closest("input, select, textarea") !== null || event.ctrlKey || event.metaKey || event.altKey) return;
  const { view: { value: { from, to } }, run } = store;
  const task = event.shiftKey ? null : store.selected.value;
  switch (event.key) {
    case " ":
      if (target.closest("button, summary, a") !== null) return;
      store.play();
      break;
    case "ArrowLeft": store.step(-1, task); break;
    case "ArrowRight": store.step(1, task); break;
    case "Home": store.seek(run.from); break;
    case "End": store.seek(run.data.end); break;
    case "m": store.other.value = store.other.value === null ? store.time.value : null; break;
    case "+": store.zoom(store.time.value, 0.5); break;
    case "-": store.zoom(store.time.value, 2); break;
    case "a": store.pan((from - to) / 4); break;
    case "d": store.pan((to - from) / 4); break;
    case "Escape": store.showAll(); break;
    default: return;
  }
  event.preventDefault();
}
