import { Idiomorph } from "idiomorph";

interface Swap {
  /** Ids of elements, separated by spaces. */
  ids: string;
  /** The fields of a form that is posted. */
  body?: URLSearchParams | undefined;
  /** That form. Its fields get the values of the answer, also the one with the focus. */
  form?: HTMLFormElement | undefined;
  /** The address stays as it is: the page looks at itself again. */
  isQuiet?: boolean;
}

let running: AbortController | undefined;

/**
 * `x-page`: the page that takes the result of a form, if the answer has one. Another page that the answer leads to leaves it to
 * the browser, which then opens that page (`src/web/result.ts`).
 */
export const pageHeaders = (page = location.pathname) => ({ accept: "text/html", "x-page": page });

export const isSwapped = (element: HTMLElement): boolean => element.dataset["swap"] !== undefined;

/** Replaces elements by those of another document. A newer request aborts an older one. False: another request is running. */
export async function swapFrom(url: URL, { ids, body, form, isQuiet = false }: Swap): Promise<boolean> {
  // A refresh must not interrupt what the person has started.
  if (isQuiet && running) return false;
  running?.abort();
  const own = new AbortController();
  running = own;
  try {
    const init = body ? { method: "POST", body } : {};
    // A refresh leaves a result to the form that waits for it, which may be in another tab.
    const headers = isQuiet ? pageHeaders("") : pageHeaders();
    const answer = await fetch(url, { ...init, headers, signal: own.signal });
    const html = await answer.text();
    if (!answer.headers.get("content-type")?.startsWith("text/html")) throw new Error("no page");
    const address = answer.redirected ? answer.url : location.href;
    // A refresh keeps the result that the page shows: it may come a moment after that.
    const shown = isQuiet ? ids : `${ids} result`;
    if (!showAnswer(html, { ids: shown, status: answer.status, address, form })) throw new Error(String(answer.status));
    if (!isQuiet && !body) history.replaceState(null, "", url);
    return true;
  } catch (error) {
    if (!own.signal.aborted) throw error;
    return false;
  } finally {
    if (running === own) running = undefined;
  }
}

interface Answer {
  /** Ids of the elements to replace, separated by spaces. */
  ids: string;
  status: number;
  /** Its address, after all redirects. */
  address: string;
  /** The form that it answers, if that was posted. */
  form?: HTMLFormElement | undefined;
}

/** Shows a page that was fetched. False: it is an error. */
export function showAnswer(html: string, { ids, status, address, form }: Answer): boolean {
  // A testdrive that has ended is 410, and its page still shows its files.
  if ((status >= 400 && ![410, 422].includes(status)) || status === 0) return false;
  // A redirect, such as to the sign-in page, leaves this page. A refused form belongs to this page, whatever its address is.
  if (status !== 422 && new URL(address).pathname !== location.pathname) {
    location.assign(address);
    return true;
  }
  // A form next to the screen of a testdrive must not replace the screen.
  const whole = document.getElementById("main") ? "main" : ids;
  morph(new DOMParser().parseFromString(html, "text/html"), { ids: status === 422 ? whole : ids, form });
  return true;
}

function morph(found: Document, { ids, form }: Pick<Answer, "ids" | "form">): void {
  for (const id of ids.split(" ")) {
    const [before, after] = [document.getElementById(id), found.getElementById(id)];
    if (!before || !after) continue;
    Idiomorph.morph(before, after, {
      // Of other elements, this would also keep the words: a focused "Add" would not become "Remove".
      ignoreActiveValue: isBeingFilled(document.activeElement, form),
      restoreFocus: true,
      callbacks: { beforeAttributeUpdated: (name: string, element: Element) => !isKept(name, element) },
    });
  }
  document.title = found.title;
  addSymbols(found);
  document.querySelector<HTMLElement>("[role=alert][autofocus]")?.focus();
  if (document.activeElement === document.body) document.querySelector<HTMLElement>("main [autofocus]")?.focus();
}

/** Someone types in a field of another form. */
const isBeingFilled = (active: Element | null, form: HTMLFormElement | undefined): boolean =>
  active?.matches("input, textarea, select") === true && form?.contains(active) !== true;

/** What a person has opened stays open, and what they have chosen in a list stays chosen. */
const isKept = (attribute: string, element: Element): boolean =>
  attribute === "open" || (attribute === "checked" && element.hasAttribute("data-stays"));

/** Adds icons that the page did not use until now. */
function addSymbols(found: Document): void {
  const [here] = document.querySelectorAll("body > svg[hidden]");
  for (const symbol of found.querySelectorAll("body > svg[hidden] > *")) {
    if (here && !document.getElementById(symbol.id)) here.append(document.importNode(symbol, true));
  }
}
