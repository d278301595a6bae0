import { troublesOf } from "#domain/operation/health";
import { type Metric, metricsOf } from "#domain/operation/metrics";
import { takeSnapshot } from "#domain/operation/snapshot";
import { wasmWorks } from "#lib/solver/probe";
import { missingMigration } from "#storage/schema-version";
import { factory } from "#admin-api/factory";

/** Health and metrics for monitoring. */
export const operation = factory
  .createApp()
  .get("/health", async (c) => {
    const lacking = await missingMigration(c.var.db);
    if (lacking !== undefined) {
      const message = `The database lacks the migration ${lacking}. Run npm run deploy.`;
      return c.json({ error: { code: "internal_error", message } }, 500);
    }
    const reasons = troublesOf(await takeSnapshot({ env: c.env, db: c.var.db }));
    const ok = reasons.length === 0;
    return c.json({ ok, version: "0.1.0", wasm: await wasmWorks(), reasons }, ok ? 200 : 503);
  })
  .get("/metrics", async (c) => {
    const text = prometheusText(metricsOf(await takeSnapshot({ env: c.env, db: c.var.db })));
    return c.body(text, 200, { "content-type": prometheusType });
  });

const prometheusType = "text/plain; version=0.0.4; charset=utf-8";

/** Metrics in Prometheus' text format. */
export const prometheusText = (metrics: readonly Metric[]): string => metrics.map(textOf).join("");

function textOf({ name, help, type, samples }: Metric): string {
  const lines = samples.map(({ labels = {}, value }) => `${name}${labelText(labels)} ${value}\n`);
  return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value).replaceAll('"', '\\"')}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
