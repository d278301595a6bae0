/**
 * Island: forms and links with `data-swap="ids"` are fetched from their own address, and the elements with these ids
 * replace those of the page. If anything fails, the browser does what it would do without a script.
 */
import { isSwapped, loadMorphing, swapFrom } from "./swapping.ts";

// The first focus means that someone is about to use the page.
document.addEventListener("focusin", () => void loadMorphing().catch(() => {}), { once: true });

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || !(form instanceof HTMLFormElement) || !isSwapped(form)) return;
  const { submitter } = event;
  const data = new FormData(form, submitter instanceof HTMLElement ? submitter : null);
  if ([...data.values()].some((value) => value instanceof File && value.size > 0)) return;
  event.preventDefault();
  const fields = new URLSearchParams([...data].map(([name, value]) => [name, String(value)]));
  const isPost = form.method === "post";
  const url = new URL(form.action);
  if (!isPost) url.search = fields.toString();
  if (submitter?.getAttribute("aria-busy") === "true") return;
  const ids = form.dataset["swap"] ?? "";
  // A search is sent while someone types, without a click.
  const button = submitter ?? form.querySelector("button");
  const busy = button ? [button] : elementsOf(ids);
  note(busy, 1);
  void swapFrom(url, { ids, ...(isPost && { body: fields, form }) })
    .catch(() => submitPlainly(form, submitter))
    .finally(() => note(busy, -1));
});

/** How many requests each element waits for: a newer search takes over before the older one has ended. */
const waiting = new WeakMap<Element, number>();

function note(elements: readonly Element[], more: 1 | -1): void {
  for (const element of elements) {
    const left = (waiting.get(element) ?? 0) + more;
    waiting.set(element, left);
    if (left > 0) element.setAttribute("aria-busy", "true");
    else element.removeAttribute("aria-busy");
  }
}

/** The elements that the answer will replace. */
const elementsOf = (ids: string): Element[] => ids.split(" ").flatMap((id) => document.getElementById(id) ?? []);

/** The pressed button is sent too, because its value selects the action. A refresh may have removed it by then. */
function submitPlainly(form: HTMLFormElement, submitter: HTMLElement | null): void {
  delete form.dataset["swap"];
  form.requestSubmit(submitter?.isConnected ? submitter : null);
}

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[data-swap]") : null;
  if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.getAttribute("aria-busy") === "true") return;
  note([link], 1);
  void swapFrom(new URL(link.href), { ids: link.dataset["swap"] ?? "" })
    .catch(() => location.assign(link.href))
    .finally(() => note([link], -1));
});
