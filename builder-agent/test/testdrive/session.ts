import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestdriveClaim } from "../../src/contract.ts";
import { DiskRoom } from "../../src/disk-room.ts";
import { probeKernel } from "../../src/doctor/probe-kernel.ts";
import { openImageCache } from "../../src/image-cache.ts";
import { Snapshots } from "../../src/snapshot/snapshots.ts";
import { EndedDisks } from "../../src/modified/ended-disks.ts";
import { runTestdrive } from "../../src/testdrive/run-testdrive.ts";
import { reserveVnc, type ReservedVnc } from "../../src/testdrive/vnc-port.ts";
import { eventually, silent, temporaryDir } from "../support/agent-place.ts";
import { sessionToken, startFakeService } from "./fake-service.ts";

export const password = "s3cret12";
const mebi = 1024 * 1024;
let nextId = 100;

/** A boot sector with these instructions (hexadecimal). */
export function bootSector(code: string): Buffer {
  const sector = Buffer.alloc(512);
  Buffer.from(code.replaceAll(" ", ""), "hex").copy(sector);
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

async function makeDisk(dir: string, sector: Buffer, size: number): Promise<{ archive: Buffer; rawSize: number }> {
  await mkdir(join(dir, "probe"));
  const disk = Buffer.alloc(size);
  sector.copy(disk);
  await writeFile(join(dir, "probe/probe.raw"), disk);
  execFileSync("tar", ["--sparse", "-czf", "probe.tar.gz", "probe"], { cwd: dir });
  return { archive: await readFile(join(dir, "probe.tar.gz")), rawSize: size };
}

export interface SessionOptions {
  ports?: readonly [number, number];
  /**
   * The boot sector. Default: the doctor's probe kernel, which prints "KILN" on the serial console and keeps the
   * machine running.
   */
  sector?: Buffer;
  /** The bytes that the service sends instead of the disk. */
  image?: Buffer;
  change?: (claim: TestdriveClaim) => TestdriveClaim;
  testdriveDiskGb?: number;
  diskBytes?: number;
  /** The name of the state directory in the test's directory. A long name proves that no socket path is truncated. */
  stateName?: string;
  /** Default: off. */
  snapshots?: "on" | "off";
  /** How long the disk is kept after the end. */
  keptMinutes?: number;
  /** Default: 0. */
  minFreeGb?: number;
}

const sendScreen = () => Promise.reject(new Error("no snapshot is made"));

/** One testdrive on a real QEMU, with the Worker's side of it in this process. */
export async function startSession(options: SessionOptions = {}) {
  const { ports, sector = probeKernel(), image, change = (claim) => claim, stateName = "s", keptMinutes = 0 } = options;
  const { testdriveDiskGb = 1, diskBytes = mebi, minFreeGb = 0 } = options;
  const dir = await temporaryDir();
  const stateDir = join(dir.path, stateName);
  const service = await startFakeService();
  const { archive, rawSize } = await makeDisk(dir.path, sector, diskBytes);
  service.image = image ?? archive;
  const cache = await openImageCache(join(stateDir, "cache"), 1e9);
  const stopping = new AbortController();
  const { signal } = stopping;
  const snapshots = new Snapshots({
    config: { stateDir, snapshots: options.snapshots ?? "off" },
    cache,
    api: { sendScreen },
    signal,
    log: silent,
  });
  const config = { stateDir, memoryMb: 512, accel: "tcg" as const, testdriveDiskGb };
  const reserved: ReservedVnc | null = await reserveVnc({ vnc: ports ? { host: "127.0.0.1", ports } : null });
  const testdriveId = nextId++;
  const claim = change({
    testdriveId,
    token: sessionToken,
    password,
    buildId: 7,
    imageType: "oem",
    memoryMb: 64,
    image: {
      fileName: "probe.tar.gz",
      size: service.image.length,
      sha256: createHash("sha256").update(service.image).digest("hex"),
      rawSize,
      compressed: true,
    },
  });
  const { api } = service;
  const endedDisks = new EndedDisks({ stateDir, keptMinutes, keptGb: 1 });
  const room = new DiskRoom({ config: { stateDir, minFreeGb }, caches: [cache, endedDisks], log: silent });
  const logged: string[] = [];
  const log = (event: string) => void logged.push(event);
  const ended = runTestdrive(claim, reserved, { api, config, cache, room, endedDisks, snapshots, signal, log });
  const path = join(stateDir, "testdrives", String(testdriveId));
  return {
    service,
    stopping,
    logged,
    ended,
    reserved,
    stateDir,
    path,
    ready: () => eventually("ready", () => service.said("ready").length > 0),
    console: () => readFile(join(path, "serial.log"), "utf8").catch(() => ""),
    reason: () => service.said("stopped").map((report) => ("reason" in report ? report.reason : "")),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await ended;
      await service[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}
