/**
 * Island: `<p data-notify hidden>` with a button and an explanation. If notifications are allowed, the browser shows
 * one when the title of the page shows that the build has ended.
 */

const place = document.querySelector<HTMLElement>("[data-notify]");
const title = document.querySelector("title");
if (place && title && "Notification" in window) begin(place, title);

function begin(place: HTMLElement, title: Element): void {
  let before = document.title;
  showState(place);
  place.querySelector("button")?.addEventListener("click", async () => {
    await Notification.requestPermission();
    showState(place);
  });
  new MutationObserver(() => {
    const hasEnded = isOver(document.title) && !isOver(before);
    before = document.title;
    if (!hasEnded) return;
    place.hidden = true;
    // The title changes before the rest of the page.
    if (Notification.permission === "granted") setTimeout(notify, 1000);
  }).observe(title, { childList: true, characterData: true, subtree: true });
}

/** Whether the title of a build's page begins like that of a build that has ended (`build.tsx`). */
const isOver = (words: string): boolean => /^(Finished|Failed) · /.test(words);

function showState(place: HTMLElement): void {
  const { permission } = Notification;
  place.hidden = false;
  const button = place.querySelector("button");
  if (button) button.hidden = permission !== "default";
  const words = place.querySelector(".hint");
  if (words && permission === "granted") words.textContent = "Your browser shows a message when the build ends.";
  if (words && permission === "denied")
    words.textContent = "Your browser blocks messages of this site, so it shows none when the build ends.";
}

function notify(): void {
  const body = document.querySelector("#ended p, #failed h2")?.textContent?.replaceAll(/\s+/g, " ").trim() ?? "";
  const message = new Notification(document.title.replace(/ · Kiln$/, ""), { body, tag: location.pathname });
  message.addEventListener("click", () => {
    window.focus();
    message.close();
  });
}
