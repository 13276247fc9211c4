// A document that is edited: its text, and its tree as it is written.

import { type Signal, signal } from "@preact/signals";
import type { Desk } from "./desk.ts";
import * as server from "./model/connection.ts";
import { type Box, type History, type Op, around, drawn, redone, same, undone } from "./model/outline.ts";
import { offsetOf } from "./model/text.ts";
import { Store } from "./store.ts";

export class Draft {
  readonly problems: Signal<server.Problem[]> = signal([]);
  readonly tree: Signal<Store | null> = signal(null); // null: it has none
  readonly stale: Signal<boolean> = signal(false); // the tree is that of an older text, which was well-formed
  readonly pieces: Signal<server.Piece[]> = signal([]); // that may be added
  boxes: Box[] = []; // of the tree
  chosen = false; // the box that is selected was not before
  private of = ""; // the text of the boxes
  private caret: number | null = null; // where a person is in a text that is not judged yet
  private judged: string | null = null; // what the problems are about
  private before: Promise<unknown> = Promise.resolve(); // what is to be done first
  private readonly desk: Desk;
  stored: server.Document; // as it is on the disk

  constructor(desk: Desk, stored: server.Document) {
    this.desk = desk;
    this.stored = stored;
  }

  /** document returns the document as it is edited. */
  document(): server.Document {
    return this.desk.edits.value.get(this.stored.name) ?? this.stored;
  }

  /** write changes the text. */
  write(text: string, history?: History) {
    this.desk.edit(this.stored, text, history);
  }

  /** fresh reports whether nothing is known of the text yet. */
  fresh(): boolean {
    return this.judged === null;
  }

  /** judge asks for the problems and the tree of the text, and selects a box. */
  async judge(select: number | null = null) {
    const document = this.document();
    const key = JSON.stringify(this.desk.texts()) + document.stamp;
    if (this.judged === key && select === null) return;
    const { problems, boxes } = await server.attempt(document, this.desk.texts());
    if (this.document().text !== document.text) return; // a person went on
    this.judged = key;
    this.problems.value = problems;
    this.stale.value = boxes.length === 0 && this.boxes.length > 0;
    if (boxes.length === 0) return;
    const marks = new Map<number, string>();
    for (const p of problems.filter((p) => p.file === document.name && p.line > 0)) {
      const i = around(boxes, offsetOf(document.text, p.line, p.column));
      if (marks.get(i) !== "error") marks.set(i, p.severity);
    }
    const store = new Store(drawn(boxes, marks));
    const old = this.tree.value;
    if (old !== null) {
      const now = same(this.boxes, boxes);
      const kept = (list: Iterable<number>) => [...list].flatMap((i) => now(i) ?? []);
      store.collapsed.value = new Set(kept(old.collapsed.value));
      store.selected.value = old.selected.value === null ? null : now(old.selected.value) ?? null;
    }
    if (select !== null) store.select(select);
    else if (this.caret !== null) store.select(around(boxes, this.caret));
    this.caret = null;
    this.of = document.text;
    this.chosen = select !== null;
    store.dark.value = this.desk.dark.value;
    this.boxes = boxes;
    this.tree.value = store;
    this.pieces.value = await server.palette(document, this.desk.texts());
  }

  /** point selects the box around a place in the text, as soon as the text is judged. */
  point(at: number) {
    if (this.of !== this.document().text) this.caret = at;
    else this.tree.value?.select(around(this.boxes, at));
  }

  /** act does something with the tree, after what was begun before: with its boxes, and the selected one. */
  act(make: (boxes: Box[], selected: number) => Op | null): Promise<void> {
    const next = this.before.then(async () => {
      await this.judge();
      const op = make(this.boxes, this.tree.value?.selected.value ?? 0);
      const change = op && await this.desk.change(this.document(), op);
      if (!change) return;
      this.write(change.text);
      await this.judge(["set", "unset", "toggle"].includes(op!.do) ? null : change.select); // a person may be elsewhere
    });
    this.before = next.catch(() => undefined);
    return next;
  }

  /** undo takes the last edit back, redo makes it again. */
  undo() {
    this.follow(undone);
  }

  redo() {
    this.follow(redone);
  }

  private follow(step: typeof undone) {
    const history = step(this.history(), this.document().text);
    if (history !== null) this.write(history.of, history);
  }

  history(): History | undefined {
    const history = this.desk.histories.get(this.stored.name);
    return history?.of === this.document().text ? history : undefined;
  }
}
