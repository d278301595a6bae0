/** Island: sends a search form shortly after the last keystroke, or after a choice changes. `swap` shows the answer. */

const restMs = 150;
const minLetters = 2;
let timer: ReturnType<typeof setTimeout> | undefined;

document.addEventListener("input", ({ target }) => {
  const form = target instanceof HTMLInputElement ? target.form : null;
  if (!form || form.dataset["search"] === undefined || !(target instanceof HTMLInputElement)) return;
  clearTimeout(timer);
  const letters = target.value.trim().length;
  if (letters === 0 || letters >= minLetters) timer = setTimeout(() => form.requestSubmit(), restMs);
});

document.addEventListener("change", ({ target }) => {
  if (target instanceof HTMLSelectElement && target.form?.dataset["search"] !== undefined) target.form.requestSubmit();
});
