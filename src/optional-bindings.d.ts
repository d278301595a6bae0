/** Bindings that wrangler.toml has only if the operator adds them. src/env.d.ts is made of those that it has. */
interface Env {
  /** Gets a data point for every refusal and for every build that ends. */
  METRICS?: AnalyticsEngineDataset;
}
