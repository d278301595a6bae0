/**
 * A fast stand-in for wrangler. It has the commands that scripts/deploy runs, with the requests and outputs of the real
 * one. stand-in.test.ts compares both, and checks every command line of the log against the real wrangler's own list.
 */
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RunWrangler } from "../../../scripts/deploy/wrangler.ts";

type Options = Record<string, string | true>;
type Answer = { success: boolean; result: unknown; errors: { code: number; message: string }[] };
type Config = {
  name: string;
  routes: { pattern: string }[];
  d1_databases: { database_name: string; database_id: string; migrations_dir: string }[];
  queues: { producers: { queue: string }[]; consumers: { queue: string }[] };
  secrets: { required: string[] };
  triggers: { crons: string[] };
};

const flags = new Set(["json", "remote"]);

/** Ends a command with exit code 1. */
class Failure extends Error {}

export const runStandIn: RunWrangler = async (line, env) => {
  const log = env["STAND_IN_LOG"];
  if (log) appendFileSync(log, `${JSON.stringify(line)}\n`);
  const standIn = new StandIn(env);
  try {
    await standIn.run(line);
    return { code: 0, stdout: standIn.stdout, stderr: "" };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { code: 1, stdout: standIn.stdout, stderr: error.message && `\n✘ [ERROR] ${error.message}\n` };
  }
};

class StandIn {
  stdout = "";
  readonly #base: string | undefined;
  readonly #token: string | undefined;
  readonly #ownAccount: string;
  readonly #commands: Record<string, (words: string[], options: Options) => Promise<void>> = {
    whoami: () => this.#whoami(),
    "auth token": async () => this.#say(JSON.stringify({ type: "api_token", token: this.#token })),
    "d1 create": ([name]) => this.#create("/d1/database", { name }),
    "r2 bucket create": ([name]) => this.#create("/r2/buckets", { name }),
    "queues create": ([name]) => this.#create("/queues", { queue_name: name }),
    "queues consumer http add": (words, options) => this.#addPullConsumer(words, options),
    "d1 migrations apply": (words, options) => this.#applyMigrations(words, options),
    deploy: (_, options) => this.#deploy(options),
  };

  constructor(env: NodeJS.ProcessEnv) {
    this.#base = env["CLOUDFLARE_API_BASE_URL"];
    this.#token = env["CLOUDFLARE_API_TOKEN"];
    this.#ownAccount = `/accounts/${env["CLOUDFLARE_ACCOUNT_ID"]}`;
  }

  async run(line: readonly string[]): Promise<void> {
    const { words, options } = parse(line);
    const name = Object.keys(this.#commands).find((each) => words.join(" ").startsWith(each));
    if (name === undefined) throw new Failure(`Unknown argument: ${words.join(" ")}`);
    await this.#commands[name]?.(words.slice(name.split(" ").length), options);
  }

  async #whoami(): Promise<void> {
    if (!this.#token) {
      this.#say(`{"loggedIn":false}`);
      throw new Failure("");
    }
    await this.#ask("GET", "/user");
    const accounts = await this.#ask("GET", "/accounts");
    this.#say(JSON.stringify({ loggedIn: true, authType: "User API Token", accounts }));
  }

  async #create(path: string, body: unknown): Promise<void> {
    await this.#askAccount("POST", path, body);
  }

  async #findQueue(queue: string): Promise<string> {
    const found = await this.#askAccount("GET", `/queues?page=1&name=${queue}`);
    const [first] = found as { queue_id: string }[];
    if (first) return first.queue_id;
    throw new Failure(`Queue "${queue}" does not exist. To create it, run: wrangler queues create ${queue}`);
  }

  async #addPullConsumer([queue = ""]: string[], options: Options): Promise<void> {
    const settings = { visibility_timeout_ms: Number(options["visibility-timeout-secs"]) * 1000 };
    await this.#create(`/queues/${await this.#findQueue(queue)}/consumers`, { type: "http_pull", settings });
  }

  async #applyMigrations([name]: string[], options: Options): Promise<void> {
    const database = readConfig(options).d1_databases.find((each) => each.database_name === name);
    const folder = join(dirname(String(options["config"])), database?.migrations_dir ?? "");
    const path = `/d1/database/${database?.database_id}/query`;
    const query = async (sql: string) =>
      (await this.#askAccount("POST", path, { sql })) as { results: { name: string }[] }[];
    await query(`CREATE TABLE IF NOT EXISTS d1_migrations(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,
    applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`);
    const applied = (await query("SELECT name FROM d1_migrations"))[0]?.results.map((row) => row.name) ?? [];
    const files = readdirSync(folder).filter((each) => each.endsWith(".sql"));
    for (const file of files.toSorted()) {
      if (applied.includes(file)) continue;
      await query(`${readFileSync(join(folder, file), "utf8")}\nINSERT INTO d1_migrations (name) values ('${file}');`);
    }
  }

  async #deploy(options: Options): Promise<void> {
    const config = readConfig(options);
    const worker = `/workers/scripts/${config.name}`;
    await this.#askAccount("PUT", worker, await this.#upload(config, options));
    const crons = config.triggers.crons.map((cron) => ({ cron }));
    await this.#askAccount("PUT", `${worker}/schedules`, crons);
    const origins = config.routes.map(({ pattern }) => ({ hostname: pattern }));
    await this.#askAccount("PUT", `${worker}/domains/records`, { origins });
    for (const { queue } of config.queues.consumers) {
      const path = `/queues/${await this.#findQueue(queue)}/consumers`;
      const known = (await this.#askAccount("GET", path)) as unknown[];
      if (known.length === 0)
        await this.#askAccount("POST", path, { type: "worker", script_name: config.name, settings: {} });
    }
  }

  /** The Worker as it is sent. Refused while a new Worker lacks secrets. */
  async #upload(config: Config, options: Options): Promise<FormData> {
    const file = options["secrets-file"];
    const secrets: Record<string, string> = file === undefined ? {} : JSON.parse(readFileSync(String(file), "utf8"));
    const missing = config.secrets.required.filter((each) => !(each in secrets));
    const { ok: exists } = await this.#fetch("GET", `${this.#ownAccount}/workers/services/${config.name}`);
    if (!exists && missing.length > 0)
      throw new Failure(`The following required secrets have not been set: ${missing.join(", ")}`);
    const metadata = {
      bindings: [
        ...Object.entries(secrets).map(([secret, text]) => ({ name: secret, type: "secret_text", text })),
        ...config.queues.producers.map(({ queue }) => ({ name: queue, type: "queue", queue_name: queue })),
      ],
      annotations: { "workers/tag": options["tag"] },
    };
    const form = new FormData();
    form.set("metadata", JSON.stringify(metadata));
    return form;
  }

  async #askAccount(method: string, path: string, body?: unknown): Promise<unknown> {
    return await this.#ask(method, `${this.#ownAccount}${path}`, body);
  }

  async #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const sent = body === undefined ? null : body instanceof FormData ? body : JSON.stringify(body);
    const response = await this.#fetch(method, path, sent).catch(() => {
      throw new Failure("fetch failed");
    });
    const answer = (await response.json()) as Answer;
    const [first] = answer.errors;
    if (first === undefined) return answer.result;
    throw new Failure(`A request to the Cloudflare API (${path}) failed.\n\n  ${first.message} [code: ${first.code}]`);
  }

  async #fetch(method: string, path: string, body: FormData | string | null = null): Promise<Response> {
    return await fetch(`${this.#base}${path}`, { method, body, headers: { authorization: `Bearer ${this.#token}` } });
  }

  #say(text: string): void {
    this.stdout += `${text}\n`;
  }
}

const readConfig = ({ config }: Options) => JSON.parse(readFileSync(String(config), "utf8")) as Config;

function parse(given: readonly string[]): { words: string[]; options: Options } {
  const words: string[] = [];
  const options: Options = {};
  for (let at = 0; at < given.length; at++) {
    const [, option] = /^--(.+)$/.exec(given[at] ?? "") ?? [];
    if (option === undefined) words.push(given[at] ?? "");
    else options[option] = flags.has(option) ? true : (given[++at] ?? "");
  }
  return { words, options };
}
