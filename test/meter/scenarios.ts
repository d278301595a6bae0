import { runDurableObjectAlarm } from "cloudflare:test";
import { vi } from "vitest";
import { aliveEveryMs, buildLeaseMs, heartbeatEveryMs } from "#lib/contract/index";
import { browserWith, sessionOf } from "../support/browser.ts";
import { objectOfBuild } from "../support/builds.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { listenerOf, type Listener } from "../support/events.ts";
import { createAppliance, createBuild, startBuild } from "../support/factories.ts";
import { bytesOf, type Attempt, type FakeAgent } from "../support/fake-agent.ts";
import { publishedAppliance } from "../support/gallery.ts";
import { unharmed } from "../support/storage-faults.ts";
import { messagesOfSweep, takeChores } from "../support/sweep.ts";
import {
  claimTestdrive,
  joinedPair,
  passTimeAlive,
  report,
  runningDrive,
  statusOf,
  until,
} from "../support/testdrives.ts";
import { imagesWithAdvisories } from "./advisories.ts";
import { meter, sumOf, times, type Use } from "./meter.ts";

export type Name = keyof typeof names;

/** The names of the measured scenarios on the page. */
export const names = {
  idle: "an agent without work, per minute",
  nothing: "an agent that looks for a build and finds none",
  wake: "a build that waits in the queue, per minute",
  start: "starting a build",
  claim: "claiming it",
  minute: "a running build, per minute",
  watched: "the same, with its page open in a browser",
  end: "uploading a small image, and the end",
  part: "each further part of 16 MiB",
  drive: "a testdrive, from its start to its end",
  driveMinute: "a testdrive with its page open, per minute",
  list: "API: the list of ten appliances",
  appliance: "API: an appliance",
  status: "API: whether it can be built",
  progress: "API: a running build",
  add: "API: adding a package",
  front: "page: the front page",
  gallery: "page: the gallery",
  appliances: "page: the list of ten appliances",
  overview: "page: an appliance",
  build: "page: its builds",
  software: "page: its software",
  service: "page: the status of the service",
  sweep: "the chores of a minute, with nothing to do",
  recount: "an image whose advisories have changed since the last day",
} as const;

/** How often an idle agent pulls: 15 s at most, and a quarter less on average (`pollDelayMs`). */
const pullEveryMs = 11_250;
const chunkEveryMs = { unread: 5_000, read: 1_000 };
const minuteMs = 60_000;
/** The events of a build that takes ten minutes. */
const percentsAMinute = 10;

/** Measures everything once. Only these scenarios move the clock. */
export async function measureAll(): Promise<Record<Name, Use>> {
  const world = await theWorld();
  return {
    ...(await ofAgent(world)),
    ...(await ofBuild(world)),
    ...(await ofApi(world)),
    ...(await ofPages(world)),
    ...(await ofTestdrive(world)),
    sweep: await ofSweep(),
    recount: await ofAdvisories(),
  };
}

interface World {
  tux: Client;
  agent: FakeAgent;
  page: ReturnType<typeof browserWith>;
  /** An appliance with a finished build that is published. */
  applianceId: number;
}

/** An account with ten appliances. */
async function theWorld(): Promise<World> {
  const tux = await signedIn();
  const { applianceId } = await publishedAppliance(tux);
  const { agent } = await createBuild(tux);
  for (let n = 2; n < 10; n += 1) await createAppliance(tux);
  return { tux, agent, applianceId, page: browserWith((await sessionOf(tux)).secret) };
}

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

/** Repeats some work for a time. */
async function every(ms: number, forMs: number, work: () => Promise<unknown>): Promise<void> {
  for (let passed = 0; passed < forMs; passed += ms) {
    pass(ms);
    await work();
  }
}

/** The average over several minutes, because some things happen less often. */
async function perMinute(minutes: number, work: (forMs: number) => Promise<void>): Promise<Use> {
  return times(await meter(() => work(minutes * minuteMs)), 1 / minutes);
}

/** Measures the second run, because the first one also fills caches. */
async function again(work: () => Promise<Response | undefined>): Promise<Use> {
  await (await work())?.arrayBuffer();
  return await meter(async () => await (await work())?.arrayBuffer());
}

const pull = ({ token }: FakeAgent) =>
  visit("/client/v4/accounts/any/queues/any/messages/pull", {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: '{"batch_size":5}',
  });

async function ofAgent({ agent }: World) {
  const { webSocket: socket } = await agent.call("GET", "/socket", { headers: { upgrade: "websocket" } });
  if (!socket) throw new Error("no socket");
  socket.accept();
  const ponged = new Promise((resolve) => socket.addEventListener("message", resolve));
  socket.send("ping");
  await ponged;
  const idle = await perMinute(60, async (ms) => {
    await every(pullEveryMs, ms, () => pull(agent));
    // Once an hour, without a wake-up.
    await agent.claims();
    await claimTestdrive(null, agent.token);
  });
  socket.close();
  const nothing = await again(async () => {
    await agent.claims();
    return await pull(agent);
  });
  return { idle, nothing };
}

async function ofBuild({ tux, agent, page }: World) {
  let buildId = 0;
  const waiting = await createAppliance(tux);
  const start = await meter(async () => (buildId = await startBuild(tux, waiting)));
  const object = await objectOfBuild(buildId);
  const wake = await perMinute(4, (ms) => every(30_000, ms, async () => await runDurableObjectAlarm(object)));
  let attempt: Attempt | undefined;
  const claim = await meter(async () => (attempt = await agent.claimsBuild(buildId)));
  if (!attempt) throw new Error("no attempt");
  const work = workOf(attempt, () => runDurableObjectAlarm(object));
  const minute = await perMinute(4, (ms) => work(ms, chunkEveryMs.unread));
  const progress = await again(() => tux.get(`/running_builds/${buildId}`));
  const follower = await follow(page, { buildId, applianceId: waiting });
  const watched = await perMinute(1, (ms) => work(ms, chunkEveryMs.read, follower));
  await follower.closed();
  const end = await meter(async () => {
    await attempt?.uploads(bytesOf("an image"));
    await attempt?.finishes();
    await runDurableObjectAlarm(object);
  });
  return { start, wake, claim, minute, watched, progress, end, part: await ofPart({ tux, agent }) };
}

/** The amount is the same for a part of any size. */
async function ofPart({ tux, agent }: Pick<World, "tux" | "agent">): Promise<Use> {
  const attempt = await agent.claimsBuild(await startBuild(tux, await createAppliance(tux)));
  await attempt.opensUpload();
  const part = await meter(() => attempt.sendsPart(1, new Uint8Array(1000)));
  await attempt.call("fail", { kind: "failed", reason: "The test is over." });
  return part;
}

/**
 * The stream that the page of a build receives. The agent waits for it, so that nothing else arrives at the same time.
 */
interface Follower {
  gotLines: () => Promise<void>;
  gotProgress: () => Promise<void>;
}

/** The calls of an agent during a build: one for each percent, a heartbeat if there is none, and the log. */
function workOf(attempt: Attempt, runAlarm: () => Promise<unknown>) {
  let [percent, offset] = [0, 0];
  const beatMs = Math.min(heartbeatEveryMs, minuteMs / percentsAMinute);
  return async (forMs: number, chunkMs: number, follower?: Follower): Promise<void> => {
    for (let passed = chunkMs; passed <= forMs; passed += chunkMs) {
      pass(chunkMs);
      // The alarm fires when the lease would end, and finds that it was renewed.
      if (passed % buildLeaseMs < chunkMs) await runAlarm();
      const line = `line at ${offset}\n`;
      await attempt.writesLog(offset, line);
      offset += line.length;
      await follower?.gotLines();
      if (passed % beatMs >= chunkMs) continue;
      percent = Math.min(99, percent + 1);
      await attempt.beats({ percent });
      await follower?.gotProgress();
    }
  };
}

/** Reads a stream until it has an event of this kind. */
async function seen(listener: Listener, kind: string): Promise<void> {
  for (let block = await listener.block(); ; block = await listener.block()) {
    if (block === undefined) throw new Error("the stream has ended");
    if (block.startsWith(`event: ${kind}`)) return;
  }
}

/** The page of a running build, with both of its streams. */
async function follow(page: World["page"], { buildId, applianceId }: { buildId: number; applianceId: number }) {
  const at = async (path: string) => listenerOf(bodyOf(await page.get(path, { accept: "text/event-stream" })));
  const [log, live] = [await at(`/builds/${buildId}/log?from=0`), await at(`/appliance/${applianceId}/live`)];
  const gotProgress = async () => {
    await seen(log, "progress");
    await seen(live, "parts");
  };
  await gotProgress();
  return {
    gotLines: () => seen(log, "log"),
    gotProgress,
    closed: async () => void (await Promise.all([log.close(), live.close()])),
  };
}

function bodyOf({ body }: Response): ReadableStream<Uint8Array> {
  if (!body) throw new Error("no body");
  return body;
}

async function ofApi({ tux, applianceId }: World) {
  return {
    list: await again(() => tux.get("/appliances")),
    appliance: await again(() => tux.get(`/appliances/${applianceId}`)),
    status: await again(() => tux.get(`/appliances/${applianceId}/status`)),
    add: await again(() => tux.post(`/appliances/${applianceId}/cmd/add_package`, { name: "busybox" })),
  };
}

async function ofPages({ page, applianceId }: World) {
  return {
    front: await again(() => page.get("/")),
    gallery: await again(() => page.get("/gallery")),
    appliances: await again(() => page.get("/appliances")),
    overview: await again(() => page.get(`/appliance/${applianceId}`)),
    build: await again(() => page.get(`/appliance/${applianceId}/build`)),
    software: await again(() => page.get(`/appliance/${applianceId}/software`)),
    service: await again(() => page.get("/status")),
  };
}

async function ofTestdrive({ tux }: World) {
  let running: Awaited<ReturnType<typeof runningDrive>> | undefined;
  const start = await meter(async () => (running = await runningDrive(tux)));
  if (!running) throw new Error("no testdrive");
  const drive = running;
  await joinedPair(drive); // without a viewer it would end
  const driveMinute = await perMinute(2, async (ms) => {
    for (let passed = 0; passed < ms; passed += aliveEveryMs) {
      await unharmed(() => passTimeAlive(drive, aliveEveryMs));
      // Its page polls twice as often.
      await statusOf(drive);
      await statusOf(drive);
    }
  });
  const end = await meter(async () => {
    report(drive.control, { type: "stopped", reason: "" });
    await until(async () => ((await statusOf(drive)).state === "ended" ? true : undefined));
  });
  return { drive: sumOf([start, end]), driveMinute };
}

async function ofSweep(): Promise<Use> {
  await sweepOnce();
  pass(minuteMs);
  let messages = 0;
  const use = await meter(async () => (messages = await sweepOnce()));
  return { ...use, messages };
}

const countedImages = 500;

/** One of many images, after the service has read a feed. */
async function ofAdvisories(): Promise<Use> {
  const { changed, count } = await imagesWithAdvisories(countedImages);
  await changed();
  return times(await meter(count), 1 / countedImages);
}

/** Returns the number of messages that it took. */
async function sweepOnce(): Promise<number> {
  const messages = await messagesOfSweep();
  for (const message of messages) await takeChores([message]);
  return messages.length;
}
