import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { lockState } from "../../scripts/launch/state-lock.ts";
import { emptyFolder } from "./folder.ts";

/** Another launcher: a process that holds the lock. */
async function holder(state: string) {
  const script = `
    import { lockState } from "${import.meta.dirname}/../../scripts/launch/state-lock.ts";
    const lock = await lockState(process.argv[1]);
    process.on("SIGTERM", () => { lock.announceStopping(); setTimeout(() => process.exit(), 3_000); });
    process.on("exit", () => console.log(performance.timeOrigin + performance.now()));
    console.log("locked");
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script, "--", state]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

describe("lockState", () => {
  it("refuses, by any path, a directory in use, and names the launcher", async () => {
    const state = emptyFolder();
    const link = `${emptyFolder()}/link`;
    symlinkSync(state, link);
    const other = await holder(state);
    await expect(lockState(link)).rejects.toThrow(new RegExp(`in use by a running Kiln \\(process ${other.pid}\\)`));
  });

  it("waits for a launcher that is stopping", async () => {
    const state = emptyFolder();
    const other = await holder(state);
    other.kill("SIGTERM");
    const endedAt = text(other.stdout).then(Number);
    const lock = await lockState(state);
    const lockedAt = performance.timeOrigin + performance.now();
    expect(await endedAt).toBeGreaterThan(0);
    expect(lockedAt).toBeGreaterThan(await endedAt);
    lock.release();
  });

  it("is free immediately after its holder was killed", async () => {
    const state = emptyFolder();
    const other = await holder(state);
    other.kill("SIGKILL");
    await once(other, "exit");
    const lock = await lockState(state);
    lock.release();
  });

  it("does not confuse two state directories", async () => {
    await holder(emptyFolder());
    const lock = await lockState(emptyFolder());
    lock.release();
  });
});
