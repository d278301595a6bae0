import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { openImageCache } from "../../src/image-cache.ts";
import type { Lease } from "../../src/lease.ts";
import { Snapshots } from "../../src/snapshot/snapshots.ts";
import { makeDrives } from "../../src/testdrive/disk.ts";
import type { Machine } from "../../src/testdrive/machine.ts";
import { getSandbox } from "../../src/testdrive/session-sandbox.ts";
import { makeSessionDir } from "../../src/testdrive/session-dir.ts";
import { eventually, temporaryDir } from "../support/agent-place.ts";
import { standIn } from "../support/stand-in.ts";
import { writeRememberingDisk } from "./remembering-guest.ts";

const buildId = 7;
const image = { fileName: "a.tar.gz", size: 1, sha256: "a".repeat(64), rawSize: 1024 * 1024, compressed: true };
let nextId = 500;

/** Gives the snapshot's machine the usual priority: on a busy host it would otherwise wait until all other tests have ended. */
const withoutWaiting = `/usr/bin/chrt "$1" "$2" true && shift 2 && exec "$@"`;

export interface PlaceOptions {
  snapshots?: "on" | "off";
  says?: string;
  bootMs?: number;
  cacheBytes?: number;
  /** The Worker does not take pictures. */
  refusesScreens?: boolean;
}

/** An agent's state directory with one cached image, and sessions started from it on real QEMUs. */
export async function makePlace({
  snapshots = "on",
  says,
  bootMs,
  cacheBytes = 1e9,
  refusesScreens,
}: PlaceOptions = {}) {
  const state = await temporaryDir();
  await standIn(state.path, "chrt", withoutWaiting);
  const stopping = new AbortController();
  const { signal } = stopping;
  const logged: string[] = [];
  const cacheDir = join(state.path, "cache");
  const cache = await openImageCache(cacheDir, cacheBytes);
  await writeRememberingDisk(join(state.path, "disk"), says);
  (await cache.put(buildId, image.sha256, join(state.path, "disk"), "raw")).release();
  const limits = { quietMs: 300, ...(bootMs && { bootMs }) };
  const config = { stateDir: state.path, snapshots };
  const log = (event: string) => void logged.push(event);
  const screens: { id: number; png: Buffer }[] = [];
  const sendScreen = ({ id }: Lease, png: Uint8Array<ArrayBuffer>) => {
    if (refusesScreens) return Promise.reject(new Error("410"));
    screens.push({ id, png: Buffer.from(png) });
    return Promise.resolve();
  };
  const made = new Snapshots({ config, cache, api: { sendScreen }, log, signal, limits });

  /** Starts a session of the build as runTestdrive does. */
  async function startSession(change: Partial<Machine> = {}, wantsScreen = false) {
    const testdriveId = nextId++;
    const dir = await makeSessionDir(state.path, testdriveId);
    const held = await cache.find(buildId, image.sha256);
    if (!held) throw new Error("the image is gone");
    const drives = await makeDrives({ image: held, imageType: "oem" }, dir, signal);
    const usual = { accel: "tcg", memoryMb: 64, hasNetwork: false, seed: [], diskBytes: 1e9, vnc: null } as const;
    const { enclosed } = await getSandbox();
    const machine = { ...usual, testdriveId, drives, image: held.path, enclosed, ...change };
    const claim = { buildId, imageType: "oem", image, wantsScreen, testdriveId, token: "token" } as const;
    const qemu = await made.start({ claim, image: held, machine, dir, start: { onEvent: () => {}, signal } });
    const console = () => readFile(dir.file("serial.log"), "latin1");
    return {
      qemu,
      console,
      strike: (key: string) => qemu.execute("send-key", { keys: [{ type: "qcode", data: key }] }),
      async says(words: string) {
        let output = "";
        await eventually(`the guest says ${JSON.stringify(words)}`, () => {
          void console().then((text) => (output = text));
          return output.includes(words);
        });
      },
      async [Symbol.asyncDispose]() {
        await qemu[Symbol.asyncDispose]();
        held.release();
        await dir[Symbol.asyncDispose]();
      },
    };
  }

  return {
    path: state.path,
    cacheDir,
    logged,
    screens,
    stopping,
    snapshots: made,
    startSession,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await made.settled();
      await cache.idle();
      await state[Symbol.asyncDispose]();
    },
  };
}
