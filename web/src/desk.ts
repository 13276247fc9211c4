// The studio: the state that its server tells, and the run that is shown.

import { type Signal, signal } from "@preact/signals";
import * as server from "./model/connection.ts";
import { type Edit, type History, type Op, applied, done } from "./model/outline.ts";
import { type Run, read } from "./model/run.ts";
import { Store } from "./store.ts";

const [often, seldom] = [200, 1000]; // ms between two questions, while a run is in progress and otherwise

/** Walk is the path of a finding, whose store has the instant of its present step as the time. */
export interface Walk {
  finding: server.Finding;
  path: server.Path;
  store: Store;
}

/** Edited is a document that is not saved, as it was when the changes began but for its text. */
export interface Edited extends server.Document {
  before: string; // its text then
}

export class Desk {
  readonly state: Signal<server.State | null> = signal(null);
  readonly store: Signal<Store | null> = signal(null); // of the run that is shown
  readonly lost: Signal<string> = signal(""); // why the server does not answer; "": it does
  readonly trouble: Signal<string> = signal(""); // what it refused last; "": nothing
  readonly shown: Signal<string> = signal(""); // the run that is shown; "": none
  readonly against: Signal<string> = signal(""); // the run that is laid over it; "": none

  readonly findings: Signal<server.Finding[] | null> = signal(null); // of the last proof; null: there is none

  readonly documents: Signal<server.Document[]> = signal([]); // of the mission, as they are on the disk

  readonly path: Signal<Walk | null> = signal(null); // of a finding, that is walked

  readonly edits: Signal<ReadonlyMap<string, Edited>> = signal(new Map()); // by name

  readonly histories = new Map<string, History>(); // of the documents, by name

  readonly clip: Signal<string> = signal(""); // elements that were copied

  readonly dark: Signal<boolean> = signal(false);

  private wanted: { id: string; finding: server.Finding } | null = null; // what a run is to show, once it has come so far
  private proved = 0; // the number of that proof
  private loaded = ""; // what the store was made from
  private laidOver: { id: string; run: Run } | null = null;
  private waiting: ReturnType<typeof setTimeout> | undefined;
  private asking = false;

  /** live is the progress of the run that is shown; null: it is over. */
  live(): server.Progress | null {
    const flight = this.state.value?.flight ?? null;
    return flight !== null && !flight.over && flight.id === this.shown.value ? flight : null;
  }

  /** watch asks for the state, now and then again. */
  async watch() {
    clearTimeout(this.waiting);
    if (this.asking) return;
    this.asking = true;
    try {
      const state = await server.state();
      this.state.value = state;
      this.lost.value = "";
      if (this.shown.value === "") this.shown.value = state.first || state.runs[0]?.id || "";
      await this.load();
      if (state.check.done !== this.proved) {
        this.findings.value = await server.findings();
        this.path.value = null;
        this.proved = state.check.done;
      }
    } catch (e) {
      this.lost.value = e instanceof server.Refused ? e.message : "canopy studio does not answer";
    } finally {
      this.asking = false;
      const { flight, check } = this.state.value ?? {};
      this.waiting = setTimeout(() => void this.watch(), (flight && !flight.over) || check?.running ? often : seldom);
    }
  }

  /** load gets the run to show, unless it is what is shown. */
  private async load() {
    const [id, against] = [this.shown.value, this.against.value];
    const entry = this.state.value!.runs.find((r) => r.id === id);
    const live = this.live();
    const wanted = JSON.stringify([id, against, live?.steps ?? entry?.changed, entry?.outcome]);
    if (id === "" || wanted === this.loaded || live?.steps === 0) return;
    const run = await server.run(id);
    if (against === "") this.laidOver = null;
    else if (this.laidOver?.id !== against) this.laidOver = { id: against, run: await server.run(against) };
    const store = new Store(run, this.laidOver?.run ?? null);
    const old = this.store.value;
    if (old !== null) store.follow(old);
    store.dark.value = this.dark.value;
    store.live = live !== null || entry?.outcome === "";
    this.store.value = store;
    this.loaded = wanted;
    this.find(live === null);
  }

  /** find moves the cursor to what a finding is about, if the run has come so far. */
  private find(over: boolean) {
    const store = this.store.value!;
    if (this.wanted?.id !== this.shown.value) return;
    const { at, tasks } = this.wanted.finding;
    if (!over && !(at !== undefined && store.run.data.end >= at)) return;
    this.wanted = null;
    store.find(tasks?.[0] ?? "", at);
  }

  /** show shows another run. */
  show(id: string) {
    this.wanted = null;
    this.shown.value = id;
    if (this.against.value === id) this.against.value = "";
    void this.watch();
  }

  /** compare lays another run over the one that is shown; "": none. */
  compare(id: string) {
    this.against.value = id;
    void this.watch();
  }

  /** fly starts a run with settings, and shows it. */
  fly(wish: server.Wish, set: string[]) {
    return this.try(async () => (this.shown.value = await server.fly(wish, set)));
  }

  /** branch starts a run that pauses at a time [s], and lays the one that is shown over it. */
  branch(until: number, speed: number, set: string[]) {
    return this.try(async () => {
      const id = await server.fly({ do: "until", until, speed }, set);
      this.against.value = this.shown.value;
      this.shown.value = id;
    });
  }

  /** replay flies what shows a finding of the last proof, and goes to when it does. */
  replay(finding: server.Finding) {
    return this.try(async () => {
      const id = await server.fly({ do: "go" }, [], this.findings.value!.indexOf(finding));
      this.wanted = { id, finding };
      this.against.value = "";
      this.shown.value = id;
    });
  }

  /** walk shows the path of a finding of the last proof. */
  walk(finding: server.Finding) {
    return this.try(async () => {
      const path = await server.path(this.findings.value!.indexOf(finding));
      this.path.value = { finding, path, store: new Store(read(path.run)) };
    });
  }

  /** want tells the run in progress what to do. */
  want(wish: server.Wish) {
    return this.try(() => server.want(wish));
  }

  /** edit changes the text of a document; it keeps how the document was when the changes began. */
  edit(stored: server.Document, text: string, history?: History) {
    const old = this.edits.value.get(stored.name) ?? { ...stored, before: stored.text };
    this.keep(stored, { ...old, text }, history ?? done(this.histories.get(stored.name), old.text, text));
  }

  /** settle makes a text one that replaces what another program has written meanwhile. */
  settle(stored: server.Document, text: string) {
    const old = this.edits.value.get(stored.name)!;
    this.keep(stored, { ...stored, text, before: stored.text }, done(this.histories.get(stored.name), old.text, text));
  }

  private keep(stored: server.Document, edited: Edited, history: History) {
    const copy = new Map(this.edits.value);
    this.histories.set(stored.name, history);
    if (edited.text === stored.text) copy.delete(stored.name);
    else copy.set(stored.name, edited);
    this.edits.value = copy;
  }

  /** texts returns those of the documents as they are edited. */
  texts(): server.Texts {
    return Object.fromEntries(this.documents.value.map((d) => [d.name, (this.edits.value.get(d.name) ?? d).text]));
  }

  /** save saves a document. */
  save(edited: server.Document) {
    return this.try(async () => {
      const saved = await server.save(edited);
      this.documents.value = this.documents.value.map((d) => (d.name === saved.name ? saved : d));
      const copy = new Map(this.edits.value);
      const now = copy.get(edited.name);
      if (now === undefined || now.text === edited.text) copy.delete(edited.name);
      else copy.set(edited.name, { ...saved, text: now.text, before: saved.text }); // a person went on
      this.edits.value = copy;
    });
  }

  /** apply makes edits of documents. */
  apply(edits: Record<string, Edit[]>) {
    for (const stored of this.documents.value) {
      const text = (this.edits.value.get(stored.name) ?? stored).text;
      if (edits[stored.name] !== undefined) this.edit(stored, applied(text, edits[stored.name]!));
    }
  }

  /** rename gives what is at a place of a document another name, everywhere. */
  rename(document: server.Document, at: number, name: string) {
    return this.try(async () => this.apply(await server.rename(document, this.texts(), at, name)));
  }

  /** change changes a document as a person wants its tree, and returns what to select; null: it is refused. */
  async change(document: server.Document, op: Op): Promise<{ text: string; select: number } | null> {
    let answer: { text: string; select: number } | null = null;
    await this.try(async () => {
      const { edits, select } = await server.change(document, this.texts(), op);
      answer = { text: applied(document.text, edits), select };
    });
    return answer;
  }

  /** prove begins a proof of the mission, or ends the one in progress. */
  prove(stop: boolean) {
    return this.try(() => server.check(stop));
  }

  private async try(act: () => Promise<unknown>) {
    this.trouble.value = "";
    try {
      await act();
    } catch (e) {
      this.trouble.value = (e as Error).message;
    }
    await this.watch();
  }
}
