/**
 * A quick stand-in of wrangler: the commands that scripts/deploy runs, with the requests and outputs of the real one.
 * stand-in.test.ts compares both, and checks every command line of the log against the real wrangler's own list.
 */
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

type Options = Record<string, string | true>;
type Answer = { success: boolean; result: unknown; errors: { code: number; message: string }[] };

const { CLOUDFLARE_API_BASE_URL: base, CLOUDFLARE_API_TOKEN: token, CLOUDFLARE_ACCOUNT_ID: account } = process.env;
const ownAccount = `/accounts/${account}`;
const headers = () => ({ authorization: `Bearer ${token}` });
const flags = new Set(["json", "remote"]);
const line = process.argv.slice(2);
if (process.env["STAND_IN_LOG"]) appendFileSync(process.env["STAND_IN_LOG"], `${JSON.stringify(line)}\n`);

function parse(given: string[]): { words: string[]; options: Options } {
  const words: string[] = [];
  const options: Options = {};
  for (let at = 0; at < given.length; at++) {
    const [, option] = /^--(.+)$/.exec(given[at] ?? "") ?? [];
    if (option === undefined) words.push(given[at] ?? "");
    else options[option] = flags.has(option) ? true : (given[++at] ?? "");
  }
  return { words, options };
}

async function whoami(): Promise<void> {
  if (!token) {
    say(`{"loggedIn":false}`);
    process.exit(1);
  }
  await ask("GET", "/user");
  say(JSON.stringify({ loggedIn: true, authType: "User API Token", accounts: await ask("GET", "/accounts") }));
}

async function create(path: string, body: unknown): Promise<void> {
  await ask("POST", path, body, ownAccount);
}

async function findQueue(queue: string): Promise<string> {
  const found = await ask("GET", `/queues?page=1&name=${queue}`, undefined, ownAccount);
  const [first] = found as { queue_id: string }[];
  return first?.queue_id ?? fail(`Queue "${queue}" does not exist. To create it, run: wrangler queues create ${queue}`);
}

async function addPullConsumer([queue = ""]: string[], options: Options): Promise<void> {
  const settings = { visibility_timeout_ms: Number(options["visibility-timeout-secs"]) * 1000 };
  await create(`/queues/${await findQueue(queue)}/consumers`, { type: "http_pull", settings });
}

type Config = {
  name: string;
  routes: { pattern: string }[];
  d1_databases: { database_id: string; migrations_dir: string }[];
  queues: { producers: { queue: string }[]; consumers: { queue: string }[] };
  secrets: { required: string[] };
  triggers: { crons: string[] };
};
const readConfig = ({ config }: Options) => JSON.parse(readFileSync(String(config), "utf8")) as Config;

async function applyMigrations(_: string[], options: Options): Promise<void> {
  const [database] = readConfig(options).d1_databases;
  const folder = join(dirname(String(options["config"])), database?.migrations_dir ?? "");
  const path = `/d1/database/${database?.database_id}/query`;
  const query = async (sql: string) =>
    (await ask("POST", path, { sql }, ownAccount)) as { results: { name: string }[] }[];
  await query(`CREATE TABLE IF NOT EXISTS d1_migrations(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,
    applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`);
  const applied = (await query("SELECT name FROM d1_migrations"))[0]?.results.map((row) => row.name) ?? [];
  for (const file of readdirSync(folder)
    .filter((each) => each.endsWith(".sql"))
    .toSorted()) {
    if (applied.includes(file)) continue;
    await query(`${readFileSync(join(folder, file), "utf8")}\nINSERT INTO d1_migrations (name) values ('${file}');`);
  }
}

async function deploy(_: string[], options: Options): Promise<void> {
  const config = readConfig(options);
  const file = options["secrets-file"];
  const secrets: Record<string, string> = file === undefined ? {} : JSON.parse(readFileSync(String(file), "utf8"));
  const worker = `/workers/scripts/${config.name}`;
  const exists = (await fetch(url(`/workers/services/${config.name}`, ownAccount), { headers: headers() })).ok;
  const missing = config.secrets.required.filter((each) => !(each in secrets));
  if (!exists && missing.length > 0) fail(`The following required secrets have not been set: ${missing.join(", ")}`);
  const metadata = {
    bindings: [
      ...Object.entries(secrets).map(([secret, text]) => ({ name: secret, type: "secret_text", text })),
      ...config.queues.producers.map(({ queue }) => ({ name: queue, type: "queue", queue_name: queue })),
    ],
    annotations: { "workers/tag": options["tag"] },
  };
  const form = new FormData();
  form.set("metadata", JSON.stringify(metadata));
  await ask("PUT", worker, form, ownAccount);
  await ask(
    "PUT",
    `${worker}/schedules`,
    config.triggers.crons.map((cron) => ({ cron })),
    ownAccount,
  );
  const origins = config.routes.map(({ pattern }) => ({ hostname: pattern }));
  await ask("PUT", `${worker}/domains/records`, { origins }, ownAccount);
  for (const { queue } of config.queues.consumers) {
    const path = `/queues/${await findQueue(queue)}/consumers`;
    const known = (await ask("GET", path, undefined, ownAccount)) as unknown[];
    if (known.length === 0)
      await ask("POST", path, { type: "worker", script_name: config.name, settings: {} }, ownAccount);
  }
}

function url(path: string, prefix: string): string {
  return `${base}${prefix}${path}`;
}

async function ask(method: string, path: string, body?: unknown, prefix = ""): Promise<unknown> {
  const sent = body === undefined ? null : body instanceof FormData ? body : JSON.stringify(body);
  const response = await fetch(url(path, prefix), { method, body: sent, headers: headers() }).catch(() =>
    fail("fetch failed"),
  );
  const answer = (await response.json()) as Answer;
  const [first] = answer.errors;
  if (first === undefined) return answer.result;
  return fail(`A request to the Cloudflare API (${prefix}${path}) failed.\n\n  ${first.message} [code: ${first.code}]`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(message: string): never {
  process.stderr.write(`\n✘ [ERROR] ${message}\n`);
  process.exit(1);
}

const { words, options } = parse(line);
const commands: Record<string, (words: string[], options: Options) => Promise<void>> = {
  whoami: whoami,
  "auth token": async () => say(JSON.stringify({ type: "api_token", token })),
  "d1 create": async ([name]) => create("/d1/database", { name }),
  "r2 bucket create": async ([name]) => create("/r2/buckets", { name }),
  "queues create": async ([name]) => create("/queues", { queue_name: name }),
  "queues consumer http add": addPullConsumer,
  "d1 migrations apply": applyMigrations,
  deploy: deploy,
};
const name = Object.keys(commands).find((each) => words.join(" ").startsWith(each));
if (name === undefined) fail(`Unknown argument: ${words.join(" ")}`);
await commands[name]?.(words.slice(name.split(" ").length), options);
