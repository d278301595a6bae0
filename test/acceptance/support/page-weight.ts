import type { Page } from "playwright-core";
import { inBrowser } from "./page.ts";
import type { Ready } from "./service.ts";
import { signInHere } from "./sign-in.ts";

/**
 * The bytes that a browser with an empty cache receives for each page: compressed, with headers, scripts, styles and
 * pictures. A page that does not exist has no weight.
 */
export const weighPages = (ready: Ready, paths: readonly string[]): Promise<Map<string, number>> =>
  inBrowser(`${ready.url}/sign_in`, async (page) => {
    await signInHere(page, { ready });
    const weights = new Map<string, number>();
    for (const path of paths) {
      const bytes = await openAndWeigh(page, ready.url + path);
      if (bytes !== undefined) weights.set(path, bytes);
    }
    return weights;
  });

/** Opens the page, and returns what the browser received for it. */
export async function openAndWeigh(page: Page, url: string): Promise<number | undefined> {
  const session = await page.context().newCDPSession(page);
  try {
    let bytes = 0;
    // A `data:` URL is part of the received page.
    const inside = new Set<string>();
    session.on("Network.requestWillBeSent", ({ requestId, request }) => {
      if (request.url.startsWith("data:")) inside.add(requestId);
    });
    session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      if (!inside.has(requestId)) bytes += encodedDataLength;
    });
    await session.send("Network.enable");
    // Also clears what the tab has cached in memory, when the page opens.
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    const answer = await page.goto(url, { waitUntil: "networkidle" });
    return answer?.status() === 200 ? bytes : undefined;
  } finally {
    await session.detach();
  }
}
