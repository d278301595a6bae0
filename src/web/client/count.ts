/** Keeps `<span data-count="path">` at the number of boxes of that name which are checked in its form. */
export function countChosen(): void {
  document.addEventListener("change", ({ target }) => {
    const form = target instanceof HTMLInputElement ? target.form : null;
    for (const place of form?.querySelectorAll<HTMLElement>("[data-count]") ?? []) {
      const checked = `input[name="${place.dataset["count"] ?? ""}"]:checked`;
      place.textContent = String(form?.querySelectorAll(checked).length ?? 0);
    }
  });
}
