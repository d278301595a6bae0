import type * as Morphing from "idiomorph";
import { Turns } from "./turns.ts";

interface Swap {
  /** Ids of elements, separated by spaces. */
  ids: string;
  /** The fields of a posted form. */
  body?: URLSearchParams | undefined;
  /** The posted form. All its fields get the values of the answer, including the one with the focus. */
  form?: HTMLFormElement | undefined;
  /** A refresh: the page loads itself again, and its address stays the same. */
  isQuiet?: boolean;
}

const turns = new Turns();
let loading: Promise<typeof Morphing> | undefined;

/**
 * Loads this module when it is needed: it is as large as all islands together, and most pages that could replace
 * something are only read.
 */
export function loadMorphing(): Promise<typeof Morphing> {
  loading ??= import("idiomorph").catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/**
 * `x-page`: the page that can show the result of a form. If the answer leads to another page, that page keeps the
 * result until the browser opens it (`src/web/result.ts`).
 */
export const pageHeaders = (page = location.pathname) => ({ accept: "text/html", "x-page": page });

export const isSwapped = (element: HTMLElement): boolean => element.dataset["swap"] !== undefined;

/** Replaces elements by those of another document. Returns false if another request had precedence (`Turns`). */
export async function swapFrom(url: URL, swap: Swap): Promise<boolean> {
  const kind = swap.body ? "send" : swap.isQuiet ? "refresh" : "read";
  return await turns.take(kind, async (signal) => await load(url, swap, signal));
}

async function load(url: URL, { ids, body, form, isQuiet = false }: Swap, signal: AbortSignal): Promise<void> {
  // Loaded before the request: if this fails, the browser submits the form, which must not happen twice.
  await loadMorphing();
  const init = body ? { method: "POST", body } : {};
  // A refresh leaves a result to the form that waits for it, perhaps in another tab.
  const headers = isQuiet ? pageHeaders("") : pageHeaders();
  const answer = await fetch(url, { ...init, headers, signal });
  const html = await answer.text();
  if (!answer.headers.get("content-type")?.startsWith("text/html")) throw new Error("no page");
  const address = answer.redirected ? answer.url : location.href;
  // A refresh does not replace the result on the page, because that may have appeared a moment ago.
  const shown = isQuiet ? ids : `${ids} result`;
  const { status } = answer;
  if (!(await showAnswer(html, { ids: shown, status, address, form }))) throw new Error(String(status));
  if (!isQuiet && !body) history.replaceState(null, "", url);
}

interface Answer {
  /** Ids of the elements to replace, separated by spaces. */
  ids: string;
  status: number;
  /** The address after all redirects. */
  address: string;
  /** The form that was posted, if any. */
  form?: HTMLFormElement | undefined;
}

/** Shows a fetched page. Returns false if the answer is an error. */
export async function showAnswer(html: string, { ids, status, address, form }: Answer): Promise<boolean> {
  // An ended testdrive answers 410, and its page still shows its files.
  if ((status >= 400 && ![410, 422].includes(status)) || status === 0) return false;
  // A redirect, such as to the sign-in page, leaves this page. A refused form belongs to this page, whatever its
  // address is.
  if (status !== 422 && new URL(address).pathname !== location.pathname) {
    location.assign(address);
    return true;
  }
  // A form next to the screen of a testdrive must not replace the screen.
  const whole = document.getElementById("main") ? "main" : ids;
  const isRefused = status === 422;
  await morph(new DOMParser().parseFromString(html, "text/html"), { ids: isRefused ? whole : ids, form, isRefused });
  return true;
}

/** Replaces elements by those with the same ids, and the title. */
export async function showParts(html: string): Promise<void> {
  const found = new DOMParser().parseFromString(html, "text/html");
  await morph(found, { ids: [...found.body.children].flatMap(({ id }) => (id === "" ? [] : [id])).join(" ") });
}

interface Morph extends Pick<Answer, "ids" | "form"> {
  isRefused?: boolean;
}

async function morph(found: Document, { ids, form, isRefused = false }: Morph): Promise<void> {
  const { Idiomorph } = await loadMorphing();
  for (const id of ids.split(" ")) {
    const [before, after] = [document.getElementById(id), found.getElementById(id)];
    if (!before || !after) continue;
    await Idiomorph.morph(before, after, {
      // In other elements, this would also keep the text: a focused "Add" would not become "Remove".
      ignoreActiveValue: isBeingFilled(document.activeElement, form),
      restoreFocus: true,
      callbacks: {
        beforeAttributeUpdated: (name: string, element: Element, change: "update" | "remove") =>
          isRefused ? !isKeptIfRefused(name, element, change) : !isKept(name, element),
      },
    });
  }
  document.title = found.title;
  addSymbols(found);
  document.dispatchEvent(new Event("swapped"));
  document.querySelector<HTMLElement>("[role=alert][autofocus]")?.focus();
  if (document.activeElement === document.body) document.querySelector<HTMLElement>("main [autofocus]")?.focus();
}

/** Whether someone is typing in a field of another form. */
const isBeingFilled = (active: Element | null, form: HTMLFormElement | undefined): boolean =>
  active?.matches("input, textarea, select") === true && form?.contains(active) !== true;

/** Keeps what a person has opened, and what they have chosen in a list. */
const isKept = (attribute: string, element: Element): boolean =>
  attribute === "open" || (attribute === "checked" && element.hasAttribute("data-stays"));

/** Like `isKept`, and also keeps the typed passwords, which no answer contains. Opens a part that has a fault. */
const isKeptIfRefused = (attribute: string, element: Element, change: "update" | "remove"): boolean =>
  (attribute === "value" && element.matches("[type=password]")) ||
  (isKept(attribute, element) && !(attribute === "open" && change === "update"));

/** Adds icons that the page did not use until now. */
function addSymbols(found: Document): void {
  const [here] = document.querySelectorAll("body > svg[hidden]");
  for (const symbol of found.querySelectorAll("body > svg[hidden] > *")) {
    if (here && !document.getElementById(symbol.id)) here.append(document.importNode(symbol, true));
  }
}
