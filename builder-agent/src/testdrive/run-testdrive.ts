import type { Socket } from "node:net";
import type { Config } from "../config.ts";
import { GuestChecks, type CheckedMachine } from "../checks/check-guest.ts";
import { portsOfChecks, runCommands, visitedPort, type TestdriveClaim, type TestdriveOrder } from "../contract.ts";
import type { DiskRoom } from "../disk-room.ts";
import { chooseAccel } from "../doctor/acceleration.ts";
import type { CachedImage, ImageCache } from "../image-cache.ts";
import { sentenceOf, type Log } from "../log.ts";
import { orAborted } from "../mutex.ts";
import type { EndedDisks } from "../modified/ended-disks.ts";
import { SessionFiles } from "../modified/session-files.ts";
import { leaseOfTestdrive } from "../lease.ts";
import type { SessionApi } from "../session-api.ts";
import type { WorkerApi } from "../worker-api.ts";
import { Control } from "./control.ts";
import { makeDrives, overlayName } from "./disk.ts";
import { answerVisit } from "./guest-web.ts";
import { getImage } from "./image.ts";
import { makeArmFirmware } from "./arm-machine.ts";
import { makeSecureFirmware, secureBootSentence, watchSecureBoot } from "./secure-boot.ts";
import type { Machine } from "./machine.ts";
import { startTpm } from "./tpm.ts";
import { makeSeed } from "./seed.ts";
import type { Snapshots } from "../snapshot/snapshots.ts";
import { startQemu, vncSocket, type Qemu } from "./qemu.ts";
import { makeSessionDir, type SessionDir } from "./session-dir.ts";
import { TcpViewers } from "./qmp-events.ts";
import { join, type ReservedVnc } from "./vnc-port.ts";
import { joinViewer } from "./vnc-tunnel.ts";
import { getSandbox } from "./session-sandbox.ts";

export interface TestdriveParts {
  api: Pick<
    WorkerApi,
    | "sendChecks"
    | "readScreen"
    | "readImage"
    | "openControl"
    | "openViewer"
    | "openVisit"
    | "openModified"
    | keyof SessionApi
  >;
  config: Pick<Config, "stateDir" | "memoryMb" | "accel" | "testdriveDiskGb">;
  cache: ImageCache;
  room: Pick<DiskRoom, "freed" | "fits">;
  snapshots: Pick<Snapshots, "start" | "keep">;
  endedDisks: EndedDisks;
  /** Aborted when the agent stops. */
  signal: AbortSignal;
  log: Log;
}

/** The space that a seeded machine's disk has beyond its image, so that its root can grow, as on a real disk. */
const seedRoom = 1024 ** 3;

/** The end of a session, with a message for its owner. */
class SessionOver extends Error {}

/**
 * Hosts one testdrive until it powers off, is stopped, loses the Worker, or the agent stops. Never rejects: errors are
 * reported to the Worker and logged. When it settles, process, overlay and port are released.
 */
export async function runTestdrive(
  claim: TestdriveClaim,
  reserved: ReservedVnc | null,
  parts: TestdriveParts,
): Promise<void> {
  const session = openSession(claim, reserved, parts);
  let reason: string;
  try {
    reason = await host(session);
  } catch (error) {
    reason = sentenceOf(session.over.signal.aborted ? session.over.signal.reason : error);
  } finally {
    session.end("The session is over.");
    await reserved?.release();
  }
  parts.log("testdrive ended", { reason });
  await session.control.finish(reason);
}

interface Session {
  claim: TestdriveClaim;
  reserved: ReservedVnc | null;
  parts: TestdriveParts;
  control: Control;
  /** Aborted with the first reason for the end. */
  over: AbortController;
  end: (reason: string) => void;
  /** Settles when QEMU's VNC socket accepts connections. */
  ready: PromiseWithResolvers<SessionDir & Pick<Qemu, "endpoints">>;
}

function openSession(claim: TestdriveClaim, reserved: ReservedVnc | null, parts: TestdriveParts): Session {
  const over = new AbortController();
  const ready = Promise.withResolvers<SessionDir & Pick<Qemu, "endpoints">>();
  const end = (reason: string) => over.abort(new SessionOver(reason));
  const stop = () => end("The builder agent is stopping.");
  if (parts.signal.aborted) stop();
  parts.signal.addEventListener("abort", stop);
  over.signal.addEventListener("abort", () => parts.signal.removeEventListener("abort", stop));

  const lease = leaseOfTestdrive(claim);
  const control = new Control({
    dial: () => parts.api.openControl(lease),
    onOrder: (order) => obey(order, session),
    onLost: end,
  });
  const session = { claim, reserved, parts, control, over, end, ready };
  return session;
}

function obey(order: TestdriveOrder, session: Session): void {
  if (order.type === "stop") return session.end(order.reason);
  const { claim, parts, over, ready } = session;
  const lease = leaseOfTestdrive(claim);
  if (order.type === "visit") return void visitGuest(order, session);
  ready.promise
    .then((dir) =>
      joinViewer({
        viewer: order.viewer,
        dial: () => parts.api.openViewer(lease, order.viewer),
        vncPath: dir.socket(vncSocket),
        signal: over.signal,
      }),
    )
    .catch((error: unknown) => parts.log("viewer failed", { viewer: order.viewer, reason: sentenceOf(error) }));
}

type VisitOrder = Extract<TestdriveOrder, { type: "visit" }>;

/** Does not log the error if the visitor has left. */
async function visitGuest({ visit, request }: VisitOrder, { claim, parts, over, ready }: Session): Promise<void> {
  const { endpoints } = await ready.promise;
  const endpoint = endpoints.get(visitedPort) ?? null;
  const testdrive = leaseOfTestdrive(claim);
  await answerVisit({ visit, request, testdrive, endpoint, api: parts.api, signal: over.signal }).catch(() => {});
}

/** Returns why the session ended. */
async function host(session: Session): Promise<string> {
  const { claim, reserved, parts, control } = session;
  const { signal } = session.over;
  const startedAt = performance.now();
  control.report({ type: "preparing", message: "Fetching the image" });
  const accel = await chooseAccel(parts.config, claim.arch);
  const { enclosed } = await getSandbox();
  await using dir = await makeSessionDir(parts.config.stateDir, claim.testdriveId);
  using image = await getImage(claim, {
    ...parts,
    signal,
    onMessage: (message) => control.report({ type: "preparing", message }),
  });
  control.report({ type: "preparing", message: "Starting the virtual machine" });
  const firmware = await firmwareOf(claim, dir);
  await using tpm = claim.hasSecureBoot && firmware ? await startTpm(dir, signal) : undefined;
  const machine = { ...(await machineOf(session, { image, dir, accel, enclosed })), firmware, tpm: tpm?.args };
  const early = enclosed ? [] : ((await reserved?.handOver()) ?? []);
  // No one can ask for the files that checks have changed.
  await using files = claim.checks
    ? undefined
    : await SessionFiles.open({ claim, overlay: dir.file(overlayName), image, ...parts });
  const onRestart = () => {
    parts.log("testdrive restarted", { reason: "its kernel was stuck" });
    control.say("The machine did not start because its host is busy. It has been restarted.");
  };
  const readScreen = (buildId: number) => parts.api.readScreen(leaseOfTestdrive(claim), buildId, signal);
  using checked = checksOf(claim, { dir, accel, signal, readScreen });
  const secureBoot = claim.hasSecureBoot && machine.firmware && watchSecureBoot((message) => control.say(message));
  const onConsole = (chunk: Buffer) => {
    checked?.onConsole(chunk);
    if (secureBoot) secureBoot(chunk);
  };
  const start = { onEvent: countTcpViewers(control), signal, onRestart, onConsole };
  const boot = () => startQemu(machine, dir, start);
  // Checks need to see the image boot, as it does on any machine.
  await using qemu = await (checked ? boot() : parts.snapshots.start({ claim, image, machine, dir, start }));
  if (qemu.clients) reserved?.passOn(qemu.clients);
  for (const client of early) if (reserved) void joinEarly(client, reserved);

  files?.attach(qemu);
  control.report({ type: "ready" });
  if (claim.hasSecureBoot) control.say(secureBootSentence(machine));
  session.ready.resolve({ ...dir, endpoints: qemu.endpoints });
  parts.log("testdrive ready", { ms: Math.round(performance.now() - startedAt) });
  if (!checked) return await orAborted(qemu.ended, signal);
  const keep = (running: Qemu) => parts.snapshots.keep({ claim, image, machine, dir }, running, signal);
  await parts.api.sendChecks(leaseOfTestdrive(claim), await checked.report(qemu, { start: boot, keep }), signal);
  return "The checks have ended.";
}

async function machineOf(
  { claim, reserved, parts, over: { signal } }: Session,
  { image, dir, ...host }: { image: CachedImage; dir: SessionDir } & Pick<Machine, "accel" | "enclosed">,
): Promise<Machine> {
  const growsBy = claim.seed ? seedRoom : 0;
  const checks = claim.checks ?? claim.continuesAfter;
  return {
    testdriveId: claim.testdriveId,
    arch: claim.arch,
    ...host,
    memoryMb: Math.min(claim.memoryMb, parts.config.memoryMb),
    hasNetwork: claim.hasNetwork ?? false,
    ports: checks && portsOfChecks(checks),
    hasCommands: checks && runCommands(checks),
    drives: await makeDrives({ image, imageType: claim.imageType, growsBy }, dir, signal),
    seed: claim.seed ? await makeSeed(claim.seed, dir, signal) : [],
    image: image.path,
    diskBytes: Math.round(parts.config.testdriveDiskGb * 1e9),
    vnc: reserved && { bindHost: reserved.bindHost, port: reserved.port, password: claim.password },
  };
}

async function firmwareOf({ arch, hasSecureBoot }: TestdriveClaim, dir: SessionDir): Promise<string[] | undefined> {
  if (arch === "aarch64") return await makeArmFirmware(dir);
  return hasSecureBoot ? await makeSecureFirmware(dir) : undefined;
}

/** Undefined if the session is for a person. */
const checksOf = (
  { checks, testdriveId }: TestdriveClaim,
  machine: Omit<CheckedMachine, "checks" | "testdriveId">,
): GuestChecks | undefined => checks && new GuestChecks({ ...machine, checks, testdriveId });

function countTcpViewers(control: Control) {
  const viewers = new TcpViewers();
  return (event: Parameters<TcpViewers["note"]>[0]) => {
    const count = viewers.note(event);
    if (count !== undefined) control.report({ type: "tcp_viewers", count });
  };
}

/** Joins a client that connected before QEMU listened. Clients may connect as soon as they know the address. */
function joinEarly(client: Socket, { bindHost, port }: ReservedVnc): Promise<void> {
  return join(client, { host: bindHost === "0.0.0.0" ? "127.0.0.1" : bindHost, port });
}
