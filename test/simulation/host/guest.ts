/**
 * Replaces QEMU and the files of a testdrive's host. The agent's `run-testdrive.ts` with its control channel is the
 * real one.
 */
import { createHash } from "node:crypto";
import type { EventEmitter } from "node:events";
import type { TestdriveClaim } from "#lib/contract/index";
import { clock } from "../runtime/clock.ts";
import { wait } from "../runtime/globals.ts";
import { fortuneOfGuest, sessions, type Session } from "../sessions.ts";

interface Lease {
  id: number;
  token: string;
}

interface Source {
  api: { readImage(lease: Lease, from: number, signal: AbortSignal): Promise<Response> };
  config: { name: string };
  signal: AbortSignal;
}

/** Reads the image from the service, like an agent that has not cached it. */
export async function getImage(claim: TestdriveClaim, { api, config, signal }: Source) {
  const { testdriveId: id, token } = claim;
  const session: Session = { id, agent: config.name, token, claimedAt: clock.now };
  sessions.claimed(session);
  try {
    const answer = await api.readImage({ id, token }, 0, signal);
    const sha256 = createHash("sha256")
      .update(await answer.bytes())
      .digest("hex");
    if (sha256 !== claim.image.sha256) sessions.faults.push(`testdrive ${id} gets an image that is not its build's`);
    return { path: "/nowhere", [Symbol.dispose]: () => sessions.left(session) };
  } catch (error) {
    sessions.agentEnds(session);
    sessions.left(session);
    throw error;
  }
}

/** Boots a machine. It runs until it is stopped, or for as long as the seed determines. */
export class Snapshots {
  settled = async () => {};

  async start({ claim, start }: { claim: TestdriveClaim; start: { signal: AbortSignal } }) {
    const { bootSeconds, end, seconds } = fortuneOfGuest(claim.testdriveId);
    const over = new AbortController();
    const signal = AbortSignal.any([start.signal, over.signal]);
    await wait(bootSeconds * 1000, undefined, { signal });
    const session = sessions.of(claim.testdriveId);
    if (end === "does not boot") {
      if (session) sessions.agentEnds(session);
      throw new Error("simulated: the machine does not boot");
    }
    const ended = wait(seconds * 1000, undefined, { signal }).then(() => {
      if (session) sessions.agentEnds(session);
      return "simulated: the machine switched itself off";
    });
    ended.catch(() => {});
    return {
      ended: end === "switches itself off" ? ended : new Promise<string>(() => {}),
      endpoints: new Map(),
      [Symbol.asyncDispose]: async () => over.abort(),
    };
  }
}

interface ViewerCall {
  dial: () => EventEmitter & { terminate(): void };
  signal: AbortSignal;
}

/** The agent's side of a viewer's connection, without a screen. */
export async function joinViewer({ dial, signal }: ViewerCall): Promise<void> {
  if (signal.aborted) return;
  const socket = dial();
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => {}); // "close" follows
  signal.addEventListener("abort", () => socket.terminate(), { once: true });
  await closed;
}

export const chooseAccel = async () => "tcg";
export const getSandbox = async () => ({ enclosed: true });
export const overlayName = "overlay.qcow2";
export const makeDrives = async () => [];
export const makeSessionDir = async () => ({
  file: (name: string) => name,
  socket: (name: string) => name,
  [Symbol.asyncDispose]: async () => {},
});
export const SessionFiles = {
  open: async () => ({ attach: () => {}, [Symbol.asyncDispose]: async () => {} }),
};
