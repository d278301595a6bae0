import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { vi } from "vitest";
import { attemptHeader, type ClaimOnce, type TestdriveClaim, type TestdriveReport } from "#lib/contract/index";
import { testdriveObject } from "#domain/testdrives/testdrive";
import { Configuration } from "#lib/configuration/stored";
import type { Build } from "#storage/builds";
import { openDatabase } from "#storage/db";
import { appliances, builds } from "#storage/schema";
import { addTestdrive, findTestdrive, saveTestdrive, type Testdrive } from "#storage/testdrives";
import { visit, type Client } from "./client.ts";
import { readXml } from "./xml.ts";

export const db = openDatabase(env);

/** A build with an image, of a new appliance with 512 MB of memory. */
export async function bootableBuild(owner: Client, overrides: Partial<Build> = {}): Promise<Build> {
  const now = new Date();
  const [appliance] = await db
    .insert(appliances)
    .values({
      accountId: owner.accountId,
      name: "Kiosk",
      arch: "x86_64",
      baseSystem: "tiny",
      uuid: crypto.randomUUID(),
      version: "0.0.1",
      imageType: "oem",
      configuration: Configuration.parse({
        users: [],
        locale: { keyboardLayout: "english-us", language: "en", timezone: "UTC" },
        settings: { memorySizeMb: 512, diskSizeMb: 1024 },
      }),
      estimatedRawMb: 1,
      estimatedCompressedMb: 1,
      createdAt: now,
      lastEditedAt: now,
    })
    .returning();
  if (!appliance) throw new Error("no appliance");
  const values = {
    accountId: owner.accountId,
    applianceId: appliance.id,
    version: "0.0.1",
    imageType: "oem" as const,
    status: "finished" as const,
    inputSha256: "a".repeat(64),
    downloadToken: crypto.randomUUID(),
    imageKey: "builds/0/image-1",
    fileName: "Kiosk.x86_64-0.0.1.oem.tar.gz",
    fileSize: 1000,
    rawSize: 5000,
    compressed: true,
    sha256: "b".repeat(64),
    createdAt: now,
    ...overrides,
  };
  const [build] = await db.insert(builds).values(values).returning();
  if (!build) throw new Error("no build");
  return build;
}

/** A claimed session from the point of view of its user and its agent. */
export interface Drive {
  id: number;
  uid: string;
  /** Path of its page. */
  page: string;
  /** URL of its guest's web server, if it has a network. */
  web?: string;
  vnc: { host: string; port: string; password: string };
  claim: TestdriveClaim;
}

/** Sends the user's POST and, while that waits, the agent's claim. */
export async function startDrive(
  owner: Client,
  vnc: object | null = { host: "192.0.2.7", port: 5901 },
  params: Record<string, string> = {},
): Promise<Drive> {
  const build = await bootableBuild(owner);
  const posted = owner.post("/testdrives", { build_id: build.id, ...params });
  const claim = await until(() => claimOf(build, vnc));
  const { testdrive } = await readXml(await posted);
  const web = testdrive.web_url;
  const id = Number(testdrive.id);
  const uid = (await findTestdrive(db, id))?.uid ?? "";
  return { id, uid, page: new URL(testdrive.url).pathname, web, vnc: testdrive.server.vnc, claim };
}

/** Starts a session with a running machine. */
export async function runningDrive(owner: Client, params = {}): Promise<Drive & { control: Wire }> {
  const drive = await startDrive(owner, undefined, params);
  const control = await openControl(drive);
  report(control, { type: "ready" });
  await untilRowIs(drive, "running");
  return { ...drive, control };
}

/** An ended session that no agent ever had. */
export async function endedTestdrive({ accountId }: Client, buildId: number): Promise<number> {
  const row = { accountId, buildId, pageToken: crypto.randomUUID(), wakeAt: new Date() };
  const added = await addTestdrive(db, row, { all: 1e6, perAccount: 1e6 });
  if (!added) throw new Error("no testdrive");
  await saveTestdrive(db, added.uid, { state: "ended" });
  return added.id;
}

/** Waits until the row has this state. The row is changed last. */
export const untilRowIs = (drive: { id: number }, state: Testdrive["state"]) =>
  until(async () => ((await findTestdrive(db, drive.id))?.state === state ? true : undefined));

async function claimOf(build: Build, vnc: object | null): Promise<TestdriveClaim | undefined> {
  const { testdrive } = await (await claimTestdrive(vnc)).json<{ testdrive: TestdriveClaim | null }>();
  if (testdrive && testdrive.buildId !== build.id) throw new Error("a testdrive of another test was waiting");
  return testdrive ?? undefined;
}

/** @param once identifies the claim if it is repeated; older agents do not send it */
export const claimTestdrive = (
  vnc: object | null = null,
  token: string = env.AGENT_TOKEN,
  once: ClaimOnce = {},
): Promise<Response> =>
  visit("/agent/testdrives/claim", {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ vnc, ...once }),
  });

export const statusOf = async ({ page }: Drive) =>
  (await visit(`${page}/state`)).json<{
    state: string;
    message: string;
    secondsLeft: number | null;
    viewers: number;
  }>();

/** One end of a WebSocket. Received messages are queued in order. */
export interface Wire {
  socket: WebSocket;
  next: () => Promise<string | ArrayBuffer>;
  closed: Promise<{ code: number; reason: string }>;
  protocol: string | null;
}

export const dial = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  exports.default.fetch(path.startsWith("https://") ? path : `https://kiln.test${path}`, {
    headers: { upgrade: "websocket", ...headers },
  });

export async function open(path: string, headers?: Record<string, string>): Promise<Wire> {
  const answer = await dial(path, headers);
  if (!answer.webSocket) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return wireOf(answer);
}

/** The client's end of the WebSocket in an answer. */
export function wireOf(answer: Response): Wire {
  const socket = answer.webSocket;
  if (!socket) throw new Error("no WebSocket");
  const came: (string | ArrayBuffer)[] = [];
  const waiting: ((frame: string | ArrayBuffer) => void)[] = [];
  socket.addEventListener("message", ({ data }) => {
    const give = waiting.shift();
    if (give) give(data);
    else came.push(data);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason }));
  });
  socket.binaryType = "arraybuffer";
  socket.accept();
  const next = () => {
    const frame = came.shift();
    return frame === undefined
      ? new Promise<string | ArrayBuffer>((resolve) => waiting.push(resolve))
      : Promise.resolve(frame);
  };
  return { socket, next, closed, protocol: answer.headers.get("sec-websocket-protocol") };
}

const asAgent = (claim: TestdriveClaim) => ({
  authorization: `Bearer ${env.AGENT_TOKEN}`,
  [attemptHeader]: claim.token,
});

export const openControl = ({ id, claim }: Drive) => open(`/agent/testdrives/${id}/control`, asAgent(claim));

export const dialAsAgent = ({ id, claim }: Drive, path: string, headers: Record<string, string> = {}) =>
  dial(`/agent/testdrives/${id}/${path}`, { ...asAgent(claim), ...headers });

export const report = ({ socket }: Wire, message: TestdriveReport) => socket.send(JSON.stringify(message));

/** A browser joined with the agent's answer to its order. */
export async function joinedPair(drive: Drive & { control: Wire }, protocol?: string) {
  const browser = await open(`${drive.page}/socket`, protocol ? { "sec-websocket-protocol": protocol } : {});
  const order = JSON.parse(String(await drive.control.next())) as { type: string; viewer: string };
  const agent = await open(`/agent/testdrives/${drive.id}/viewers/${order.viewer}`, asAgent(drive.claim));
  return { browser, agent, order };
}

export const objectOf = (drive: { uid: string }) => testdriveObject(env, drive);

/** Moves the clock that objects read forward, and runs this object's alarm. */
export async function passTime(drive: { uid: string }, ms: number): Promise<void> {
  vi.setSystemTime(Date.now() + ms);
  await runDurableObjectAlarm(objectOf(drive));
}

/**
 * Like `passTime`. Then the agent reports that it is alive, at the stopped clock's time, and the object has received
 * the report.
 */
export async function passTimeAlive(drive: Drive & { control: Wire }, ms: number): Promise<void> {
  await passTime(drive, ms);
  report(drive.control, { type: "alive" });
  const heardAt = () =>
    runInDurableObject(
      objectOf(drive),
      (_, { storage }) => storage.kv.get<{ state: { agentHeardAt?: number } }>("session")?.state.agentHeardAt,
    );
  await until(async () => ((await heardAt()) === Date.now() ? true : undefined));
}

/** Calls `ask` until it returns a value. */
export async function until<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (let i = 0; i < 1000; i++) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await scheduler.wait(10);
  }
  throw new Error("it did not happen in time");
}
