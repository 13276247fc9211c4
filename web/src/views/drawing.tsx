// A drawing on the page: a canvas on the screen, SVG on paper.

import { useLayoutEffect, useRef } from "preact/hooks";
import { type Palette, type Pen, onCanvas, svg } from "../draw/pen.ts";
import type { Store } from "../store.ts";

/** palette reads the colours of the style sheet as they are now. */
export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const known = new Map<string, string>();
  return (name) => {
    let colour = known.get(name);
    if (colour === undefined) known.set(name, (colour = style.getPropertyValue(`--${name}`).trim()));
    return colour;
  };
}

export interface DrawingProps {
  store: Store;
  width: number;
  height: number;
  draw: (pen: Pen) => void;
  label: string; // for those who do not see it; "": it only decorates
}

/** Drawing draws anew whenever it is rendered. */
export function Drawing({ store, width, height, draw, label }: DrawingProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const printing = store.printing.value;
  const dark = store.dark.value;
  useLayoutEffect(() => {
    const c = canvas.current;
    if (c === null) return;
    const ratio = window.devicePixelRatio || 1;
    c.width = Math.max(1, Math.round(width * ratio));
    c.height = Math.max(1, Math.round(height * ratio));
    const context = c.getContext("2d")!;
    context.scale(ratio, ratio);
    draw(onCanvas(context, palette()));
  }, [width, height, draw, dark, printing]);
  if (printing) return <div class="drawing" dangerouslySetInnerHTML={{ __html: svg(width, height, draw, undefined, label) }} />;
  return <canvas ref={canvas} class="drawing" role={label === "" ? "presentation" : "img"} aria-label={label || undefined} style={{ width: `${width}px`, height: `${height}px` }} />;
}

/** save offers a file for download. */
export function save(name: string, type: string, content: BlobPart) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
}

/** Save has buttons that save a drawing as SVG and PNG. */
export function Save({ name, width, height, draw }: { name: string; width: number; height: number; draw: (pen: Pen) => void }) {
  const markup = () => svg(width, height, (pen) => {
    pen.rect(0, 0, width, height, { fill: "paper" });
    draw(pen);
  }, palette(), name);
  const png = () => {
    const c = document.createElement("canvas");
    c.width = 2 * width;
    c.height = 2 * height;
    const context = c.getContext("2d")!;
    context.scale(2, 2);
    const pen = onCanvas(context, palette());
    pen.rect(0, 0, width, height, { fill: "paper" });
    draw(pen);
    c.toBlob((blob) => blob !== null && save(`${name}.png`, "image/png", blob));
  };
  return <span class="save screen">
    <button type="button" onClick={() => save(`${name}.svg`, "image/svg+xml", markup())}>SVG</button>
    <button type="button" onClick={png}>PNG</button>
  </span>;
}
