import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { ownPort } from "../../builder-agent/test/support/ports.ts";
import { diskRoom } from "../../scripts/launch/disk-room.ts";
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
  execFileSync("umount", ["--lazy", folder]); // a workerd that ends may still have a file open
  rmSync(folder, { recursive: true });
});

it("says whether there is room, and tells the terminal when that changes", () => {
  const { bavail, bsize } = statfsSync(folder);
  said = [];

  expect(diskRoom(folder, bavail * bsize)().status).toBe(204);
  const room = diskRoom(folder, bavail * bsize + 2 ** 20);

  expect([room().status, room().status]).toEqual([507, 507]);
  expect(said).toHaveLength(1);
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
