/** Island: `<button data-copy="id" hidden>` copies the text of that element. */

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset["copy"] ?? "")?.textContent ?? "";
    await navigator.clipboard.writeText(text.trim());
    const words = button.querySelector("span") ?? button;
    const before = words.textContent;
    words.textContent = "Copied";
    setTimeout(() => (words.textContent = before), 2_000);
  });
}
