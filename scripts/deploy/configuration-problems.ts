import { makeSecrets } from "../launch/secrets.ts";

/** The checked part of wrangler's configuration of one environment. */
export type Checked = {
  compatibility_date: string;
  vars: Record<string, unknown>;
  secrets?: { required?: string[] } | undefined;
  assets?: { binding?: string } | undefined;
  d1_databases: { binding: string }[];
  r2_buckets: { binding: string }[];
  queues: {
    producers?: { binding: string; queue: string }[] | undefined;
    consumers?: { queue: string; dead_letter_queue?: string | undefined }[] | undefined;
  };
  durable_objects: { bindings: { name: string; class_name: string }[] };
  migrations: { new_sqlite_classes?: string[] | undefined }[];
  ratelimits?: { name: string }[] | undefined;
};

/** Facts about the code, the documentation and the pinned workerd. */
export type Facts = {
  /** Names that the bundle exports. */
  exports: readonly string[];
  /** The page that describes each secret. */
  keysPage: string;
  /** E.g. "1.20261023.1", which includes the day of the build. */
  workerdVersion: string;
  today: Date;
};

/** The only secret that the operator must provide. */
const given = ["QUEUE_API_TOKEN"];
/** workerd supports compatibility dates up to a week after its build. */
const aheadDays = 7;
const dayMs = 86_400_000;

/**
 * Problems, as sentences, that would appear only after a deployment, because all tests use the embedded environment.
 */
export function configurationProblems(production: Checked, embedded: Checked, facts: Facts): string[] {
  return [
    ...missing(bindingsOf(embedded), bindingsOf(production), "wrangler.toml: production does not bind"),
    ...missing(bindingsOf(production), bindingsOf(embedded), "wrangler.toml: only production binds"),
    ...objectProblems(production, facts.exports),
    ...queueProblems(production),
    ...secretProblems(production, embedded, facts.keysPage),
    ...dateProblems(production.compatibility_date, facts),
  ];
}

const missing = (wanted: readonly string[], known: readonly string[], text: string) =>
  wanted.filter((name) => !known.includes(name)).map((name) => `${text} ${name}.`);

function bindingsOf(config: Checked): string[] {
  return [
    ...Object.keys(config.vars).filter((name) => !given.includes(name)),
    ...[config.d1_databases, config.r2_buckets, config.queues.producers ?? []].flat().map(({ binding }) => binding),
    ...config.durable_objects.bindings.map(({ name }) => name),
    ...(config.ratelimits ?? []).map(({ name }) => name),
    ...(config.assets?.binding ? [config.assets.binding] : []),
  ];
}

function objectProblems({ durable_objects, migrations }: Checked, exported: readonly string[]): string[] {
  const classes = durable_objects.bindings.map(({ class_name }) => class_name);
  const migrated = migrations.flatMap(({ new_sqlite_classes }) => new_sqlite_classes ?? []);
  return [
    ...missing(classes, exported, "src/index.ts does not export the class"),
    ...missing(classes, migrated, "wrangler.toml: [[migrations]] does not create the class"),
  ];
}

function queueProblems({ queues }: Checked): string[] {
  const consumed = (queues.consumers ?? []).map(({ queue }) => queue);
  const dead = (queues.consumers ?? []).flatMap(({ dead_letter_queue }) => dead_letter_queue ?? []);
  const pulled = (queues.producers ?? []).filter(({ queue }) => !consumed.includes(queue));
  return [
    ...missing(dead, consumed, "wrangler.toml: nothing consumes the dead letters of"),
    ...(pulled.length === 1 ? [] : [`wrangler.toml: agents pull one queue, but ${pulled.length} have no consumer.`]),
  ];
}

function secretProblems(production: Checked, embedded: Checked, keysPage: string): string[] {
  const required = production.secrets?.required ?? [];
  const described = required.filter((name) => keysPage.includes(`| \`${name}\` |`));
  return [
    ...missing(embedded.secrets?.required ?? [], required, "wrangler.toml: production does not require the secret"),
    ...missing(required, [...Object.keys(makeSecrets()), ...given], "npm run deploy cannot make the secret"),
    ...missing(required, described, "docs/operations/keys.md does not describe the secret"),
  ];
}

function dateProblems(date: string, { workerdVersion, today }: Facts): string[] {
  const [, year, month, day] = /^1\.(\d{4})(\d\d)(\d\d)\./.exec(workerdVersion) ?? [];
  const built = Date.parse(`${year}-${month}-${day}`);
  const at = Date.parse(date);
  if (at > built + aheadDays * dayMs)
    return [`compatibility_date ${date} is newer than workerd ${workerdVersion} knows.`];
  return at > today.getTime() ? [`compatibility_date ${date} is in the future.`] : [];
}
