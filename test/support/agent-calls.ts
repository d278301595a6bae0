/** Every call of the agent API, and the work that each call is about. */
import { checkReport } from "./check-report.ts";
import { bytesOf, sha256, type FakeAgent } from "./fake-agent.ts";

export const key = "a".repeat(64);

/** Work that an agent holds, with everything that calls about it need. */
export type Held = { id: number; token: string };

/** The agents and their work. */
export interface Work {
  holder: FakeAgent;
  /** Another agent, which holds a build and a session of another account. */
  neighbour: FakeAgent;
  build: Held & { past: string; done: Held; package: string; content: string };
  session: Held;
  theirs: { build: Held; session: Held };
  ended: Held;
}

export type Call = { path: string; method: string; json?: unknown; body?: string; headers?: Record<string, string> };
type Row = Omit<Call, "path" | "method"> & {
  path: (about: Work["build"] & { session: number }) => string;
  /** The holder's answer: the call is authorized, whatever its result. */
  held: number;
};

const socket = { headers: { upgrade: "websocket" } };

/** Calls about a build, keyed by route as the API declares it; `ends`: the call ends the attempt; `done`: the answer about a finished build. */
export const buildCalls: Record<string, Row & { ends?: true; done?: number }> = {
  "GET /builds/:id/earlier-delta": { path: ({ id }) => `/builds/${id}/earlier-delta`, held: 404 },
  "GET /builds/:id/prepared/:key": { path: ({ id }) => `/builds/${id}/prepared/${key}`, held: 200 },
  "GET /builds/:id/contents/:blobId": { path: ({ id, content }) => `/builds/${id}/contents/${content}`, held: 200 },
  "GET /builds/:id/packages/:blobId/:number/:fileName": {
    path: (build) => `/builds/${build.id}/${build.package}`,
    held: 200,
  },
  "GET /builds/:id/stored-packages": { path: ({ id }) => `/builds/${id}/stored-packages`, held: 200 },
  // The build needs no such package.
  "GET /builds/:id/stored-packages/:packageId/:piece": {
    path: ({ id }) => `/builds/${id}/stored-packages/999999/1`,
    held: 404,
  },
  "PUT /builds/:id/stored-packages/:packageId/:piece": {
    path: ({ id }) => `/builds/${id}/stored-packages/999999/1`,
    body: "part",
    headers: { "content-length": "4", "x-kiln-sha256": sha256(bytesOf("part")) },
    held: 404,
  },
  "POST /builds/:id/stored-packages/:packageId": {
    path: ({ id }) => `/builds/${id}/stored-packages/999999`,
    json: { pieces: 1 },
    held: 404,
  },
  "POST /builds/:id/heartbeat": {
    path: ({ id }) => `/builds/${id}/heartbeat`,
    json: { phase: "Installing software", percent: 1, message: "" },
    held: 200,
  },
  // The build is no rebuild.
  "POST /builds/:id/rebuilt": { path: ({ id }) => `/builds/${id}/rebuilt`, json: { sha256: key, size: 1 }, held: 410 },
  "PUT /builds/:id/log": { path: ({ id }) => `/builds/${id}/log?offset=0`, body: "a line", held: 200 },
  "POST /builds/:id/artifacts/:name": {
    path: ({ id }) => `/builds/${id}/artifacts/image`,
    json: { size: 4, fileName: "image.bin" },
    held: 200,
  },
  "PUT /builds/:id/artifacts/:name/parts/:number": {
    path: ({ id }) => `/builds/${id}/artifacts/image/parts/1`,
    body: "part",
    headers: { "content-length": "4", "x-kiln-sha256": sha256(bytesOf("part")) },
    held: 200,
  },
  "POST /builds/:id/artifacts/:name/complete": {
    path: ({ id }) => `/builds/${id}/artifacts/files/complete`,
    json: { size: 4, partsDigest: key, md5: "a".repeat(32), sha1: "a".repeat(40), sha256: key },
    held: 409,
  },
  "POST /builds/:id/finish": {
    path: ({ id }) => `/builds/${id}/finish`,
    json: { fileName: "a.iso", rawSize: 1, compressed: false, installed: [], steps: [], builder: "9" },
    held: 409,
    // An agent that has lost the answer repeats the call.
    done: 200,
  },
  "POST /builds/:id/fail": {
    path: ({ id }) => `/builds/${id}/fail`,
    json: { kind: "error", reason: "a test" },
    held: 200,
    ends: true,
  },
  "POST /builds/:id/release": { path: ({ id }) => `/builds/${id}/release`, json: {}, held: 200, ends: true },
};

export const sessionCalls: Record<string, Row & { ended?: number }> = {
  "GET /testdrives/:id/image": { path: ({ session }) => `/testdrives/${session}/image`, held: 200 },
  "GET /testdrives/:id/control": { path: ({ session }) => `/testdrives/${session}/control`, ...socket, held: 101 },
  // The session's object does not know this viewer, visit or question: it also answers 410, with its own text.
  "GET /testdrives/:id/viewers/:viewer": {
    path: ({ session }) => `/testdrives/${session}/viewers/plain-x`,
    ...socket,
    held: 410,
  },
  "GET /testdrives/:id/visits/:visit/body": {
    path: ({ session }) => `/testdrives/${session}/visits/x/body`,
    held: 410,
  },
  "GET /testdrives/:id/visits/:visit/socket": {
    path: ({ session }) => `/testdrives/${session}/visits/x/socket`,
    ...socket,
    held: 410,
  },
  "POST /testdrives/:id/visits/:visit/answer": {
    path: ({ session }) => `/testdrives/${session}/visits/x/answer`,
    body: "",
    held: 410,
  },
  // For a while after the session ends, its own agent can still read its disk.
  "GET /testdrives/:id/modified": {
    path: ({ session }) => `/testdrives/${session}/modified`,
    ...socket,
    held: 101,
    ended: 101,
  },
  // The boot in the screenshot may take longer than the session.
  "POST /testdrives/:id/screen": {
    path: ({ session }) => `/testdrives/${session}/screen`,
    body: "",
    held: 204,
    ended: 204,
  },
  // No check of this session compares a screen.
  "GET /testdrives/:id/checks/screens/:build": {
    path: ({ session }) => `/testdrives/${session}/checks/screens/1`,
    held: 204,
  },
  // The claim of this session has no checks.
  "POST /testdrives/:id/checks": {
    path: ({ session }) => `/testdrives/${session}/checks`,
    json: checkReport([{ outcome: "passed", seen: "", seconds: 1 }]),
    held: 400,
  },
  "POST /testdrives/:id/modified/:request": {
    path: ({ session }) => `/testdrives/${session}/modified/x`,
    body: "{}",
    held: 410,
  },
};

/** Calls about the agent itself. They return the caller's own data, or hand out work. */
export const ownCalls: Record<string, Omit<Call, "method">> = {
  "GET /socket": { path: "/socket" },
  ...Object.fromEntries(
    ["/hello", "/builds/claim", "/testdrives/claim"].map((path) => [`POST ${path}`, { path, json: {} }]),
  ),
};
