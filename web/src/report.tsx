// The entry of the report: it draws the run in the element "run", and lays that of "against" over it if there is one.

import { effect } from "@preact/signals";
import { render } from "preact";
import { type Data, read } from "./model/run.ts";
import { Store } from "./store.ts";
import { Page } from "./views/page.tsx";
import { keys } from "./views/transport.tsx";

const runOf = (id: string) => {
  const element = document.getElementById(id);
  return element === null ? null : read(JSON.parse(element.textContent!) as Data);
};
const store = new Store(runOf("run")!, runOf("against"));
store.read(location.hash);

const dark = matchMedia("(prefers-color-scheme: dark)");
store.dark.value = dark.matches;
dark.addEventListener("change", () => (store.dark.value = dark.matches));

let opened: HTMLDetailsElement[] = []; // for printing: paper cannot be clicked
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
  for (const d of opened) d.open = true;
  store.printing.value = true;
  draw();
});
addEventListener("afterprint", () => {
  for (const d of opened) d.open = false;
  store.printing.value = false;
});
addEventListener("keydown", (event) => keys(store, event));
addEventListener("hashchange", () => store.read(location.hash));

const root = document.getElementById("page")!;
const draw = () => render(<Page store={store} />, root);
draw();

let waiting: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const address = store.address();
  if (store.playing.value) return;
  clearTimeout(waiting); // the browser allows few changes of the address in a second
  waiting = setTimeout(() => history.replaceState(null, "", `#${address}`), 300);
});
