/**
 * Island: while something runs, a page has `<div id="again" data-again="5" data-ids="running">`. The elements with
 * these ids are fetched again after that many seconds, while the page is visible. A response without this element ends
 * the polling, and one without ids pauses it.
 */
import { swapFrom } from "./swapping.ts";

let timer: ReturnType<typeof setTimeout> | undefined;
begin();

// Another island may have brought the ids. A timer that runs is left alone, because a running build swaps often.
document.addEventListener("swapped", () => timer === undefined && begin());

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") void look();
});

function begin(): void {
  clearTimeout(timer);
  const seconds = Number(place()?.dataset["again"]);
  timer = seconds > 0 ? setTimeout(() => void look(), seconds * 1000) : undefined;
}

async function look(): Promise<void> {
  const found = place();
  if (!found || document.visibilityState === "hidden") {
    clearTimeout(timer);
    timer = undefined;
    return;
  }
  try {
    await swapFrom(new URL(location.href), { ids: `${found.dataset["ids"] ?? ""} again-place`, isQuiet: true });
    delete document.documentElement.dataset["lost"];
  } catch {
    document.documentElement.dataset["lost"] = "";
  }
  begin();
}

function place(): HTMLElement | null {
  return document.querySelector<HTMLElement>("#again-place > [data-again]:not([data-ids=''])");
}
