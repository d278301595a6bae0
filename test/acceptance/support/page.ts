import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { until } from "./service.ts";

// Debian's browser without its own background requests: it must not use the network.
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** For each step: even a browser on a busy host finishes in this time. */
const timeout = 120_000;

/** Opens a URL in a real browser and passes its page to `work`; then closes the browser. */
export async function inBrowser<T>(
  url: string,
  work: (page: Page) => Promise<T>,
  { javaScriptEnabled = true } = {},
): Promise<T> {
  const profile = mkdtempSync(join(tmpdir(), "kiln-browser-"));
  const viewport = { width: 1100, height: 720 };
  const options = { executablePath: "/usr/bin/chromium", args, timeout, viewport, javaScriptEnabled };
  const browser = await chromium.launchPersistentContext(profile, options);
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(timeout);
    await page.goto(url);
    return await work(page);
  } finally {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/** Number of colours on the console's canvas; a blank one has a single colour. */
const coloursOnScreen = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const canvas = document.querySelector("canvas");
    const context = canvas?.getContext("2d");
    if (!canvas || !context || canvas.width === 0) return 0;
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });

/**
 * Opens a testdrive's page until it shows the console. If KILN_SCREENSHOT is set, saves the picture there, as the README shows
 * it.
 */
export async function lookAtConsole(url: string): Promise<void> {
  await inBrowser(url, async (page) => {
    await page.getByText("Connected", { exact: true }).first().waitFor();
    await until("the page shows a picture", 20, async () => (await coloursOnScreen(page)) > 1);
    const path = process.env["KILN_SCREENSHOT"];
    if (path) await page.screenshot({ path });
  });
}
