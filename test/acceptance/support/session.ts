import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { processesAt, processorSeconds } from "./processor-time.ts";
import type { RestClient } from "./rest.ts";
import { openViewer, relayWire, type Viewer } from "./rfb.ts";
import { until } from "./service.ts";

export const loginPrompt = /login: ?$/m;

/** A testdrive that somebody watches through the relay. */
export interface Session {
  id: string;
  /** Its page. */
  url: string;
  viewer: Viewer;
  /** Where the agent has its files as long as it lives. */
  dir: string;
  /** What the serial console has said. */
  serial: () => string;
  /** What its machine has taken of a processor until the serial console asked for a login. */
  loginSeconds: number;
  /** As its page's button does; resolves when the machine is gone. */
  stop: () => Promise<void>;
}

/** Watches a testdrive that was just started, up to its login prompt. */
export async function watchSession(stateDir: string, { id, url }: { id: string; url: string }): Promise<Session> {
  const viewer = await until("the relay is open", 60, () =>
    relayWire(`${url.replace(/^http/, "ws")}/socket`)
      .then((wire) => openViewer(wire))
      .catch(() => undefined),
  );
  const dir = join(stateDir, "agent/testdrives", id);
  const file = join(dir, "serial.log");
  const serial = () => (existsSync(file) ? readFileSync(file, "utf8").replaceAll("\r", "") : "");
  await until("the serial console asks for a login", 800, () => loginPrompt.test(serial()));
  const loginSeconds = processorSeconds(processesAt(dir));
  const stop = async () => {
    viewer.close();
    await fetch(`${url}/stop`, { method: "POST" });
    await until("its machine is gone", 60, () => !existsSync(dir));
  };
  return { id, url, viewer, dir, serial, loginSeconds, stop };
}

/** Starts a testdrive of a build and watches it; a machine with a network starts from no snapshot, and makes none. */
export async function startSession(
  { rest, stateDir }: { rest: RestClient; stateDir: string },
  params: { build_id: string; network?: "on" },
): Promise<Session> {
  return await watchSession(stateDir, (await rest.call("POST", "/testdrives", params)).testdrive);
}
