/** Island: `<input data-filter="id">` shows only those entries of the list with this id that have all of its words. */

for (const field of document.querySelectorAll<HTMLInputElement>("input[data-filter]")) {
  const id = field.dataset["filter"] ?? "";
  const entries = [...document.querySelectorAll<HTMLElement>(`#${id} > *`)];
  const none = document.getElementById(`${id}-none`);
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const entry of entries) {
      const text = entry.textContent?.toLowerCase() ?? "";
      entry.hidden = !words.every((word) => text.includes(word));
    }
    if (none) none.hidden = entries.some((entry) => !entry.hidden);
  });
  // Return opens the first one.
  field.form?.addEventListener("submit", (event) => {
    event.preventDefault();
    entries
      .find((entry) => !entry.hidden)
      ?.querySelector("a")
      ?.click();
  });
}
