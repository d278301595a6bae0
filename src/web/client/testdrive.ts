import { startOf, type TestdriveStatus } from "../pages/testdrive/status.ts";
import { Console } from "./console.ts";
import { serveChoice } from "./choice.ts";
import { typeFrom, Typist } from "./typing.ts";
import { clock, wordsFor, type ConsoleState } from "./words.ts";

/** The testdrive page: polls the session's state, keeps the screen connected, and shows both. */

const startingEveryMs = 400;
const runningEveryMs = 5_000;

const session = sessionAt(location);
const stage = element("stage");
const console = new Console(element("screen"), session.socketUrl, (state) => {
  screen = state;
  show();
  if (state !== "connected") giveBack(typist.stop());
  // The session may have ended, and the number of viewers has changed, so ask immediately.
  if (state === "lost" || state === "connected") void ask();
});

const typist = new Typist((stroke) => console.send(stroke));

let screen: ConsoleState = "closed";
let status: TestdriveStatus | undefined;
let endsAt: number | undefined;
let next: ReturnType<typeof setTimeout> | undefined;

wireButtons();
wireWayOut();
serveChoice();
setInterval(show, 1_000);
void ask();

async function ask(): Promise<void> {
  clearTimeout(next);
  take(await session.status());
  if (status?.state === "ended") return;
  clearTimeout(next);
  next = setTimeout(() => void ask(), status?.state === "running" ? runningEveryMs : startingEveryMs);
}

function take(answer: TestdriveStatus | undefined): void {
  status = answer ?? status;
  if (answer?.secondsLeft !== null && answer !== undefined) endsAt = Date.now() + answer.secondsLeft * 1000;
  if (status?.state === "ended") console.close();
  // The socket can wait for the machine, so that the screen appears as soon as possible.
  else if (screen === "closed" && (status?.state === "preparing" || status?.state === "running")) {
    console.reconnect();
  }
  if (status?.state === "running" && screen === "connecting") console.expectGreeting();
  show();
}

function show(): void {
  const words = wordsFor(status, screen);
  const isConnected = screen === "connected";
  const isOver = status?.state === "ended";
  setText("words", words.text);
  setText("veil-words", words.text);
  element("status").dataset["tone"] = words.tone;
  stage.dataset["tone"] = words.tone;
  setText(
    "time-left",
    isOver || endsAt === undefined ? "–" : clock(Math.max(0, Math.round((endsAt - Date.now()) / 1000))),
  );
  setText("viewers", String(status?.viewers ?? 0));
  if (status) showStart(status);
  element("veil").hidden = isConnected || isOver;
  element("over").hidden = !isOver;
  if (isOver) setText("over-words", words.text);
  for (const id of ["ctrl-alt-del", "keyboard", "send-text", "type-text", "zoom"]) button(id).disabled = !isConnected;
  button("reconnect").disabled = isOver || screen === "closed";
  button("stop").disabled = isOver;
  button("full-screen").disabled = isOver;
  element("actions").hidden = isOver;
  element("vnc-button").hidden = isOver;
  element("way-out").hidden = isOver;
  document.getElementById("web")?.toggleAttribute("hidden", isOver);
}

function showStart(now: TestdriveStatus): void {
  const { stage, percent } = startOf(now);
  for (const [at, each] of [...element("stages").children].entries()) {
    each.toggleAttribute("data-state", at < stage);
    if (at === stage) each.setAttribute("aria-current", "step");
    else each.removeAttribute("aria-current");
  }
  const bar = element("start");
  if (percent === undefined) bar.removeAttribute("value");
  else bar.setAttribute("value", String(percent));
}

function wireButtons(): void {
  button("ctrl-alt-del").addEventListener("click", () => console.sendCtrlAltDel());
  button("reconnect").addEventListener("click", () => console.reconnect());
  wireStop(button("stop"));
  wireText();
  const zoom = button("zoom");
  zoom.addEventListener("click", () => zoom.setAttribute("aria-pressed", String(console.zoom())));
  if (document.fullscreenEnabled) {
    const fullScreen = button("full-screen");
    fullScreen.hidden = false;
    fullScreen.addEventListener("click", () => void stage.requestFullscreen().then(() => console.focus()));
  }
  if (matchMedia("(pointer: coarse)").matches) {
    const field = textArea("typing");
    typeFrom(field, typist);
    button("keyboard").hidden = false;
    button("keyboard").addEventListener("click", () => field.focus());
  }
}

/**
 * The machine gets every key, even Tab. Only Ctrl+Alt+Shift moves the focus from its screen to the buttons, and back.
 */
function wireWayOut(): void {
  const modifiers = ["Control", "Alt", "AltGraph", "Meta", "Shift"];
  document.addEventListener(
    "keydown",
    (event) => {
      const { key, ctrlKey, altKey, shiftKey, repeat } = event;
      if (screen !== "connected" || repeat || !modifiers.includes(key) || !ctrlKey || !altKey || !shiftKey) return;
      // Runs before noVNC, which would send the third key to the machine.
      event.stopImmediatePropagation();
      event.preventDefault();
      if (!element("screen").contains(document.activeElement)) return console.focus();
      console.releaseKeys();
      button("ctrl-alt-del").focus();
    },
    { capture: true },
  );
}

/** Sends a text, such as one that was pasted. */
function wireText(): void {
  const [text, panel, paste] = [textArea("text"), element("text-panel"), button("paste")];
  element("text-form").addEventListener("submit", (event) => {
    event.preventDefault();
    typist.type(text.value);
    text.value = "";
    panel.hidePopover();
    console.focus();
  });
  // Over plain HTTP, the page may not read the clipboard.
  if (!("clipboard" in navigator && "readText" in navigator.clipboard)) return;
  paste.hidden = false;
  paste.addEventListener("click", () => void navigator.clipboard.readText().then((given) => (text.value += given)));
}

/** Shows the rest of a text whose connection was lost. Typed without the lost keys, it could do anything. */
function giveBack(rest: string): void {
  if (rest === "") return;
  const [text, panel] = [textArea("text"), element("text-panel")];
  text.value = rest + text.value;
  if (!panel.matches(":popover-open")) panel.showPopover();
}

/** Stopping discards the machine, so the button asks for confirmation. */
function wireStop(stop: HTMLButtonElement): void {
  let isAsking = false;
  const rest = () => {
    isAsking = false;
    setText("stop-words", "Stop");
  };
  stop.addEventListener("click", async () => {
    if (!isAsking) {
      isAsking = true;
      setText("stop-words", "Really stop?");
      setTimeout(rest, 4_000);
      return;
    }
    rest();
    take(await session.stop());
  });
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

function textArea(id: string): HTMLTextAreaElement {
  const found = element(id);
  if (!(found instanceof HTMLTextAreaElement)) throw new Error(`#${id} is not a text area`);
  return found;
}

function button(id: string): HTMLButtonElement {
  const found = element(id);
  if (!(found instanceof HTMLButtonElement)) throw new Error(`#${id} is not a button`);
  return found;
}

/** Sets a text only if it changed, so that a screen reader does not read it every second. */
function setText(id: string, text: string): void {
  const place = element(id);
  if (place.textContent !== text) place.textContent = text;
}

/** The testdrive session of this page. */
interface Session {
  /** Undefined while the service cannot be reached. */
  status: () => Promise<TestdriveStatus | undefined>;
  stop: () => Promise<TestdriveStatus | undefined>;
  socketUrl: URL;
}

function sessionAt(location: Location): Session {
  const base = `${location.origin}${location.pathname.replace(/\/+$/, "")}`;
  return {
    status: () => request(`${base}/state`, "GET"),
    stop: () => request(`${base}/stop`, "POST"),
    socketUrl: new URL(`${base.replace(/^http/, "ws")}/socket`),
  };
}

async function request(url: string, method: string): Promise<TestdriveStatus | undefined> {
  try {
    const answer = await fetch(url, { method, signal: AbortSignal.timeout(10_000) });
    const status: unknown = await answer.json();
    return answer.ok && isStatus(status) ? status : undefined;
  } catch {
    return undefined;
  }
}

/** A proxy may have answered instead of our server. */
const isStatus = (given: unknown): given is TestdriveStatus =>
  typeof given === "object" && given !== null && "state" in given && "secondsLeft" in given;
