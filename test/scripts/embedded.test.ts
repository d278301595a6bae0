import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { ownPort } from "../../builder-agent/test/support/ports.ts";
import { startEmbedded } from "../../scripts/launch/embedded.ts";
import { descendants, signalAll } from "../../scripts/launch/process-tree.ts";
import { tinyBundle } from "./tiny-service.ts";

const Answer = z.object({ ticks: z.number(), pathname: z.string(), tables: z.number(), from: z.string().optional() });

const folder = mkdtempSync(join(tmpdir(), "kiln-embedded-"));
const port = ownPort(0);
let service: Awaited<ReturnType<typeof startEmbedded>>;
let said = "";

beforeAll(async () => {
  vi.spyOn(process.stderr, "write").mockImplementation((line) => ((said += String(line)), true));
  service = await startEmbedded({
    bundle: tinyBundle(folder),
    modulesFolder: folder,
    host: "127.0.0.1",
    port,
    stateDirectory: folder,
    bindings: {},
    outsideCidrs: [],
    cronEveryMs: 50,
  });
});

afterAll(async () => {
  await service.stop();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const ask = async (path = "/") => Answer.parse(await (await fetch(`http://127.0.0.1:${port}${path}`)).json());
const answered = () => vi.waitFor(() => ask(), { timeout: 20_000, interval: 50 });
const ticked = () => vi.waitFor(async () => expect((await ask()).ticks).toBeGreaterThan(2), { timeout: 20_000 });
const runtimes = () => descendants(process.pid).filter((pid) => /^[^\0]*workerd\0serve\0/.test(commandLine(pid)));

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // gone
  }
}

describe("the embedded service", () => {
  it("has its tables, and cron calls it", async () => {
    expect(await ask()).toMatchObject({ pathname: "/", tables: 1 });
    await ticked();
  });

  it("answers and ticks again each time that workerd was killed", async () => {
    for (let kills = 0; kills < 3; kills++) {
      const before = runtimes();
      expect(before).toHaveLength(1);
      signalAll(before, "SIGKILL");
      await vi.waitFor(() => expect(runtimes()).not.toEqual(before));
      await answered();
      await ticked();
    }
    expect(said).toContain("! The service ended unexpectedly (workerd). It runs again.\n");
  });

  it("comes back when workerd could not start for a while", async () => {
    said = "";
    while (!said.includes("cannot start")) {
      signalAll(runtimes(), "SIGKILL");
      await sleep(5);
    }
    await answered();
    await ticked();
    expect(said).toMatch(
      /! The service is down: workerd cannot start\. Trying again in 1 s; \S+worker\.log says why\.\n/,
    );
    expect(said).toMatch(/! The service runs again\.\n$/);
  });
});
