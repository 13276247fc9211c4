// One way to draw, on a canvas for the screen and as SVG for paper and files.

/** Colour is the name of a custom property of the style sheet, or a hatching of one: "hatch change". */
export type Colour = string;

/** Paint is how a shape is drawn; without fill and stroke it is invisible. */
export interface Paint {
  fill?: Colour;
  stroke?: Colour;
  width?: number; // of the stroke [px]; 1 if it is left out
  dash?: number[];
  opacity?: number; // of the fill
}

export interface Letters {
  fill?: Colour; // "muted" if it is left out
  size?: number; // 11 if it is left out
  weight?: number;
  anchor?: "start" | "middle" | "end";
}

/** Pen draws in pixels from the upper left corner. */
export interface Pen {
  path(d: string, paint: Paint): void; // d as in SVG
  rect(x: number, y: number, width: number, height: number, paint: Paint, radius?: number): void;
  text(x: number, y: number, text: string, letters?: Letters): void;
  inside(x: number, y: number, width: number, height: number, body: () => void): void; // from there, and cut off there
  scaled(scale: number, x: number, y: number, body: () => void): void; // moved by x and y, then scaled
}

/** Palette returns a colour by its name. */
export type Palette = (name: string) => string;

/** hatchings are the lines of the pattern of each colour that has one, in a square of 6 px. */
const hatchings: Record<string, { colour: string; d: string }> = {
  "hatch activating": { colour: "change", d: "M-1 1L1 -1M0 6L6 0M5 7L7 5" },
  "hatch deactivating": { colour: "change", d: "M-1 5L1 7M0 0L6 6M5 -1L7 1" },
  "hatch finished": { colour: "success", d: "M0 1.5H6M0 4.5H6" },
  "hatch aborted": { colour: "failure", d: "M1.5 0V6M4.5 0V6" },
};

export const font = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

/** onCanvas returns a pen for a canvas whose scale is set. */
export function onCanvas(context: CanvasRenderingContext2D, palette: Palette): Pen {
  const patterns = new Map<string, CanvasPattern>();
  const colour = (name: Colour): string | CanvasPattern => {
    const hatching = hatchings[name];
    if (hatching === undefined) return palette(name);
    let pattern = patterns.get(name);
    if (pattern === undefined) {
      const tile = document.createElement("canvas");
      tile.width = tile.height = 12;
      const c = tile.getContext("2d")!;
      c.scale(2, 2);
      c.fillStyle = c.strokeStyle = palette(hatching.colour);
      c.globalAlpha = 0.25;
      c.fillRect(0, 0, 6, 6);
      c.globalAlpha = 1;
      c.lineWidth = 1.4;
      c.stroke(new Path2D(hatching.d));
      pattern = context.createPattern(tile, "repeat")!;
      pattern.setTransform(new DOMMatrix().scale(0.5));
      patterns.set(name, pattern);
    }
    return pattern;
  };
  const draw = (path: Path2D, { fill, stroke, width, dash, opacity }: Paint) => {
    if (fill !== undefined) {
      context.globalAlpha = opacity ?? 1;
      context.fillStyle = colour(fill);
      context.fill(path);
      context.globalAlpha = 1;
    }
    if (stroke !== undefined) {
      context.strokeStyle = colour(stroke);
      context.lineWidth = width ?? 1;
      context.lineJoin = "round";
      context.setLineDash(dash ?? []);
      context.stroke(path);
    }
  };
  return {
    path: (d, paint) => draw(new Path2D(d), paint),
    rect(x, y, width, height, paint, radius) {
      const path = new Path2D();
      path.roundRect(x, y, width, height, Math.min(radius ?? 0, width / 2, height / 2));
      draw(path, paint);
    },
    text(x, y, text, letters = {}) {
      context.font = `${letters.weight ?? 400} ${letters.size ?? 11}px ${font}`;
      context.textAlign = letters.anchor === "middle" ? "center" : letters.anchor ?? "start";
      context.fillStyle = palette(letters.fill ?? "muted");
      context.fillText(text, x, y);
    },
    inside(x, y, width, height, body) {
      context.save();
      context.translate(x, y);
      context.beginPath();
      context.rect(0, 0, width, height);
      context.clip();
      body();
      context.restore();
    },
    scaled(scale, x, y, body) {
      context.save();
      context.scale(scale, scale);
      context.translate(x, y);
      body();
      context.restore();
    },
  };
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** escaped writes a text as markup. */
export const escaped = (text: string) => text.replace(/[&<>"]/g, (c) => escapes[c]!);

/** svg draws as SVG markup: in a page, whose style sheet has the colours, or for a file, with a palette. */
export function svg(width: number, height: number, body: (pen: Pen) => void, palette?: Palette, title?: string): string {
  const used = new Set<string>();
  const paint = (name: Colour) => {
    if (hatchings[name] !== undefined) {
      used.add(name);
      return `url(#${name.replace(" ", "-")})`;
    }
    return palette === undefined ? `var(--${name})` : palette(name);
  };
  const style = ({ fill, stroke, width, dash, opacity }: Paint) =>
    ` style="fill:${fill === undefined ? "none" : paint(fill)}` + (opacity === undefined ? "" : `;fill-opacity:${opacity}`) +
    (stroke === undefined ? "" : `;stroke:${paint(stroke)};stroke-width:${width ?? 1};stroke-linejoin:round`) +
    (dash === undefined ? "" : `;stroke-dasharray:${dash.join(" ")}`) + '"';
  let markup = "";
  body({
    path(d, p) {
      markup += `<path d="${d}"${style(p)}/>`;
    },
    rect(x, y, w, h, p, radius) {
      markup += `<rect x="${x}" y="${y}" width="${Math.max(0, w)}" height="${h}"${radius ? ` rx="${radius}"` : ""}${style(p)}/>`;
    },
    text(x, y, text, letters = {}) {
      markup += `<text x="${x}" y="${y}" font-size="${letters.size ?? 11}"` + (letters.weight ? ` font-weight="${letters.weight}"` : "") +
        (letters.anchor ? ` text-anchor="${letters.anchor}"` : "") + ` style="fill:${paint(letters.fill ?? "muted")}">${escaped(text)}</text>`;
    },
    inside(x, y, w, h, inner) {
      markup += `<svg x="${x}" y="${y}" width="${Math.max(0, w)}" height="${h}" style="overflow:hidden">`;
      inner();
      markup += "</svg>";
    },
    scaled(scale, x, y, inner) {
      markup += `<g transform="scale(${scale}) translate(${x} ${y})">`;
      inner();
      markup += "</g>";
    },
  });
  const patterns = [...used].map((name) => {
    const { colour, d } = hatchings[name]!;
    return `<pattern id="${name.replace(" ", "-")}" width="6" height="6" patternUnits="userSpaceOnUse">` +
      `<rect width="6" height="6" style="fill:${paint(colour)};fill-opacity:0.25"/><path d="${d}" style="stroke:${paint(colour)};stroke-width:1.4"/></pattern>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="${escaped(font.replaceAll('"', "'"))}" role="img">${title === undefined ? "" : `<title>${escaped(title)}</title>`}` +
    (patterns.length > 0 ? `<defs>${patterns.join("")}</defs>` : "") + markup + "</svg>";
}
