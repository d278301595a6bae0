/**
 * Island: `<div data-live="/events/…">` subscribes to the server-sent events at an address. A `parts` event contains
 * elements, which replace those with the same ids. A `look` event names ids, and these elements are fetched again.
 * While the connection is lost, the page shows that.
 */
import { lookForAll } from "./looking.ts";
import { showParts, swapFrom } from "./swapping.ts";

const place = document.querySelector<HTMLElement>("[data-live]");
if (place?.dataset["live"]) listen(place.dataset["live"]);

function listen(address: string): void {
  // EventSource reconnects on its own, and sends the id of the last event.
  const source = new EventSource(address);
  source.addEventListener("open", () => showLost(false));
  source.addEventListener("error", () => {
    showLost(true);
    // The service refused the request: the page may be gone, or the session may have ended.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => listen(address), 10_000);
  });
  source.addEventListener("parts", (event) => void showParts(String(event.data)).catch(() => {}));
  source.addEventListener("look", (event) => {
    for (const id of String(event.data).split(" ")) wanted.add(id);
    void look();
  });
  source.addEventListener("end", () => source.close());
}

const wanted = new Set<string>();
let isLooking = false;

async function look(): Promise<void> {
  if (isLooking) return;
  isLooking = true;
  await lookForAll(wanted, {
    fetch: async (ids) => await swapFrom(new URL(location.href), { ids: ids.join(" "), isQuiet: true }),
    onFetched: showLost,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
  isLooking = false;
}

/** Shows whether the page is up to date, or the service cannot be reached. */
function showLost(isLost: boolean): void {
  if (isLost) document.documentElement.dataset["lost"] = "";
  else delete document.documentElement.dataset["lost"];
}
