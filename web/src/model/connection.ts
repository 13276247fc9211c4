// What the studio's server tells, and how it is asked: editor/studio/studio.go describes the requests.

import type { Box, Edit, Op } from "./outline.ts";
import { type Data, type Run, read } from "./run.ts";

export interface Problem {
  file: string;
  line: number; // from 1; 0: it has no place
  column: number;
  severity: string;
  text: string;
  hint: string;
  fix: Edit[]; // of the file, that write what the hint suggests; may be empty
}

/** Entry is a run in the list of runs. */
export interface Entry {
  id: string;
  changed: number; // when its log was last written [s, Unix]
  outcome: string; // "": it has no summary
  ended: number; // [s]
}

/** Breakpoint is about a task or a condition over the signals; the other one is "". */
export interface Breakpoint {
  task: string;
  condition: string;
  status: string; // of the task, or true or false; "": any
}

/** Settable is a signal that can be set by hand. */
export interface Settable {
  name: string;
  unit: string;
  value: number | null; // null: none
  values: string[] | null; // the names of the values from 0 on; null: numbers
  writer: string; // the task that writes it now, so that it cannot be set; "": none
}

/** Progress is how far the last run of the studio has come. */
export interface Progress {
  id: string;
  over: boolean;
  steps: number;
  t: number; // [s]
  until: number; // [s]
  paused: string; // why; "": it is not
  speed: number; // simulated seconds per second; 0: no limit
  breakpoints: Breakpoint[] | null;
  settable: Settable[]; // while it is paused
  error: string; // with which it ended
}

/** Checked tells of the proofs of the mission. */
export interface Checked {
  running: boolean;
  done: number; // how many have ended
  stale: boolean; // the files of the mission have changed since
}

/** Finding is an answer of canopy check: docs/verification.md describes it. */
export interface Finding {
  question: string;
  verdict: string;
  tasks?: string[];
  text: string;
  where?: string[];
  assumes?: { if: string; watched: boolean }[];
  flight?: boolean; // a flight of the mission shows it,
  at?: number; // at this time [s]
  start?: string; // of that flight; none: the declared one
  advice?: string;
  accepted?: string;
  script?: string; // of a path through the model of the proof
  file: string;
  line: number;
  column: number;
}

/** Path is a path through the model of a proof: no flight. */
export interface Path {
  run: Data; // its seconds are the instants of the path
  steps: { text: string; inputs: string; at: number }[];
  error: string; // with which it ends
}

export interface State {
  file: string; // of the mission; "": there is none
  mission: string;
  problems: Problem[];
  runs: Entry[]; // the latest first
  first: string; // the run to show first; "": the latest
  flight: Progress | null;
  check: Checked;
  version: number; // changes with the files of the mission
}

/** Document is a file of the mission, and how it was when it was read. Its text has the line ends of browsers. */
export interface Document {
  name: string;
  text: string;
  stamp: string;
  crlf: boolean; // the file has others: CR LF
}

/** Trial is what the mission would be with another text of a document. */
export interface Trial {
  problems: Problem[];
  boxes: Box[]; // of the document; none: it is no plan, or not well-formed
}

/** Piece is an element that a person may add to a plan: editor/planedit describes it. */
export interface Piece {
  element: string;
  id: string; // "": it has none
  category: "composite" | "decorator" | "condition" | "action" | "subtree" | "tree";
  text: string;
  include: string; // what declares it and must be included; "": it is declared
  attributes: { name: string; text: string; default: string }[];
}

/** Proposal is what may replace a part of a text. */
export interface Proposal extends Edit {
  detail: string;
}

/** Texts are those of documents as they are edited, by name. */
export type Texts = Record<string, string>;

/** Wish is what a run in progress is to do. */
export interface Wish {
  do: "go" | "pause" | "step" | "until" | "stop" | "set" | "change";
  until?: number;
  task?: string; // a step goes on to its next change
  signal?: string; // that is set
  value?: number;
  speed?: number;
  breakpoints?: Breakpoint[];
}

/** Refused is the answer to a request that the server understood and did not fulfil. */
export class Refused extends Error {
  readonly status: number;
  constructor(status: number, why: string) {
    super(why);
    this.status = status;
  }
}

async function ask<T>(path: string, body?: unknown): Promise<T> {
  const answer = await fetch(path, body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Refused(answer.status, ((await answer.json()) as { error: string }).error);
  return (answer.status === 204 ? undefined : await answer.json()) as T;
}

/** asked returns a document as the server knows it. */
const asked = ({ name, text, stamp }: Document) => ({ name, text, stamp });

/** received returns a document of the server with the line ends of browsers. */
const received = (d: Omit<Document, "crlf">): Document => ({ ...d, text: d.text.replaceAll("\r\n", "\n"), crlf: d.text.includes("\r\n") });

export const begin = (token: string) => ask<void>("/api/session", { token });
export const state = () => ask<State>("/api/state");
export const fly = (wish: Wish, set: string[], finding?: number) => ask<string>("/api/fly", { ...wish, set, finding });
export const want = (wish: Wish) => ask<void>("/api/wish", wish);
export const check = (stop: boolean) => ask<void>("/api/check", { stop });
export const findings = () => ask<Finding[]>("/api/findings");
export const path = (finding: number) => ask<Path>(`/api/path?n=${finding}`);
export const documents = async () => (await ask<Document[]>("/api/documents")).map(received);
export const attempt = (edited: Document, texts: Texts) => ask<Trial>("/api/try", { ...asked(edited), texts });
export const change = (edited: Document, texts: Texts, op: Op) => ask<{ edits: Edit[]; select: number }>("/api/change", { ...asked(edited), texts, op });
export const complete = (edited: Document, texts: Texts, at: number) => ask<Proposal[]>("/api/complete", { ...asked(edited), texts, at });
export const rename = (edited: Document, texts: Texts, at: number, name: string) =>
  ask<Record<string, Edit[]>>("/api/rename", { ...asked(edited), texts, at, new: name });
export const head = (edited: Document) => ask<{ text: string; why: string }>("/api/head", asked(edited));
export const palette = (edited: Document, texts: Texts) => ask<Piece[]>("/api/palette", { ...asked(edited), texts });
export const save = async (edited: Document) => received(await ask<Document>("/api/save",
  { ...asked(edited), text: edited.crlf ? edited.text.replaceAll("\n", "\r\n") : edited.text }));
export const run = async (id: string): Promise<Run> => read(await ask<Data>(`/api/run?id=${encodeURIComponent(id)}`));
