import { z } from "zod";
import { advisoryCalls } from "./advisory-calls.ts";
import { asker, refusal, sender, type Ask, type Send } from "./ask.ts";
import { Complaint } from "../launch/complaint.ts";
import { parseJson } from "../launch/given-file.ts";

const moment = z.union([z.string(), z.number()]).transform((given) => new Date(given));
const Account = z.object({
  username: z.string(),
  email: z.string(),
  displayName: z.string().nullable(),
  createdAt: moment,
  lockedAt: moment.nullish(),
  quotaGb: z.number(),
  hasOwnQuota: z.boolean(),
});
const Resigned = z.object({ deleted: z.number(), next: z.number().nullable() });
const Quota = Account.pick({ quotaGb: true, hasOwnQuota: true });
export type Quota = z.infer<typeof Quota>;
export const Agent = z.object({
  id: z.number(),
  name: z.string(),
  lastSeenAt: moment.nullable(),
  drainedAt: moment.nullable(),
  capabilities: z
    .looseObject({
      arches: z.array(z.string()),
      imageTypes: z.array(z.string()),
      testdrives: z.boolean(),
      packageTypes: z.array(z.string()).optional(),
      hasRoom: z.boolean().optional(),
      roots: z.array(z.looseObject({ name: z.string() })).optional(),
    })
    .nullable(),
});
export type Agent = z.infer<typeof Agent>;

const Token = z.object({
  id: z.number(),
  name: z.string(),
  scope: z.string(),
  applianceId: z.number().nullable(),
  createdAt: moment,
  expiresAt: moment.nullable(),
  lastUsedAt: moment.nullable(),
});

const Session = z.object({
  id: z.number(),
  browser: z.string(),
  network: z.string().nullable(),
  createdAt: moment,
  lastUsedAt: moment,
  expiresAt: moment,
});

const AuditEntry = z.object({
  id: z.number(),
  accountId: z.number(),
  username: z.string().nullable(),
  event: z.string(),
  actor: z.string(),
  detail: z.record(z.string(), z.union([z.string(), z.number()])),
  address: z.string().nullable(),
  at: moment,
  count: z.number(),
});

const NamedBuild = z.object({
  id: z.number(),
  name: z.string(),
  version: z.string(),
  imageType: z.string(),
  username: z.string(),
  createdAt: moment,
  completedAt: moment.nullable(),
  /** The reason why the build waits or failed. */
  why: z.string().optional(),
  reason: z.string().optional(),
});
export type NamedBuild = z.infer<typeof NamedBuild>;

const ReadOnlyMode = z.object({ on: z.boolean(), since: moment.nullable() });
export type ReadOnlyMode = z.infer<typeof ReadOnlyMode>;

const DeletionPause = z.object({ paused: z.boolean(), since: moment.nullable() });
export type DeletionPause = z.infer<typeof DeletionPause>;

const Acceptance = z.object({
  username: z.string(),
  baseSystem: z.string(),
  textSha256: z.string(),
  acceptedAt: moment,
  current: z.boolean(),
});

const Health = z.object({
  /** Whether the service makes progress. If not, it still answers. */
  ok: z.boolean(),
  version: z.string(),
  wasm: z.literal(true),
  /** An older service has no reasons until its next deployment. */
  reasons: z.array(z.object({ code: z.string(), message: z.string() })).default([]),
});
const NewAccount = z.object({ username: z.string(), apiKey: z.string(), password: z.string().nullish() });
const Password = z.object({ password: z.string() });
const ApiKey = z.object({ apiKey: z.string() });
const NewAgent = z.object({ id: z.number(), name: z.string(), token: z.string() });
const Files = z.object({ files: z.array(z.object({ path: z.string(), size: z.number() })) });
const Catalogues = z.object({
  catalogues: z.array(
    z.object({
      name: z.string(),
      repositories: z.array(
        z.object({
          name: z.string(),
          url: z.string(),
          state: z.enum(["importing", "ready", "failed"]),
          /** The number of packages in the last successful import. Undefined for an older service. */
          packages: z.number().optional(),
          /**
           * The progress of the running import. Null or undefined if no import reads packages, or for an older service.
           */
          progress: z.object({ packages: z.number(), percent: z.number().nullable() }).nullish(),
          problem: z.string().nullable(),
          importedAt: moment.nullable(),
        }),
      ),
    }),
  ),
});
const WalkCursor = z.object({ column: z.string(), after: z.number() });
type WalkCursor = z.infer<typeof WalkCursor>;
const WalkedPage = z.object({
  changed: z.number(),
  unreadable: z.array(z.object({ column: z.string(), row: z.number() })),
  left: z.number(),
  next: WalkCursor.nullable(),
});
export type AccountRequest = {
  username: string;
  email: string;
  displayName?: string | undefined;
  apiKey?: string | undefined;
  password?: string | undefined;
};

export type AdminClient = ReturnType<typeof adminClient>;

const name = encodeURIComponent;

/** The service's admin routes, each as a function. A refusal is a Complaint with the service's message. */
export function adminClient(url: string, secret: string) {
  const send = sender(url, secret);
  const ask = asker(url, send);
  return {
    url,
    ...watchCalls(url, send),
    ...advisoryCalls(ask),
    accounts: async () => (await ask("GET", "/accounts", z.object({ accounts: z.array(Account) }))).accounts,
    addAccount: (request: AccountRequest) => ask("POST", "/accounts", NewAccount, request),
    apiKey: async (username: string) => (await ask("GET", `/accounts/${name(username)}/api-key`, ApiKey)).apiKey,
    rekey: async (username: string) => (await ask("POST", `/accounts/${name(username)}/rekey`, ApiKey)).apiKey,
    setPassword: async (username: string, password: string | undefined) =>
      (await ask("PUT", `/accounts/${name(username)}/password`, Password, { password })).password,
    removeAccount: (username: string) => ask("DELETE", `/accounts/${name(username)}`, z.unknown()),
    setLock: (user: string, lock: { locked: boolean }) => ask("PUT", `/accounts/${name(user)}/lock`, z.unknown(), lock),
    setOperator: (user: string, role: { operator: boolean }) =>
      ask("PUT", `/accounts/${name(user)}/operator`, z.unknown(), role),
    quota: (username: string) => ask("GET", `/accounts/${name(username)}/quota`, Quota),
    setQuota: (username: string, gb: number | null) => ask("PUT", `/accounts/${name(username)}/quota`, Quota, { gb }),
    tokens: async (username: string) =>
      (await ask("GET", `/accounts/${name(username)}/tokens`, z.object({ tokens: z.array(Token) }))).tokens,
    revokeToken: (id: string) => ask("DELETE", `/tokens/${name(id)}`, z.unknown()),
    sessions: async (username: string) =>
      (await ask("GET", `/accounts/${name(username)}/sessions`, z.object({ sessions: z.array(Session) }))).sessions,
    revokeSessions: (username: string, id: string | undefined) =>
      ask("DELETE", `/accounts/${name(username)}/sessions${id === undefined ? "" : `/${name(id)}`}`, z.unknown()),
    audit: async (query: { account?: string | undefined; before?: string | undefined }) => {
      const given = Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
      return (await ask("GET", `/audit?${new URLSearchParams(given)}`, z.object({ entries: z.array(AuditEntry) })))
        .entries;
    },
    agents: async () => (await ask("GET", "/agents", z.object({ agents: z.array(Agent) }))).agents,
    addAgent: (agent: string) => ask("POST", "/agents", NewAgent, { name: agent }),
    drainAgent: (one: string, duty: { draining: boolean }) =>
      ask("PUT", `/agents/${name(one)}/draining`, z.unknown(), duty),
    removeAgent: (agent: string) => ask("DELETE", `/agents/${name(agent)}`, z.unknown()),
    agreements: async () => (await ask("GET", "/agreements", z.object({ agreements: z.array(Acceptance) }))).agreements,
    readOnly: () => ask("GET", "/read-only", ReadOnlyMode),
    setReadOnly: (mode: { on: boolean }) => ask("PUT", "/read-only", ReadOnlyMode, mode),
    deletions: () => ask("GET", "/deletions", DeletionPause),
    pauseDeletions: () => ask("PUT", "/deletions", DeletionPause, { paused: true }),
    resumeDeletions: () => ask("PUT", "/deletions", DeletionPause, { paused: false }),
    catalogues: async () => (await ask("GET", "/catalogues", Catalogues)).catalogues,
    loadCatalogue: (catalogue: string, content: unknown) =>
      ask("PUT", `/catalogues/${name(catalogue)}`, z.object({ templates: z.number() }), content),
    ...buildCalls(ask),
    ...fileCalls(ask),
    ...keyCalls(ask),
  };
}

/** Processes one page of the stored secrets. The next call begins at `next`. */
function keyCalls(ask: Ask) {
  return {
    walkKeys: (act: "reencrypt" | "rehash", from: WalkCursor | undefined) =>
      ask("POST", `/keys/${act}`, WalkedPage, { from }),
    resign: (after: number) => ask("POST", "/keys/resign", Resigned, { after }),
  };
}

/** The builds of all accounts. */
function buildCalls(ask: Ask) {
  const list = async (path: string) => (await ask("GET", path, z.object({ builds: z.array(NamedBuild) }))).builds;
  return {
    queuedBuilds: () => list("/queue"),
    runningBuilds: () => list("/queue/running"),
    failedBuilds: () => list("/queue/failures"),
    cancelBuild: (id: string) => ask("DELETE", `/queue/${name(id)}`, z.unknown()),
    buildAgain: (id: string) => ask("POST", `/queue/failures/${name(id)}/again`, z.object({ id: z.number() })),
  };
}

function fileCalls(ask: Ask) {
  return {
    repositoryFiles: async (prefix: string) =>
      (await ask("GET", `/repositories?prefix=${encodeURIComponent(prefix)}`, Files)).files,
    putRepositoryFile: (path: string, content: Uint8Array) =>
      ask("PUT", `/repositories/${escaped(path)}`, z.unknown(), content),
    deleteRepositoryFile: (path: string) => ask("DELETE", `/repositories/${escaped(path)}`, z.unknown()),
  };
}

/** The health check that monitoring also reads. A service in trouble answers 503 with the reasons. */
function watchCalls(url: string, send: Send) {
  return {
    health: async () => {
      const found = await send("GET", "/health");
      const health = Health.safeParse(parseJson(found.text));
      if (health.success) return health.data;
      throw new Complaint(refusal({ ...found, url, path: "/health" }));
    },
    metrics: async () => {
      const found = await send("GET", "/metrics");
      if (found.ok) return found.text;
      throw new Complaint(refusal({ ...found, url, path: "/metrics" }));
    },
  };
}

const escaped = (path: string) => path.split("/").map(encodeURIComponent).join("/");
