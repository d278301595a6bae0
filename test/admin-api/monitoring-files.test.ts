import { expect, it } from "vitest";
import page from "../../docs/operations/monitoring.md?raw";
import dashboard from "../../docs/operations/monitoring/dashboard.json?raw";
import rules from "../../docs/operations/monitoring/rules.yml?raw";
import { troubleCodes } from "#domain/operation/health";
import { operate } from "../support/client.ts";

const namesIn = (text: string): string[] => [...new Set(text.match(/\bkiln_[a-z_]+/g))].toSorted();

/** What the service exports. */
async function exported(): Promise<string[]> {
  const text = await (await operate("GET", "/metrics")).text();
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name).toSorted();
}

it("the page describes exactly the metrics that there are", async () => {
  expect(namesIn(page)).toEqual(await exported());
});

it.each([
  ["alert rules", rules],
  ["dashboard", dashboard],
])("the %s name only metrics that there are", async (_, file) => {
  const known = await exported();
  expect(namesIn(file).length).toBeGreaterThan(5);
  expect(namesIn(file).filter((name) => !known.includes(name))).toEqual([]);
});

it("the page and an alert rule have every reason of the health", () => {
  for (const code of troubleCodes) {
    expect(page).toContain(`| \`${code}\` |`);
    expect(rules).toContain(`kiln_trouble{reason="${code}"} == 1`);
  }
});

it("every query of the dashboard is shown with a legend", () => {
  const { panels } = JSON.parse(dashboard) as { panels: { targets: { expr: string; legendFormat: string }[] }[] };
  const targets = panels.flatMap((panel) => panel.targets);
  expect(targets.filter(({ expr, legendFormat }) => !expr || !legendFormat)).toEqual([]);
});
