import { expect, it } from "vitest";
import page from "../../docs/operations/monitoring.md?raw";
import dashboard from "../../docs/operations/monitoring/dashboard.json?raw";
import ruleTests from "../../docs/operations/monitoring/rules.test.yml?raw";
import rules from "../../docs/operations/monitoring/rules.yml?raw";
import { troubleCodes } from "#domain/operation/health";
import { operate } from "../support/client.ts";
import { metricsNow } from "../support/metrics.ts";

const namesIn = (text: string): string[] => [...new Set(text.match(/\bkiln_[a-z_]+/g))].toSorted();

/** The metrics that the service exports. */
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

it("the alert rules ask for labels that a new service exports", async () => {
  const samples = [...(await metricsNow()).keys()];
  const asked = [...rules.matchAll(/(kiln_\w+)\{(\w+="[^"]+")\}/g)].map(([, name = "", label = ""]) => ({
    name,
    label,
  }));
  expect(asked.length).toBeGreaterThan(5);
  const isExported = ({ name, label }: { name: string; label: string }) =>
    samples.some((sample) => sample.startsWith(`${name}{`) && sample.includes(label));
  expect(asked.filter((one) => !isExported(one))).toEqual([]);
});

it("each alert has a test in which it fires, and one in which it does not", () => {
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, alert]) => alert);
  const stepsOf = (expected: RegExp) =>
    new Set([...ruleTests.matchAll(expected)].map(([, alert]) => alert)).symmetricDifference(new Set(alerts));
  expect([...stepsOf(/- \{ alertname: (\w+), .* exp_alerts: \[\] \}/g)]).toEqual([]);
  expect([...stepsOf(/- alertname: (\w+)\n.*\n +exp_alerts:\n +- exp_labels/g)]).toEqual([]);
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
