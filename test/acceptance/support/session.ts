import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RestClient } from "./rest.ts";
import { openViewer, relayWire, type Viewer } from "./rfb.ts";
import { until } from "./service.ts";

export const loginPrompt = /login: ?$/m;

/** A testdrive that a viewer watches through the relay. */
export interface Session {
  id: string;
  /** The URL of its page. */
  url: string;
  viewer: Viewer;
  /** The agent's directory for the session while it runs. */
  dir: string;
  /** The output of the serial console. */
  serial: () => string;
  /** Stops it like the button on its page; resolves when the machine has ended. */
  stop: () => Promise<void>;
}

/** Watches a newly started testdrive, up to its login prompt. */
export async function watchSession(stateDir: string, { id, url }: { id: string; url: string }): Promise<Session> {
  const viewer = await until("the relay is open", 60, () =>
    relayWire(`${url.replace(/^http/, "ws")}/socket`)
      .then((wire) => openViewer(wire))
      .catch(() => undefined),
  );
  const dir = join(stateDir, "agent/testdrives", id);
  const file = join(dir, "serial.log");
  const serial = () => (existsSync(file) ? readFileSync(file, "utf8").replaceAll("\r", "") : "");
  // An emulated Debian needs a fifth of this alone, and much longer next to other machines.
  await until("the serial console asks for a login", 3000, () => loginPrompt.test(serial()));
  const stop = async () => {
    viewer.close();
    await fetch(`${url}/stop`, { method: "POST" });
    await until("its machine is gone", 60, () => !existsSync(dir));
  };
  return { id, url, viewer, dir, serial, stop };
}

/** Starts a testdrive of a build and watches it. A machine with a network neither uses nor makes snapshots. */
export async function startSession(
  { rest, stateDir }: { rest: RestClient; stateDir: string },
  params: { build_id: string; network?: "on" },
): Promise<Session> {
  return await watchSession(stateDir, (await rest.call("POST", "/testdrives", params)).testdrive);
}
