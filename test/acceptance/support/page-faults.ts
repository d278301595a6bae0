import axe from "axe-core";
import type { Page } from "playwright-core";

/** Each theme at each width. */
export const views = (["light", "dark"] as const).flatMap((colorScheme) =>
  [1280, 390].map((width) => ({ colorScheme, width })),
);

/** Each theme and each width once. */
export const diagonal = views.filter(({ colorScheme, width }) => (colorScheme === "dark") === (width === 390));

/** Includes targets smaller than 24 by 24 pixels, which axe reports only on request. */
const options = { resultTypes: ["violations"], preload: false, rules: { "target-size": { enabled: true } } };

/** The faults that axe finds on the page, and elements that extend beyond it. */
export async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(`{ const module = undefined; ${axe.source} }`);
  // Omits passed checks: on a long page, sending them takes longer than finding them.
  const violations = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  const tooWide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  const faults = violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .map(({ html }) => html)
        .join(" ")
        .slice(0, 500)}`,
  );
  return tooWide > 0 ? [...faults, `${tooWide} pixels too wide`] : faults;
}
