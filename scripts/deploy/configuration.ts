import { join, relative } from "node:path";
import { experimental_readRawConfig } from "wrangler";
import { z } from "zod";
import { variableNames } from "../../src/domain/variables.ts";
import { Complaint } from "../launch/complaint.ts";
import { projectRoot } from "../launch/project.ts";
import type { Settings } from "./folder.ts";

/** The template of every environment. Only its own resources have names without the environment's suffix. */
const standard = "production";

const Queue = z.looseObject({ queue: z.string(), dead_letter_queue: z.string().optional() });
const Environment = z.looseObject({
  name: z.string(),
  routes: z.array(z.looseObject({ pattern: z.string() })),
  vars: z.record(z.string(), z.string()),
  secrets: z.object({ required: z.array(z.string()) }),
  assets: z.looseObject({ directory: z.string() }),
  d1_databases: z.array(
    z.looseObject({ database_name: z.string(), database_id: z.string(), migrations_dir: z.string() }),
  ),
  r2_buckets: z.tuple([z.looseObject({ bucket_name: z.string() })]),
  queues: z.looseObject({ producers: z.array(Queue), consumers: z.array(Queue) }),
  ratelimits: z.array(z.looseObject({ namespace_id: z.string() })),
  analytics_engine_datasets: z.array(z.looseObject({ dataset: z.string() })).optional(),
});
type Environment = z.infer<typeof Environment>;
const File = z.looseObject({
  main: z.string(),
  compatibility_date: z.string(),
  compatibility_flags: z.array(z.string()),
  rules: z.array(z.unknown()),
  send_metrics: z.boolean(),
  env: z.record(z.string(), z.unknown()),
});

/** A whole configuration of wrangler for one environment. */
export type Configuration = ReturnType<typeof configurationFor>;

/** Whether the operator has not filled in a value of wrangler.toml. A filled-in value overrides our settings. */
const isPlaceholder = (value: string | undefined) =>
  !value || value === "fill in" || /^0{8}-/.test(value) || /(^|[./])example\.(org|net)$/.test(value);

/**
 * The configuration of an environment: that of wrangler.toml, completed by the settings. An environment that is not in
 * wrangler.toml is a copy of production with other names.
 */
export function configurationFor(environment: string, settings: Settings, folder: string) {
  const { rawConfig } = experimental_readRawConfig(
    { config: join(projectRoot, "wrangler.toml") },
    { hideWarnings: true },
  );
  const unknown = Object.keys(settings.vars ?? {}).filter((name) => !variableNames.includes(name));
  if (unknown.length > 0) throw new Complaint(`settings.json: wrangler.toml has no variable ${unknown.join(", ")}.`);
  const { main, compatibility_date, compatibility_flags, rules, send_metrics, env } = File.parse(rawConfig);
  const own = env[environment];
  const given = readEnvironment(environment, own ?? env[standard]);
  const named = own === undefined ? renamed(given, environment) : given;
  const here = (path: string) => relative(folder, join(projectRoot, path));
  return {
    ...named,
    main: here(main),
    compatibility_date,
    compatibility_flags,
    rules,
    send_metrics,
    account_id: settings.accountId,
    routes: routesOf(named, settings),
    vars: { ...filledVars(named, settings), ...settings.vars },
    assets: { ...named.assets, directory: here(named.assets.directory) },
    d1_databases: named.d1_databases.map((each) => ({
      ...each,
      database_id: isPlaceholder(each.database_id)
        ? (settings.databaseIds?.[each.database_name] ?? "")
        : each.database_id,
      migrations_dir: here(each.migrations_dir),
    })),
  };
}

const hostOf = (url: string | undefined) => (url ? URL.parse(url)?.host : undefined);
const urlOf = (host: string | undefined) => (host ? `https://${host}` : "");

/** The host names in wrangler.toml. */
export function ownHosts(environment: string): { host: string | undefined; guestsHost: string | undefined } {
  const { BASE_URL, TESTDRIVE_ORIGIN } = configurationFor(environment, {}, projectRoot).vars;
  return { host: hostOf(BASE_URL), guestsHost: hostOf(TESTDRIVE_ORIGIN) };
}

function readEnvironment(name: string, given: unknown): Environment {
  const found = Environment.safeParse(given);
  if (found.success) return found.data;
  throw new Complaint(`[env.${name}] of wrangler.toml lacks something:\n${z.prettifyError(found.error)}`);
}

function routesOf({ routes }: Environment, { host, guestsHost }: Settings) {
  const own = routes.filter(({ pattern }) => !isPlaceholder(pattern));
  const ours = [host, guestsHost].flatMap((pattern) => (pattern ? [{ pattern, custom_domain: true }] : []));
  return own.length > 0 ? own : ours;
}

function filledVars({ vars }: Environment, settings: Settings): Record<string, string> {
  const ours: Record<string, string> = {
    BASE_URL: urlOf(settings.host),
    TESTDRIVE_ORIGIN: urlOf(settings.guestsHost),
    CLOUDFLARE_ACCOUNT_ID: settings.accountId ?? "",
    QUEUE_ID: settings.queueId ?? "",
  };
  return Object.fromEntries(
    Object.entries(vars).map(([name, value]) => [name, isPlaceholder(value) ? (ours[name] ?? value) : value]),
  );
}

function renamed(given: Environment, environment: string): Environment {
  const name = (old: string) => old.replace(/^kiln(?=-|$)/, `kiln-${environment}`);
  const queue = (each: z.infer<typeof Queue>) => ({
    ...each,
    queue: name(each.queue),
    ...(each.dead_letter_queue && { dead_letter_queue: name(each.dead_letter_queue) }),
  });
  const [bucket] = given.r2_buckets;
  return {
    ...given,
    name: name(given.name),
    d1_databases: given.d1_databases.map((each) => ({ ...each, database_name: name(each.database_name) })),
    r2_buckets: [{ ...bucket, bucket_name: name(bucket.bucket_name) }],
    queues: { producers: given.queues.producers.map(queue), consumers: given.queues.consumers.map(queue) },
    ...(given.analytics_engine_datasets && {
      analytics_engine_datasets: given.analytics_engine_datasets.map((each) => ({
        ...each,
        dataset: name(each.dataset),
      })),
    }),
    // Within an account, rate limits with the same id share their counters.
    ratelimits: given.ratelimits.map((each) => ({
      ...each,
      namespace_id: ownNamespace(each.namespace_id, environment),
    })),
  };
}

/** A positive number that two environments are unlikely to share. */
function ownNamespace(id: string, environment: string): string {
  const seed = [...environment].reduce((sum, letter) => (sum * 37 + letter.charCodeAt(0)) % 900_000, 7);
  return String(100_000 + seed + Number(id));
}

/** The databases' ids, by name. An id is empty before the database is created. Two bindings may have one database. */
export const databasesOf = ({ d1_databases }: Pick<Configuration, "d1_databases">): Map<string, string> =>
  new Map(d1_databases.map(({ database_name, database_id }) => [database_name, database_id]));

/** Every queue of the environment, including those for dead letters. */
export function queueNames({ queues }: Pick<Configuration, "queues">): string[] {
  const all = [...queues.producers, ...queues.consumers];
  return [...new Set(all.flatMap(({ queue, dead_letter_queue }) => [queue, dead_letter_queue ?? queue]))].toSorted();
}

/** The queue that agents pull from: the only one without a Worker as consumer. */
export function pulledQueue({ queues }: Pick<Configuration, "queues">): string {
  const consumed = new Set(queues.consumers.map(({ queue }) => queue));
  const [pulled] = queues.producers.filter(({ queue }) => !consumed.has(queue));
  if (!pulled) throw new Complaint("wrangler.toml has no queue for the agents: one with a producer and no consumer.");
  return pulled.queue;
}
