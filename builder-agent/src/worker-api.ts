import { WebSocket } from "ws";
import type { z } from "zod";
import type { Config } from "./config.ts";
import {
  attemptHeader,
  BuildClaimAnswer,
  CompletePackageAnswer,
  HeartbeatAnswer,
  HelloAnswer,
  LogAnswer,
  partDigestHeader,
  protocolVersion,
  RebuiltAnswer,
  requestIdHeader,
  StoredPackages,
  TestdriveClaimAnswer,
  UploadState,
  type ArtifactName,
  type BuildClaim,
  type BuildClaimRequest,
  type BuildFailed,
  type BuildFinished,
  type Capabilities,
  type CheckReport,
  type ClaimOnce,
  type CompleteUpload,
  type Heartbeat,
  type Incarnation,
  type OpenUpload,
  type RebuiltImage,
  type StoredPackage,
  type TestdriveClaim,
  type TestdriveClaimRequest,
} from "./contract.ts";
import type { Lease } from "./lease.ts";
import { longTries, okOrRefusal, repeatedClaims, shortTries, withRetry, type Tries } from "./retry.ts";
import { sessionCalls, type SessionApi } from "./session-api.ts";

interface Part {
  number: number;
  sha256: string;
  body: Blob | Uint8Array<ArrayBuffer>;
}

interface PieceId {
  packageId: number;
  /** Counted from 1. */
  piece: number;
}

/**
 * The Worker's agent API, one method per endpoint, with parsed answers. Calls are repeated (retry.ts) until `signal` is
 * aborted. A repeated claim gets the same answer.
 */
export interface WorkerApi extends SessionApi {
  hello(capabilities: Capabilities, signal: AbortSignal): Promise<HelloAnswer>;
  claimBuild(capabilities: Capabilities, signal: AbortSignal): Promise<BuildClaim | null>;
  heartbeat(build: Lease, beat: Heartbeat, signal: AbortSignal): Promise<{ cancel: boolean }>;
  sendLog(build: Lease, offset: number, bytes: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<LogAnswer>;
  artifact(build: Lease, name: ArtifactName, signal: AbortSignal): ArtifactApi;
  /** The archive of a prepared root of this build's appliance. Read the answer's body or cancel it. */
  readPrepared(build: Lease, key: string, signal: AbortSignal): Promise<Response>;
  /** The delta of the image before this one. Read the answer's body or cancel it. */
  readEarlierDelta(build: Lease, signal: AbortSignal): Promise<Response>;
  /** The build's frozen packages that the service may store, and which of them it has. */
  listStored(build: Lease, signal: AbortSignal): Promise<StoredPackage[]>;
  /** A piece of a stored package. Read the answer's body or cancel it. */
  readPiece(build: Lease, piece: PieceId, signal: AbortSignal): Promise<Response>;
  putPiece(build: Lease, piece: PieceId & Omit<Part, "number">, signal: AbortSignal): Promise<void>;
  /** Returns whether it is stored now. */
  completePackage(build: Lease, packageId: number, pieces: number, signal: AbortSignal): Promise<boolean>;
  /** States the image of a rebuild. Returns whether it is the image of the first build. */
  rebuilt(build: Lease, image: RebuiltImage, signal: AbortSignal): Promise<boolean>;
  finish(build: Lease, result: BuildFinished, signal: AbortSignal): Promise<void>;
  fail(build: Lease, failure: BuildFailed, signal: AbortSignal): Promise<void>;
  /** Gives the build back unfinished, so that another agent gets it immediately. */
  release(build: Lease, signal: AbortSignal): Promise<void>;
  /** The headers of a call about claimed work that another module makes: a download. */
  credentials(build: Lease): Record<string, string>;
  /** The image that a testdrive boots, from the byte `from` on. Read the answer's body or cancel it. */
  readImage(testdrive: Lease, from: number, signal: AbortSignal): Promise<Response>;
  claimTestdrive(
    offer: Pick<TestdriveClaimRequest, "vnc" | "machines">,
    signal: AbortSignal,
  ): Promise<TestdriveClaim | null>;
  /** The last screen of a build, as PNG. Undefined if there is none. */
  readScreen(testdrive: Lease, buildId: number, signal: AbortSignal): Promise<Buffer | undefined>;
  /** Sends the results of the checks of an image. */
  sendChecks(testdrive: Lease, report: CheckReport, signal: AbortSignal): Promise<void>;
  /** Sockets are returned before they are connected: listen to "open" and "error". */
  openSocket(): WebSocket;
  openControl(testdrive: Lease): WebSocket;
  openModified(testdrive: Lease): WebSocket;
  openViewer(testdrive: Lease, viewer: string): WebSocket;
  openVisit(testdrive: Lease, visit: { visit: string; protocol: string }): WebSocket;
}

export interface ArtifactApi {
  open(file: z.infer<typeof OpenUpload>): Promise<UploadState>;
  putPart(part: Part): Promise<void>;
  complete(file: CompleteUpload): Promise<void>;
}

/** @param incarnation this process; absent if it claims no work */
export function connectWorker(config: Pick<Config, "url" | "token">, incarnation?: Incarnation): WorkerApi {
  const send: Send = (path, request) => call(config, path, request);
  const dial: Dial = (path, lease, protocol = "") =>
    new WebSocket(`${config.url.replace(/^http/, "ws")}${path}`, protocol === "" ? [] : [protocol], {
      headers: headers(config.token, lease),
      handshakeTimeout: 10_000,
      maxPayload: 1024 * 1024,
    });
  return {
    hello: (capabilities, signal) =>
      send("/agent/hello", {
        json: { capabilities, protocol: protocolVersion, incarnation },
        tries: shortTries(signal),
      }).then(read(HelloAnswer)),
    openSocket: () => dial("/agent/socket"),
    credentials: (build) => headers(config.token, build),
    ...buildCalls(send, incarnation),
    ...testdriveCalls(send, dial, incarnation),
    ...sessionCalls(config.url, (lease) => headers(config.token, lease)),
  };
}

type Send = (path: string, request: Request) => Promise<Response>;
type Dial = (path: string, lease?: Lease, protocol?: string) => WebSocket;

function claimsAt<T>(path: string, { send, answer }: { send: Send; answer: z.ZodType<T> }) {
  const claim = repeatedClaims();
  return (request: object, signal: AbortSignal): Promise<T> => {
    const ask = (one: ClaimOnce) => send(path, { json: { ...request, ...one }, tries: once(signal) });
    return claim((one) => ask(one).then(read(answer)), signal);
  };
}

function buildCalls(send: Send, incarnation: Incarnation | undefined) {
  const about = (build: Lease, verb: string, request: Omit<Request, "lease">) =>
    send(`/agent/builds/${build.id}/${verb}`, { ...request, lease: build });
  const claim = claimsAt("/agent/builds/claim", { send, answer: BuildClaimAnswer });
  return {
    claimBuild: (capabilities, signal) =>
      claim({ capabilities, incarnation } satisfies BuildClaimRequest, signal).then((answer) => answer.build),
    heartbeat: (build, beat, signal) =>
      about(build, "heartbeat", { json: beat, tries: once(signal) }).then(read(HeartbeatAnswer)),
    sendLog: (build, offset, bytes, signal) =>
      about(build, `log?offset=${offset}`, { method: "PUT", body: bytes, tries: shortTries(signal) }).then(
        read(LogAnswer),
      ),
    artifact: (build, name, signal) =>
      artifactCalls(send, build, `/agent/builds/${build.id}/artifacts/${name}`, signal),
    readPrepared: (build, key, signal) =>
      about(build, `prepared/${key}`, { method: "GET", tries: shortTries(signal), timeoutMs: null }),
    readEarlierDelta: (build, signal) =>
      about(build, "earlier-delta", { method: "GET", tries: shortTries(signal), timeoutMs: null }),
    listStored: (build, signal) =>
      about(build, "stored-packages", { method: "GET", tries: shortTries(signal) })
        .then(read(StoredPackages))
        .then((answer) => answer.packages),
    readPiece: (build, { packageId, piece }, signal) =>
      about(build, `stored-packages/${packageId}/${piece}`, {
        method: "GET",
        tries: shortTries(signal),
        timeoutMs: null,
      }),
    putPiece: (build, { packageId, piece, sha256, body }, signal) =>
      about(build, `stored-packages/${packageId}/${piece}`, {
        method: "PUT",
        body,
        partDigest: sha256,
        tries: shortTries(signal),
        timeoutMs: 5 * 60_000,
      }).then(discard),
    completePackage: (build, packageId, pieces, signal) =>
      about(build, `stored-packages/${packageId}`, { json: { pieces }, tries: shortTries(signal), timeoutMs: 60_000 })
        .then(read(CompletePackageAnswer))
        .then((answer) => answer.stored),
    rebuilt: (build, { sha256, size }, signal) =>
      about(build, "rebuilt", { json: { sha256, size }, tries: longTries(signal) })
        .then(read(RebuiltAnswer))
        .then(({ same }) => same),
    finish: (build, result, signal) => about(build, "finish", { json: result, tries: longTries(signal) }).then(discard),
    fail: (build, failure, signal) => about(build, "fail", { json: failure, tries: longTries(signal) }).then(discard),
    release: (build, signal) => about(build, "release", { json: {}, tries: shortTries(signal) }).then(discard),
  } satisfies Partial<WorkerApi>;
}

/** The kinds of checks that this agent supports. Every claim lists them. */
const abilitiesToCheck = { canCheck: true, canRunCommands: true, canCompareScreens: true } as const;

const pathOf = (testdrive: Lease) => `/agent/testdrives/${testdrive.id}`;

function testdriveCalls(send: Send, dial: Dial, incarnation: Incarnation | undefined) {
  const claim = claimsAt("/agent/testdrives/claim", { send, answer: TestdriveClaimAnswer });
  return {
    claimTestdrive: (offer, signal) =>
      claim({ ...offer, incarnation, ...abilitiesToCheck } satisfies TestdriveClaimRequest, signal).then(
        (answer) => answer.testdrive,
      ),
    readImage: (testdrive, from, signal) =>
      send(`${pathOf(testdrive)}/image`, {
        method: "GET",
        lease: testdrive,
        range: `bytes=${from}-`,
        tries: shortTries(signal),
        timeoutMs: null,
      }),
    readScreen: (testdrive, buildId, signal) =>
      send(`${pathOf(testdrive)}/checks/screens/${buildId}`, {
        method: "GET",
        lease: testdrive,
        tries: shortTries(signal),
      }).then(async (answer) => (answer.status === 204 ? undefined : Buffer.from(await answer.arrayBuffer()))),
    sendChecks: (testdrive, report, signal) =>
      send(`${pathOf(testdrive)}/checks`, {
        json: report,
        lease: testdrive,
        tries: longTries(signal),
        timeoutMs: 60_000,
      }).then(discard),
    openControl: (testdrive) => dial(`${pathOf(testdrive)}/control`, testdrive),
    openModified: (testdrive) => dial(`${pathOf(testdrive)}/modified`, testdrive),
    openViewer: (testdrive, viewer) => dial(`${pathOf(testdrive)}/viewers/${encodeURIComponent(viewer)}`, testdrive),
    openVisit: (testdrive, { visit, protocol }) =>
      dial(`${pathOf(testdrive)}/visits/${encodeURIComponent(visit)}/socket`, testdrive, protocol),
  } satisfies Partial<WorkerApi>;
}

function artifactCalls(send: Send, build: Lease, path: string, signal: AbortSignal): ArtifactApi {
  const tries = longTries(signal);
  return {
    open: (file) => send(path, { json: file, lease: build, tries }).then(read(UploadState)),
    putPart: (part) =>
      send(`${path}/parts/${part.number}`, {
        method: "PUT",
        body: part.body,
        partDigest: part.sha256,
        lease: build,
        tries,
        timeoutMs: 5 * 60_000,
      }).then(discard),
    complete: (file) => send(`${path}/complete`, { json: file, lease: build, tries, timeoutMs: 60_000 }).then(discard),
  };
}

interface Request {
  method?: "GET" | "PUT";
  json?: unknown;
  body?: Blob | Uint8Array<ArrayBuffer>;
  lease?: Lease;
  partDigest?: string;
  range?: string;
  tries: Tries;
  /** Null for no limit, as for a download. */
  timeoutMs?: number | null;
}

async function call(config: Pick<Config, "url" | "token">, path: string, request: Request): Promise<Response> {
  const { json, body = json === undefined ? null : JSON.stringify(json), tries, timeoutMs = 15_000 } = request;
  const method = request.method ?? "POST";
  return await withRetry(async () => {
    const answer = await fetch(config.url + path, {
      method,
      headers: { ...headers(config.token, request.lease), ...more(request) },
      body,
      redirect: "error",
      signal: timeoutMs === null ? tries.signal : AbortSignal.any([tries.signal, AbortSignal.timeout(timeoutMs)]),
    });
    return await okOrRefusal(`${method} ${path}`, answer);
  }, tries);
}

const once = (signal: AbortSignal): Tries => ({ attempts: 1, baseDelayMs: 0, maxDelayMs: 0, signal });

const headers = (token: string, lease?: Lease): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  ...(lease && { [attemptHeader]: lease.token }),
  ...(lease?.requestId !== undefined && { [requestIdHeader]: lease.requestId }),
});

function more(request: Request): Record<string, string> {
  return {
    ...(request.json === undefined ? {} : { "content-type": "application/json" }),
    ...(request.body === undefined ? {} : { "content-type": "application/octet-stream" }),
    ...(request.partDigest === undefined ? {} : { [partDigestHeader]: request.partDigest }),
    ...(request.range === undefined ? {} : { range: request.range }),
  };
}

const read =
  <T>(schema: z.ZodType<T>) =>
  async (answer: Response): Promise<T> =>
    schema.parse(await answer.json());

/** The connection is free for the next call only when the body was read. */
const discard = async (answer: Response): Promise<void> => void (await answer.arrayBuffer());
