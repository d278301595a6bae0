import { troublesOf } from "#domain/operation/health";
import { metricsOf } from "#domain/operation/metrics";
import { takeSnapshot } from "#domain/operation/snapshot";
import { wasmWorks } from "#lib/solver/probe";
import { missingMigration } from "#storage/schema-version";
import { factory } from "#admin-api/factory";
import { prometheusText, prometheusType } from "#admin-api/prometheus";

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
