import { number, size } from "../parts/words.ts";

/**
 * Chooses among the files of a form: `<button data-choose="none|all">` checks none of its boxes, or all that are not in
 * a group with a warning. `<span data-count="path">` shows how many boxes of that name are checked, and the size of
 * their files.
 */
export function serveChoice(): void {
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLButtonElement>("[data-choose]") : null;
    if (!button?.form) return;
    for (const box of button.form.querySelectorAll<HTMLInputElement>("input[data-bytes]:enabled")) {
      box.checked = button.dataset["choose"] === "all" && (box.checked || !box.closest(".cautioned"));
    }
    count(button.form);
  });
  document.addEventListener("change", ({ target }) => {
    if (target instanceof HTMLInputElement && target.form) count(target.form);
  });
}

function count(form: HTMLFormElement): void {
  for (const place of form.querySelectorAll<HTMLElement>("[data-count]")) {
    const chosen = [
      ...form.querySelectorAll<HTMLInputElement>(`input[name="${place.dataset["count"] ?? ""}"]:checked`),
    ];
    const bytes = chosen.reduce((sum, { dataset }) => sum + Number(dataset["bytes"] ?? 0), 0);
    place.textContent = `${number(chosen.length)} (${size(bytes)})`;
  }
}
