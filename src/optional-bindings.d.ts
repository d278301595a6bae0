/** Bindings that wrangler.toml does not have, or only if the operator adds them. src/env.d.ts is made of those that it has. */
interface Env {
  /** Gets a data point for every refusal and for every build that ends. */
  METRICS?: AnalyticsEngineDataset;
  /** Bound by the launcher (scripts/launch/disk-room.ts): 507 if the disk has no room left. */
  DISK?: Fetcher;
}
