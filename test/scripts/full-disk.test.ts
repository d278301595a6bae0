import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { ownPort } from "../../builder-agent/test/support/ports.ts";
import { DiskRoom } from "../../scripts/launch/disk-room.ts";
import type { Statement } from "../../scripts/launch/control.ts";
import { startEmbedded } from "../../scripts/launch/embedded.ts";
import { tinyBundle } from "./tiny-service.ts";

const folder = mkdtempSync(join(tmpdir(), "kiln-full-disk-"));
const port = ownPort(0);
let service: Awaited<ReturnType<typeof startEmbedded>>;
let said: string[] = [];

beforeAll(async () => {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "none", folder]);
  vi.spyOn(process.stderr, "write").mockImplementation((line) => (said.push(String(line)), true));
  service = await startEmbedded({
    bundle: tinyBundle(folder),
    modulesFolder: folder,
    host: "127.0.0.1",
    port,
    stateDirectory: folder,
    bindings: {},
    outsideCidrs: [],
  });
});

afterAll(async () => {
  rmSync(join(folder, "ballast"), { force: true });
  await service.stop();
  vi.restoreAllMocks();
  execFileSync("umount", ["--lazy", folder]); // a workerd that is ending may still have a file open
  rmSync(folder, { recursive: true });
});

it("reports whether there is room, and tells the terminal when that changes", () => {
  const { bavail, bsize } = statfsSync(folder);
  said = [];

  expect(new DiskRoom(folder, bavail * bsize).answer().status).toBe(204);
  const { answer } = new DiskRoom(folder, bavail * bsize + 2 ** 20);

  expect([answer().status, answer().status]).toEqual([507, 507]);
  expect(said).toHaveLength(1);
});

const nothing = async () => [];

it("gives back the room of its ballast when others have taken the rest", async () => {
  const disk = join(folder, "small");
  mkdirSync(disk);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=40m", "none", disk]);
  onTestFinished(() => void execFileSync("umount", [disk]));

  clearInterval(await new DiskRoom(disk, 2 ** 20).watch({ batch: nothing }));
  expect(readdirSync(disk)).toEqual(["ballast"]);
  spawnSync("dd", ["if=/dev/zero", `of=${join(disk, "other")}`, "bs=4k"]);
  clearInterval(await new DiskRoom(disk, 2 ** 20).watch({ batch: nothing }));

  expect(readdirSync(disk)).toEqual(["other"]);
  const { bavail, bsize } = statfsSync(disk);
  expect(bavail * bsize).toBe(16 * 2 ** 20);
});

it("keeps the database's log while the disk is full, and lets it grow again if it is lost", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const done: string[] = [];
  const batch = vi.fn(async ([first]: readonly Statement[]) => {
    done.push(first?.sql.slice(0, 6) ?? "");
    return [];
  });
  const { bavail, bsize } = statfsSync(folder);
  const passes = async () => {
    done.length = 0;
    await vi.advanceTimersByTimeAsync(2_000);
    return done;
  };

  const watch = await new DiskRoom(folder, bavail * bsize + 2 ** 20).watch({ batch });
  expect(done).toEqual(["DROP T", "DROP T"]);
  expect(await passes()).toEqual(["SELECT"]);
  batch.mockRejectedValueOnce(new Error("SQLITE_FULL"));
  expect(await passes()).toEqual([]);
  expect(await passes()).toEqual(["DROP T", "DROP T"]);

  clearInterval(watch);
  vi.useRealTimers();
});

it("reads a database without one free byte on its disk, more often than its log has pages", async () => {
  spawnSync("dd", ["if=/dev/zero", `of=${join(folder, "ballast")}`, "bs=4k"]);
  expect(statfsSync(folder).bavail).toBe(0);

  const statuses = new Set<number>();
  for (let query = 0; query < 1200; query += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    statuses.add(answer.status);
    await answer.arrayBuffer();
  }

  expect([...statuses]).toEqual([200]);
});
