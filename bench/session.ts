import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { openViewer, relayWire, tcpWire, wireTo, type Viewer } from "../test/acceptance/support/rfb.ts";
import type { BuiltImage } from "./place.ts";
import { waitUntil } from "./wait.ts";

/** A testdrive, as in the answer to its POST. */
export interface Session {
  id: string;
  url: string;
  server: { vnc: { host: string; port: string; password: string } };
}

export type Wire = Awaited<ReturnType<typeof tcpWire>>;
/** A viewer and its connection. */
export interface Seat {
  wire: Wire;
  viewer: Viewer;
}

export async function postTestdrive({ client, buildId }: BuiltImage): Promise<Session> {
  return (await client.call("POST", "/testdrives", { build_id: buildId })).testdrive;
}

/** Ends a session as the page's button does, and waits until its files are deleted. */
export async function stopSession({ service }: BuiltImage, session: Session): Promise<void> {
  await fetch(`${session.url}/stop`, { method: "POST" });
  const sessions = join(service.stateDir, "agent/testdrives");
  await waitUntil(
    "the session is deleted",
    { seconds: 20, everyMs: 20 },
    () => !readdirSync(sessions).includes(session.id),
  );
}

/** Waits until the serial console of a session asks for a login. */
export async function untilLogin({ service }: BuiltImage, session: Session): Promise<void> {
  const serial = join(service.stateDir, "agent/testdrives", session.id, "serial.log");
  await waitUntil("the machine asks for a login", { seconds: 300, everyMs: 20 }, () =>
    existsSync(serial) ? /login: ?$/m.test(readFileSync(serial, "utf8")) : false,
  );
}

export const untilPicture = (viewer: Viewer) =>
  waitUntil("the screen is not blank", { seconds: 60, everyMs: 5 }, async () => (await viewer.frame()).colours > 1);

export const sitAtRelay = ({ url }: Session) => sit(() => relayWire(`${url.replace(/^http/, "ws")}/socket`));

export const sitAtTcp = ({ server: { vnc } }: Pick<Session, "server">) =>
  sit(() => tcpWire(vnc.host, Number(vnc.port)), vnc.password);

/** Connects to QEMU's Unix socket, which requires no password. */
export const sitAtSocket = (path: string) => sit(() => wireTo({ path }));

/** Connects repeatedly until a VNC server answers. */
function sit(dial: () => Promise<Wire>, password?: string): Promise<Seat> {
  return waitUntil("there is a VNC server", { seconds: 30, everyMs: 5 }, async () => {
    const wire = await dial().catch(() => undefined);
    const viewer = wire && (await openViewer(wire, password).catch(() => undefined));
    if (wire && !viewer) wire.close();
    return wire && viewer && { wire, viewer };
  });
}

/** The program and arguments of a session's QEMU, with paths relative to its directory. */
export function qemuCommand({ service }: BuiltImage, session: Session): { program: string; args: string[] } {
  const cwd = join(service.stateDir, "agent/testdrives", session.id);
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const [program, ...args] = commandIn(pid, cwd);
    if (program?.includes("qemu")) return { program, args };
  }
  throw new Error(`no QEMU runs in ${cwd}`);
}

function commandIn(pid: string, cwd: string): string[] {
  try {
    if (readlinkSync(`/proc/${pid}/cwd`) !== cwd) return [];
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
  } catch {
    return []; // The process has just ended.
  }
}
