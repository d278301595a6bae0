import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { startQemu } from "../../src/testdrive/qemu.ts";
import { makeSessionDir } from "../../src/testdrive/session-dir.ts";
import { eventually, processesIn, temporaryDir } from "../support/agent-place.ts";

/** As bubblewrap is for a few milliseconds: its child does not know yet that it must end with it. */
const beginningBwrap = "#!/bin/sh\nsleep 1000 &\nwait\n";

it("ends with all its processes if it is stopped while bubblewrap begins", async () => {
  await using state = await temporaryDir();
  const programs = join(state.path, "programs");
  await mkdir(programs);
  await writeFile(join(programs, "bwrap"), beginningBwrap, { mode: 0o755 });
  vi.stubEnv("PATH", `${programs}:${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  await using dir = await makeSessionDir(state.path, 7);
  const machine = { testdriveId: 7, accel: "tcg", memoryMb: 64, diskBytes: 1e6, vnc: null } as const;
  const stop = new AbortController();
  const started = startQemu(
    { ...machine, drives: [], image: join(state.path, "disk"), enclosed: true, hasNetwork: false },
    dir,
    { onEvent: () => {}, signal: stop.signal },
  );
  const own = () => [...processesIn(join(state.path, "testdrives")).values()];
  await eventually("bubblewrap's child", () => own().some((line) => line.startsWith("sleep")));

  stop.abort();

  await expect(started).rejects.toThrow("aborted");
  expect(own()).toEqual([]);
});
