/** Island: `<button data-fullscreen="id" hidden>` shows that element in full screen, or leaves full screen. */

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-fullscreen]")) {
  button.hidden = !document.fullscreenEnabled;
  button.addEventListener("click", () => {
    const element = document.getElementById(button.dataset["fullscreen"] ?? "");
    void (document.fullscreenElement ? document.exitFullscreen() : element?.requestFullscreen());
  });
}

document.addEventListener("fullscreenchange", () => {
  for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-fullscreen]"))
    button.textContent = document.fullscreenElement ? "Leave full screen" : "Full screen";
});
