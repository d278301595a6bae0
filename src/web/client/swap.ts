/**
 * Island: forms and links with `data-swap="ids"` are fetched from their own address, and the elements with these ids replace
 * those of the page. If anything fails, the browser does what it would do without a script.
 */
import { isSwapped, swapFrom } from "./swapping.ts";

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
  // A search is sent while someone types, without a click. Its button shows that it is being answered.
  const button = submitter ?? form.querySelector("button");
  if (submitter?.getAttribute("aria-busy") === "true") return;
  button?.setAttribute("aria-busy", "true");
  void swapFrom(url, { ids: form.dataset["swap"] ?? "", ...(isPost && { body: fields, form }) })
    .catch(() => submitPlainly(form, submitter))
    .finally(() => button?.removeAttribute("aria-busy"));
});

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
  link.setAttribute("aria-busy", "true");
  void swapFrom(new URL(link.href), { ids: link.dataset["swap"] ?? "" })
    .catch(() => location.assign(link.href))
    .finally(() => link.removeAttribute("aria-busy"));
});
