import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";
import {
  ArtifactName,
  attemptHeader,
  BuildClaimRequest,
  BuildFailed,
  BuildFinished,
  Heartbeat,
  Hello,
  maxLogChunkBytes,
  partDigestHeader,
  TestdriveClaimRequest,
  type BuildClaim,
  type Capabilities,
  type FrozenInput,
  type AgentNotice,
} from "../src/contract.ts";
import {
  aboutArtifact,
  areComplete,
  noArtifacts,
  sha256,
  uploadedFile,
  type Answer,
  type FakeArtifacts,
} from "./fake-artifacts.ts";
import { fileAt } from "./support/frozen-input.ts";

export const agentToken = "agent-token-for-tests";

/** One build, as the fake Worker sees it. */
export interface FakeBuild {
  claim: BuildClaim;
  status: "queued" | "running" | "finished" | "failed" | "released";
  /** The heartbeat's answer. */
  cancel: boolean;
  beats: Heartbeat[];
  log: string;
  artifacts: FakeArtifacts;
  finished: BuildFinished | null;
  failure: BuildFailed | null;
}

export type FakeWorker = Awaited<ReturnType<typeof startFakeWorker>>;

/**
 * The Worker's agent API over real HTTP, in memory: follows src/lib/contract and refuses anything that violates it.
 *
 * @param buildsAfter the number before the first build's; the user of a guest depends on its build's number
 */
export async function startFakeWorker({ buildsAfter = 0 } = {}) {
  const worker = new Fake(buildsAfter);
  const server = createServer((request, response) => void worker.answer(request, response));
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    if (request.headers.authorization !== `Bearer ${agentToken}`) return socket.destroy();
    sockets.handleUpgrade(request, socket, head, (ws) => worker.sockets.add(ws));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(worker, {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of worker.sockets) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

interface Trouble {
  path: RegExp;
  /** A status to return, or "drop": closes the connection after reading the request. */
  answer: number | "drop";
  times: number;
}

class Fake {
  readonly builds = new Map<number, FakeBuild>();
  readonly sockets = new Set<WebSocket>();
  /** The capabilities that the agent reported with each claim. */
  readonly claimedWith: Capabilities[] = [];
  /** All claims, including those whose answer is lost. */
  readonly claims: BuildClaimRequest[] = [];
  readonly testdriveClaims: TestdriveClaimRequest[] = [];
  readonly calls: string[] = [];
  readonly hellos: Hello[] = [];
  /** Returns prepared roots with other bytes than those that were shared. */
  spoilPrepared = false;
  messages: { leaseId: string; body: string }[] = [];
  readonly acked: string[] = [];
  readonly retried: string[] = [];
  /** Requests for packages, with their attempt tokens. */
  readonly downloads: { path: string; token: string | undefined }[] = [];
  readonly #troubles: Trouble[] = [];
  #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  queueBuild(input: FrozenInput, more: Partial<BuildClaim> = {}): FakeBuild {
    const buildId = ++this.#count;
    const claim = {
      buildId,
      attempt: 1,
      token: `attempt-${buildId}-1`,
      timeLimitMs: 600_000,
      input,
      earlierPhases: [],
      ...more,
    };
    const build: FakeBuild = {
      claim,
      status: "queued",
      cancel: false,
      beats: [],
      log: "",
      artifacts: noArtifacts(),
      finished: null,
      failure: null,
    };
    this.builds.set(buildId, build);
    return build;
  }

  send(body: unknown): void {
    const leaseId = `lease-${++this.#count}`;
    this.messages.push({ leaseId, body: Buffer.from(JSON.stringify(body)).toString("base64") });
  }

  notify(message: AgentNotice): void {
    for (const socket of this.sockets) socket.send(JSON.stringify(message));
  }

  trouble(path: RegExp, answer: Trouble["answer"], times = 1): void {
    this.#troubles.push({ path, answer, times });
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://fake");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    this.calls.push(`${request.method} ${url.pathname}`);
    if (url.pathname === "/agent/builds/claim") {
      this.claims.push(BuildClaimRequest.parse(JSON.parse(Buffer.concat(chunks).toString())));
    }
    if (url.pathname === "/agent/testdrives/claim") {
      this.testdriveClaims.push(TestdriveClaimRequest.parse(JSON.parse(Buffer.concat(chunks).toString())));
    }
    const trouble = this.#troubles.find((each) => each.times > 0 && each.path.test(url.pathname));
    if (trouble !== undefined) {
      trouble.times--;
      if (trouble.answer === "drop") return void request.socket.destroy();
    }
    if (trouble === undefined && this.#isPackage(url.pathname, request.headers)) {
      return void response.end(fileAt(locationOf(url.pathname)));
    }
    const prepared = this.#preparedAt(url.pathname);
    if (trouble === undefined && prepared !== undefined) {
      const sent = this.spoilPrepared ? Buffer.from("spoilt") : prepared;
      return void response.writeHead(200, { [partDigestHeader]: sha256(prepared) }).end(sent);
    }
    const call = { url, body: Buffer.concat(chunks), headers: request.headers, method: request.method ?? "" };
    const [status, answer] =
      trouble === undefined ? this.#route(call) : [trouble.answer as number, { error: "trouble" }];
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }

  /** A root that a build has shared. */
  #preparedAt(path: string): Buffer | undefined {
    const key = /^\/agent\/builds\/\d+\/prepared\/([0-9a-f]{64})$/.exec(path)?.[1];
    const giver = [...this.builds.values()].find(
      ({ finished }) => finished?.prepared?.key === key && key !== undefined,
    );
    return giver && uploadedFile(giver.artifacts.prepared);
  }

  /** Catalogue repositories are public. Uploaded packages are only for agents. */
  #isPackage(path: string, headers: IncomingMessage["headers"]): boolean {
    const isUsers = /^\/agent\/builds\/\d+\/packages\//.test(path);
    if (!isUsers && !path.startsWith("/repositories/tiny/")) return false;
    const token = headers[attemptHeader];
    this.downloads.push({ path, token: typeof token === "string" ? token : undefined });
    return !isUsers || headers.authorization === `Bearer ${agentToken}`;
  }

  #route(call: Call): Answer {
    if (call.headers.authorization !== `Bearer ${agentToken}`) return [401, { error: "unknown agent" }];
    try {
      return this.#known(call) ?? [404, { error: "no such route" }];
    } catch (error) {
      return [400, { error: String(error) }];
    }
  }

  #known(call: Call): Answer | undefined {
    const { pathname } = call.url;
    if (pathname.endsWith("/messages/pull")) return this.#pull(json(call));
    if (pathname.endsWith("/messages/ack")) return this.#ack(json(call));
    if (pathname === "/agent/hello") {
      this.hellos.push(Hello.parse(json(call)));
      return [200, { agentId: 1, name: "a1", endedLeases: 0 }];
    }
    if (pathname === "/agent/builds/claim") return this.#claim(BuildClaimRequest.parse(json(call)).capabilities);
    if (pathname === "/agent/testdrives/claim") return [200, { testdrive: null }];
    const about = /^\/agent\/builds\/(\d+)\/(.+)$/.exec(pathname);
    const build = this.builds.get(Number(about?.[1]));
    if (build === undefined) return undefined;
    const isCurrent = build.status === "running" && call.headers[attemptHeader] === build.claim.token;
    return isCurrent ? this.#about(build, about?.[2] ?? "", call) : [410, { error: "late attempt" }];
  }

  #pull(request: { batch_size: number }): Answer {
    const pulled = this.messages.splice(0, request.batch_size);
    const messages = pulled.map(({ leaseId, body }) => ({
      lease_id: leaseId,
      body,
      metadata: { "CF-Content-Type": "json" },
    }));
    return [200, { success: true, errors: [], result: { messages } }];
  }

  #ack(request: { acks: { lease_id: string }[]; retries: { lease_id: string }[] }): Answer {
    this.acked.push(...request.acks.map((each) => each.lease_id));
    this.retried.push(...request.retries.map((each) => each.lease_id));
    return [200, { success: true, errors: [], result: {} }];
  }

  #claim(can: Capabilities): Answer {
    this.claimedWith.push(can);
    const { imageTypes, hasRoom } = can;
    const build = [...this.builds.values()].find(
      (each) => hasRoom !== false && each.status === "queued" && imageTypes.includes(each.claim.input.imageType),
    );
    if (build !== undefined) build.status = "running";
    return [200, { build: build?.claim ?? null }];
  }

  #about(build: FakeBuild, verb: string, call: Call): Answer | undefined {
    const [, artifact, rest = ""] = /^artifacts\/([^/]+)(?:\/(.+))?$/.exec(verb) ?? [];
    if (artifact !== undefined) return aboutArtifact(build.artifacts[ArtifactName.parse(artifact)], rest, call);
    switch (verb) {
      case "heartbeat":
        build.beats.push(Heartbeat.parse(json(call)));
        return [200, { cancel: build.cancel }];
      case "log":
        return putLog(build, call);
      case "finish":
        if (!areComplete(build.artifacts)) return [409, { error: "an artifact is missing" }];
        build.finished = BuildFinished.parse(json(call));
        build.status = "finished";
        return [200, {}];
      case "fail":
        build.failure = BuildFailed.parse(json(call));
        build.status = "failed";
        return [200, {}];
      case "release":
        build.status = "released";
        return [200, {}];
      default:
        return undefined;
    }
  }
}

/**
 * `/repositories/tiny/main/noarch/a.rpm` and `/agent/builds/7/packages/BLOB/0/a.rpm` → everything after the third
 * segment.
 */
const locationOf = (path: string) => decodeURIComponent(path).split("/").slice(4).join("/");

interface Call {
  url: URL;
  method: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

const json = (call: Call) => JSON.parse(call.body.toString());

function putLog(build: FakeBuild, call: Call): Answer {
  const offset = Number(call.url.searchParams.get("offset"));
  if (call.body.length > maxLogChunkBytes) return [413, { error: "too much" }];
  const have = Buffer.byteLength(build.log);
  if (offset === have) build.log += call.body.toString();
  return [200, { nextOffset: Buffer.byteLength(build.log) }];
}
