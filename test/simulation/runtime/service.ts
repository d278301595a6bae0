import { Hono } from "hono";
import { agentApi } from "#agent-api/index";
import { queueGateway } from "#agent-api/queue";
import { Build } from "#objects/build";
import { Events } from "#objects/events";
import { ImageLog } from "#objects/image-log";
import { Mailbox } from "#objects/mailbox";
import { Switchboard } from "#objects/switchboard";
import { Testdrive } from "#objects/testdrive";
import { consume } from "#queues/consume";
import { resumeAllImports } from "#domain/repositories/turns";
import { openDatabase, type Database } from "#storage/db";
import { Actor } from "./actors.ts";
import { SimulatedBucket } from "./bucket.ts";
import { clock } from "./clock.ts";
import { SimulatedDatabase } from "./database.ts";
import { forgetUnsaved } from "./object-storage.ts";
import { Namespace, type Existing, type ObjectClass } from "./objects.ts";
import { consumers, SimulatedQueue } from "./queues.ts";
import { endSolvers } from "./solvers.ts";

/** Variables of a small service. These secrets are used only here. */
const variables = {
  MODE: "embedded",
  BASE_URL: "http://kiln",
  MAX_BUILDS: "8",
  MAX_BUILDS_PER_ACCOUNT: "4",
  MAX_TESTDRIVES: "5",
  MAX_TESTDRIVES_PER_ACCOUNT: "3",
  TESTDRIVE_MINUTES: "4",
  MAX_UPLOAD_MB: "95",
  MAX_FILE_MB: "95",
  MAX_FILES_PER_ACCOUNT: "100",
  MAX_UPLOADS_PER_ACCOUNT: "5",
  MAX_WEBHOOKS_PER_ACCOUNT: "6",
  MAX_REPOSITORIES_PER_ACCOUNT: "50",
  MAX_PACKAGES_PER_ACCOUNT: "100000",
  MAX_REPOSITORY_MB_PER_ACCOUNT: "100",
  ACCOUNT_RATES: "",
  ACCOUNT_QUOTA_GB: "20",
  BODY_SECONDS: "30",
  STORED_PACKAGES_GB: "0",
  KEEP_PREPARED_HOURS: "24",
  LOG_REQUESTS: "0",
  ADMIN_SECRET: "simulated",
  API_KEY_PEPPER: "simulated",
  API_KEY_ENCRYPTION_KEY: "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
  GATEWAY_TOKEN: "simulated-gateway",
  AGENT_TOKEN: "simulated-first",
  ATTESTATION_KEY: "MC4CAQAwBQYDK2VwBCIEIHyTglugB7FQrrplVHWq+nElW9voqX2pn8YF9VIXAwMu",
  ATTESTATION_RETIRED_KEYS: "",
  WITNESSES: "",
  MAIL_URL: "",
  MAIL_FROM: "",
};

/** The chores of the sweep that others wait for. */
const watched = [
  "wakeSilentBuilds",
  "wakeSilentTestdrives",
  "sendOutbox",
  "logPublished",
  "refreshRepositories",
  "resumeImports",
];

/** The chores that remove the leftovers of a crash. */
const cleaning = [
  "forgetReservations",
  "removeExpiredUploads",
  "removeStrayTails",
  "removeStrayContents",
  "removeReleased",
  "abortLostUploads",
  "removeStraySolvs",
  "removeStrayDownloads",
  "removeStrayPackages",
];

/** The Worker with all its bindings. It starts once, and each simulation resets it. */
export class Service {
  readonly database: SimulatedDatabase;
  readonly bucket = new SimulatedBucket();
  readonly jobs = this.#queue("kiln-jobs", 5);
  readonly chores = this.#queue("kiln-chores", 0);
  readonly #deadImports = this.#queue("kiln-dead-imports", 10);
  readonly imports = this.#queue("kiln-imports", 3, this.#deadImports);
  readonly #slowImports = this.#queue("kiln-slow-imports", 3, this.#deadImports);
  readonly #queues = [this.jobs, this.chores, this.imports, this.#slowImports, this.#deadImports];
  readonly objects: Record<"BUILDS" | "TESTDRIVES" | "SWITCHBOARD" | "MAILBOX" | "EVENTS" | "IMAGE_LOG", Namespace>;
  readonly env: Env;
  readonly db: Database;
  readonly #app = new Hono<{ Bindings: Env; Variables: { db: Database } }>();

  constructor(migrations: readonly string[]) {
    this.database = new SimulatedDatabase(migrations);
    const env = {
      ...variables,
      DB: this.database,
      PACKAGES: this.database,
      BLOBS: this.bucket,
      JOBS: this.jobs,
      CHORES: this.chores,
      IMPORTS: this.imports,
      SLOW_IMPORTS: this.#slowImports,
    };
    const objectsOf = (kind: string, ofClass: unknown) => new Namespace(kind, ofClass as ObjectClass, env);
    this.objects = {
      BUILDS: objectsOf("build", Build),
      TESTDRIVES: objectsOf("testdrive", Testdrive),
      SWITCHBOARD: objectsOf("pool", Switchboard),
      MAILBOX: objectsOf("mailbox", Mailbox),
      EVENTS: objectsOf("events", Events),
      IMAGE_LOG: objectsOf("log", ImageLog),
    };
    Object.assign(env, this.objects);
    this.env = env as unknown as Env;
    this.db = openDatabase(this.env);
    this.#app.use(async (c, next) => {
      c.set("db", this.db);
      await next();
    });
    this.#app.route("/agent", agentApi);
    this.#app.route("/client/v4", queueGateway);
  }

  /** Resets everything. */
  reset(): void {
    forgetUnsaved();
    this.database.reset();
    this.bucket.reset();
    for (const queue of this.#queues) queue.reset();
    endSolvers();
    for (const namespace of Object.values(this.objects)) namespace.reset();
    consumers.clear();
  }

  /** All objects that exist, in memory or not. */
  get existing(): Existing[] {
    return Object.values(this.objects).flatMap((namespace) => [...namespace.existing.values()]);
  }

  /** Answers a request. Rejects if its invocation dies. */
  async answer(request: Request): Promise<Response> {
    const context = {
      waitUntil: (work: Promise<unknown>) => void work.catch(() => {}),
      passThroughOnException: () => {},
    };
    return await this.invoke(`${request.method} ${new URL(request.url).pathname}`, async () =>
      this.#app.fetch(request, this.env, context as unknown as ExecutionContext),
    );
  }

  /** Runs work as an invocation of the Worker. */
  async invoke<T>(name: string, work: () => Promise<T>): Promise<T> {
    const actor = new Actor("request", name);
    consumers.add(actor);
    try {
      return await actor.do(work, () => new Error("simulated: the connection was closed"));
    } finally {
      consumers.delete(actor);
    }
  }

  /** The cron trigger: requests the chores. */
  async sweep(kind: "watching" | "cleaning" = "watching"): Promise<void> {
    const at = clock.now;
    const messages = (kind === "watching" ? watched : cleaning).map((chore) => ({ body: { chore, at } }));
    await this.invoke("sweep", () => this.chores.sendBatch(messages)).catch(() => {});
  }

  /** Ends the process: the contents of its memory are lost, and so is every connection. */
  restart(): void {
    for (const object of this.existing) {
      object.actor?.die();
      for (const socket of object.sockets) socket.close(1006);
    }
    for (const actor of consumers) actor.die();
    for (const queue of this.#queues) queue.loseAll();
    endSolvers();
  }

  /** Starts the next process with the messages that were in the previous one's queues. */
  async start(): Promise<void> {
    await this.invoke("start", () => resumeAllImports(this)).catch(() => {});
  }

  #queue(name: string, maxRetries: number, deadLetters?: SimulatedQueue): SimulatedQueue {
    const take = (batch: object) => consume(batch as MessageBatch, this.env);
    return new SimulatedQueue({ name, maxRetries, consume: take, ...(deadLetters && { deadLetters }) });
  }
}
