/** Bindings that are not in wrangler.toml, or only if the operator adds them. src/env.d.ts has the others. */
interface Env {
  /** Gets a data point for every refusal and for every build that ends. */
  METRICS?: AnalyticsEngineDataset;
  /** The secret of the operator's sender of mail (docs/operations/mail.md). */
  MAIL_TOKEN?: string;
  /** Bound by the launcher (scripts/launch/disk-room.ts): it answers 507 if the disk is full. */
  DISK?: Fetcher;
}
