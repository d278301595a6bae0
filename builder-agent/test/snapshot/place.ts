import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestdriveClaim } from "../../src/contract.ts";
import { openImageCache } from "../../src/image-cache.ts";
import type { Lease } from "../../src/lease.ts";
import { Snapshots } from "../../src/snapshot/snapshots.ts";
import { makeDrives } from "../../src/testdrive/disk.ts";
import type { Machine } from "../../src/testdrive/machine.ts";
import { getSandbox } from "../../src/testdrive/session-sandbox.ts";
import { makeSessionDir } from "../../src/testdrive/session-dir.ts";
import { eventually, temporaryDir } from "../support/agent-place.ts";
import { standIn } from "../support/stand-in.ts";
import { bootSector } from "../testdrive/session.ts";

const buildId = 7;
const image = { fileName: "a.tar.gz", size: 1, sha256: "a".repeat(64), rawSize: 1024 * 1024, compressed: true };
let nextId = 500;

/**
 * Gives the snapshot's machine normal priority. On a busy host it would otherwise wait until all other tests have
 * ended.
 */
const withoutWaiting = `/usr/bin/chrt "$1" "$2" true && shift 2 && exec "$@"`;

export interface PlaceOptions {
  snapshots?: "on" | "off";
  says?: string;
  bootMs?: number;
  cacheBytes?: number;
  /** The Worker does not take pictures. */
  refusesScreens?: boolean;
}

type Asked = Pick<TestdriveClaim, "wantsScreen" | "continuesAfter">;

/** An agent's state directory with one cached image, and sessions started from the image on real QEMUs. */
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
  async function startSession(change: Partial<Machine> = {}, asked: Asked = {}) {
    const testdriveId = nextId++;
    const dir = await makeSessionDir(state.path, testdriveId);
    const held = await cache.find(buildId, image.sha256);
    if (!held) throw new Error("the image is gone");
    const drives = await makeDrives({ image: held, imageType: "oem" }, dir, signal);
    const usual = { accel: "tcg", memoryMb: 64, hasNetwork: false, seed: [], diskBytes: 1e9, vnc: null } as const;
    const { enclosed } = await getSandbox();
    const machine = { ...usual, testdriveId, drives, image: held.path, enclosed, ...change };
    const claim = { buildId, imageType: "oem", image, testdriveId, token: "token", ...asked } as const;
    const boot = { claim, image: held, machine, dir };
    const qemu = await made.start({ ...boot, start: { onEvent: () => {}, signal } });
    const console = () => readFile(dir.file("serial.log"), "latin1");
    return {
      qemu,
      console,
      keep: () => made.keep(boot, qemu, signal),
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

/**
 * A guest of one sector. It prints "login: " on the serial console and then answers each key with a line: the key, the
 * number of keys so far (kept in memory), and the key before it (kept in the disk's second sector; 0 if there was
 * none).
 */
const program = [
  "31c0 8ed8 8ec0 bc007c", //                          ds = es = 0; sp = 0x7c00
  "be007e c7041000 c744020100 c744040080 c744060000", // a request for the disk: one sector, at 0x8000,
  "66c744080100000066c7440c00000000", //               the second one
  "c606007f30", //                                     count = '0'
  "bd807c 8a4600 84c0 7406 e83a00 45 ebf3", //         print the text at 0x7c80
  "b400 cd16 88c1 e82e00", //                          key: wait for one; print it
  "fe06007f a0007f e82400", //                         print ++count
  "be007e b280 b442 cd13 a00080 e81500", //            read the sector; print its first byte
  "880e0080 be007e b280 b80043 cd13", //               write the key there
  "b00a e80200 ebc9", //                               print the line's end; go to key
  "baf803 ee c3", //                                   print: to the first serial port
  "6c6f67696e3a2000", //                               "login: "
];

const writeRememberingDisk = (path: string, text = "login: ") =>
  writeFile(path, Buffer.concat([sectorSaying(text), Buffer.alloc(1024 * 1024 - 512)]));

function sectorSaying(text: string): Buffer {
  const sector = bootSector(program.join(""));
  sector.fill(0, 0x80, 0x80 + 8).write(text, 0x80);
  return sector;
}
