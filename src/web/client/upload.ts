/**
 * Island: a form `data-upload="ids"` shows the progress of its upload, and accepts files that are dropped on it. The
 * answer replaces the elements with these ids. Without a script, the browser sends the form.
 */
import { pageHeaders, showAnswer } from "./swapping.ts";

const formOf = (target: EventTarget | null): HTMLFormElement | undefined =>
  (target instanceof Element && target.closest<HTMLFormElement>("form[data-upload]")) || undefined;

const filesOf = (form: HTMLFormElement): HTMLInputElement | null => form.querySelector("input[type=file]");

const isSending = (form: HTMLFormElement): boolean => form.getAttribute("aria-busy") === "true";

document.addEventListener("dragover", (event) => {
  const form = formOf(event.target);
  if (!form) return;
  event.preventDefault();
  form.dataset["over"] = "";
});
document.addEventListener("dragleave", ({ target }) => delete formOf(target)?.dataset["over"]);
document.addEventListener("drop", (event) => {
  const form = formOf(event.target);
  const input = form && filesOf(form);
  if (!form || !input || !event.dataTransfer) return;
  event.preventDefault();
  delete form.dataset["over"];
  if (event.dataTransfer.files.length === 0 || isSending(form)) return;
  input.files = event.dataTransfer.files;
  form.requestSubmit();
});

document.addEventListener("submit", (event) => {
  const form = formOf(event.target);
  if (!form || event.defaultPrevented || (filesOf(form)?.files?.length ?? 0) === 0) return;
  event.preventDefault();
  // A second upload would take over the progress of the first, which could then not be cancelled.
  if (!isSending(form)) send(form);
});

function send(form: HTMLFormElement): void {
  const request = new XMLHttpRequest();
  const shown = progressIn(form, () => request.abort());
  const end = (words: string) => {
    shown.place.replaceChildren(words);
    form.removeAttribute("aria-busy");
  };
  request.upload.addEventListener("progress", ({ loaded, total }) => shown.say(loaded, total));
  request.addEventListener("load", async () => {
    end("");
    const isShown = await showAnswer(request.responseText, {
      ids: `${form.dataset["upload"] ?? "main"} result`,
      status: request.status,
      address: request.responseURL,
    }).catch(() => false);
    // After a refusal, the chosen files stay, so that only the wrong field has to be corrected.
    if (isShown && request.status !== 422) form.reset();
    if (!isShown) end("This could not be done. Load the page again, and try again.");
  });
  request.addEventListener("error", () => end("The upload was interrupted. Try again."));
  request.addEventListener("abort", () => end("The upload is cancelled."));
  form.setAttribute("aria-busy", "true");
  request.open("POST", form.action);
  for (const [name, value] of Object.entries(pageHeaders())) request.setRequestHeader(name, value);
  request.send(new FormData(form));
}

interface Shown {
  place: HTMLElement;
  say: (loaded: number, total: number) => void;
}

/** A bar with a number and a button to cancel, at the end of the form. */
function progressIn(form: HTMLFormElement, cancel: () => void): Shown {
  const place = form.querySelector<HTMLElement>(".uploading") ?? document.createElement("p");
  place.className = "uploading row small-text";
  place.setAttribute("role", "status");
  const [bar, words, button] = [
    document.createElement("progress"),
    document.createElement("span"),
    document.createElement("button"),
  ];
  bar.className = "thin";
  bar.max = 100;
  bar.setAttribute("aria-label", "Upload");
  words.className = "num";
  button.type = "button";
  button.className = "button small plain";
  button.textContent = "Cancel";
  button.addEventListener("click", cancel);
  place.replaceChildren(bar, words, button);
  form.append(place);
  const say = (loaded: number, total: number) => {
    const percent = total > 0 ? Math.floor((100 * loaded) / total) : 0;
    bar.value = percent;
    words.textContent = percent < 100 ? `${percent} %` : "Being stored …";
  };
  return { place, say };
}
