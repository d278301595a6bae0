import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { until } from "./service.ts";

// Debian's browser without its own background requests, because it must not use the network. chromium-headless-shell
// would need less processor time, but it shows no notifications.
const executablePath = "/usr/bin/chromium";
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The limit for each step. Even a browser on a busy host finishes in this time. */
const timeout = 120_000;

/** Opens a URL in a real browser and passes its page to `work`; then closes the browser. */
export async function inBrowser<T>(
  url: string,
  work: (page: Page) => Promise<T>,
  { javaScriptEnabled = true } = {},
): Promise<T> {
  const profile = mkdtempSync(join(tmpdir(), "kiln-browser-"));
  const viewport = { width: 1100, height: 720 };
  const options = { executablePath, args, timeout, viewport, javaScriptEnabled };
  const browser = await chromium.launchPersistentContext(profile, options);
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(timeout);
    await page.goto(url);
    return await work(page).catch(async (error: unknown) => {
      console.error(`The browser was at ${page.url()}, which says:`, await page.innerText("body"));
      throw error;
    });
  } finally {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
  }
}

/**
 * Saves pictures of the page, light and dark, if KILN_PICTURES is a folder. Those of the README are in docs/pictures.
 */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["KILN_PICTURES"];
  if (!folder) return;
  await page.screenshot({ path: join(folder, `${name}.png`) });
  // No motion, so that no colour is in transition.
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await page.screenshot({ path: join(folder, `${name}-dark.png`) });
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
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

/** The number of bright pixels on the machine's screen. A letter adds some. */
export const litPixels = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const canvas = document.querySelector("canvas");
    const context = canvas?.getContext("2d");
    if (!canvas || !context || canvas.width === 0) return 0;
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, at) => at % 4 === 1 && value > 96).length;
  });

/** Opens a testdrive's page until it shows the console. */
export async function lookAtConsole(url: string): Promise<void> {
  await inBrowser(url, async (page) => {
    await page.getByText("Connected", { exact: true }).first().waitFor();
    await until("the page shows a picture", 20, async () => (await coloursOnScreen(page)) > 1);
  });
}
