/** Island: `<button data-copy="id" hidden>` copies the text of that element. */

show();
document.addEventListener("swapped", show);

/** Shows the buttons. The answer of the service hides them again, and has new ones. */
function show(): void {
  // Over plain HTTP, the page may not use the clipboard.
  if (!("clipboard" in navigator)) return;
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) button.hidden = false;
}

document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLButtonElement>("button[data-copy]") : null;
  if (!button) return;
  const text = document.getElementById(button.dataset["copy"] ?? "")?.textContent ?? "";
  await navigator.clipboard.writeText(text.trim());
  const words = button.querySelector("span") ?? button;
  // A second click must not take "Copied" for the label.
  const label = (button.dataset["words"] ??= words.textContent);
  words.textContent = "Copied";
  setTimeout(() => (words.textContent = label), 2_000);
});
