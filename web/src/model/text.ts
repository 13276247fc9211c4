// Numbers and times as texts, and the steps of axes.

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

/** timeStep returns the least round duration [s] that is not below the wanted one. */
export function timeStep(wanted: number): number {
  if (wanted < 1) return roundStep(wanted);
  return steps.find((s) => s >= wanted) ?? 86400 * roundStep(wanted / 86400);
}

/** roundStep returns the least of 1, 2 and 5 times a power of ten that is not below the wanted step. */
export function roundStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * [1, 2, 5, 10].find((f) => f * power >= wanted * (1 - 1e-9))!;
}

/**
 * clock writes a time [s] as h:mm, h:mm:ss or with decimals, as far as the step asks for. Like the table of canopy run,
 * it counts what is over, and forgives what is missing by rounding.
 */
export function clock(t: number, step: number): string {
  const digits = step >= 1 ? 0 : Math.min(12, Math.ceil(-Math.log10(step) - 1e-9));
  const n = Math.floor(Math.abs(t) * 10 ** digits + 1e-3);
  const s = Math.floor(n / 10 ** digits);
  const two = (v: number) => String(v).padStart(2, "0");
  let text = `${t < 0 && n > 0 ? "−" : ""}${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}`;
  if (step < 60) text += `:${two(s % 60)}`;
  if (digits > 0) text += `.${String(n % 10 ** digits).padStart(digits, "0")}`;
  return text;
}

/** exactly writes the time of an instant, to a millisecond. */
export const exactly = (t: number) => clock(t, 1e-3);

/** duration writes a difference of times [s]. */
export function duration(t: number): string {
  return Math.abs(t) < 60 ? `${minus(String(Number(t.toPrecision(4))))} s` : clock(t, 1);
}

const minus = (text: string) => text.replaceAll("-", "−");

const grouped = (text: string) => minus(text.replace(/^(-?)(\d{5,})/, (_, sign: string, whole: string) =>
  sign + whole.replace(/\B(?=(\d{3})+$)/g, "\u2009")));

/** number writes a value with five digits, a large one with six; "–" if it is not finite. */
export function number(v: number): string {
  if (!Number.isFinite(v)) return "–";
  const size = Math.abs(v);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) return minus(v.toExponential(3));
  return grouped(String(Number(v.toPrecision(size >= 1e4 ? 6 : 5))));
}

/** signed writes a value with its sign and three digits. */
export function signed(v: number): string {
  if (!Number.isFinite(v)) return "–";
  return (v < 0 ? "" : "+") + number(Number(v.toPrecision(3)));
}

/** margin writes a robustness, which is infinite where only tasks decide. */
export const margin = (v: number) => Math.abs(v) === Infinity ? (v < 0 ? "−∞" : "+∞") : signed(v);

/** tick writes the label of an axis whose labels are a step apart. */
export function tick(v: number, step: number): string {
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (Math.abs(v) >= 1e7 || digits > 7) return minus(String(Number(v.toPrecision(4))));
  return grouped(v.toFixed(digits));
}

/** multiples lists the multiples of a step in an interval. */
export function multiples(step: number, from: number, to: number): number[] {
  const list: number[] = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + 1e-9 * step; k++) list.push(k * step);
  return list;
}

/** offsetOf returns where a line and a column, both from 1, are in a text; characters beyond the BMP count as one. */
export function offsetOf(text: string, line: number, column: number): number {
  let at = 0;
  for (let n = 1; n < line; n++) at = text.indexOf("\n", at) + 1 || text.length;
  for (let n = 1; n < column && at < text.length && text[at] !== "\n"; n++) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  return at;
}
