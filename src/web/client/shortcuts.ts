/**
 * Island: the keys of `shortcuts`. `<dialog data-shortcuts>` lists them; `<button data-opens="its id" hidden>` opens
 * it, too. People who type by voice or with a switch can turn them off there (WCAG 2.1.4). The browser remembers their
 * choice.
 */
import { shortcuts } from "../shortcuts.ts";

// Every page has both the shortcuts and the choice of colours, and a separate file for this would outweigh its content.
rememberColours();

const remembered = "kiln-shortcuts";
/** The time limit for the second key of a shortcut. */
const pauseMs = 1_500;

const dialog = document.querySelector<HTMLDialogElement>("dialog[data-shortcuts]");
const choice = dialog?.querySelector<HTMLInputElement>("input[type=checkbox]");

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-opens=shortcuts]")) {
  button.hidden = false;
  button.addEventListener("click", () => dialog?.showModal());
}

if (choice) {
  choice.checked = localStorage.getItem(remembered) !== "off";
  choice.addEventListener("change", () => localStorage.setItem(remembered, choice.checked ? "on" : "off"));
}

let before = { key: "", at: 0 };

document.addEventListener("keydown", (event) => {
  const { key, timeStamp } = event;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (
    choice?.checked !== true ||
    isTyping(event.target) ||
    document.querySelector("dialog[open], [popover]:popover-open")
  )
    return;
  const both = timeStamp - before.at < pauseMs ? `${before.key} ${key}` : "";
  before = { key, at: timeStamp };
  const found = shortcuts.find(({ keys }) => keys === both) ?? shortcuts.find(({ keys }) => keys === key);
  if (!found || !done(found)) return;
  event.preventDefault();
  before = { key: "", at: 0 };
});

function done(what: (typeof shortcuts)[number]): boolean {
  if ("to" in what) {
    location.assign(what.to);
    return true;
  }
  if (what.act === "show") {
    dialog?.showModal();
    return dialog !== null;
  }
  const field = document.querySelector<HTMLInputElement>("main input[type=search]");
  field?.focus();
  field?.select();
  return field !== null;
}

/** Check boxes ignore letters, but selects use them to find an entry. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "submit"].includes(target.type);
  return target.isContentEditable || target.matches("textarea, select, canvas");
}

/** Remembers the colours as soon as they are chosen. The style sheet has already applied them. */
function rememberColours(): void {
  document.querySelector<HTMLFormElement>("form[data-theme]")?.addEventListener("change", (event) => {
    const { target, currentTarget } = event;
    if (!(target instanceof HTMLInputElement) || !(currentTarget instanceof HTMLFormElement)) return;
    const body = new URLSearchParams({ theme: target.value });
    void fetch(currentTarget.action, { method: "POST", body, redirect: "manual", keepalive: true });
  });
}
