// The entry of the studio: it draws what the server tells.

import { effect } from "@preact/signals";
import { render } from "preact";
import { Desk } from "./desk.ts";
import { begin } from "./model/connection.ts";
import { Studio } from "./views/studio.tsx";
import { keys } from "./views/transport.tsx";

const desk = new Desk();

/** enter begins a session if the address has a token, which does not stay there. */
async function enter() {
  const words = new URLSearchParams(location.hash.slice(1));
  const token = words.get("token");
  if (token !== null) {
    history.replaceState(null, "", location.pathname);
    await begin(token).catch(() => undefined); // what is asked next says what is wrong
  }
  desk.shown.value = words.get("run") ?? "";
  await desk.watch();
  if (token === null) desk.store.value?.read(location.hash);
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const paint = () => {
  desk.dark.value = dark.matches;
  if (desk.store.value !== null) desk.store.value.dark.value = dark.matches;
};
paint();
dark.addEventListener("change", paint);
addEventListener("keydown", (event) => desk.store.value !== null && keys(desk.store.value, event));

addEventListener("beforeunload", (event) => {
  if (desk.edits.value.size > 0) event.preventDefault(); // the browser asks
});

let waiting: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const store = desk.store.value;
  if (store === null) return;
  const address = store.address();
  if (store.playing.value) return;
  clearTimeout(waiting); // the browser allows few changes of the address in a second
  waiting = setTimeout(() => history.replaceState(null, "", `#run=${encodeURIComponent(desk.shown.value)}&${address}`), 300);
});

render(<Studio desk={desk} />, document.getElementById("page")!);
void enter();
