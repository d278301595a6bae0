import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startQemu } from "../../src/testdrive/qemu.ts";
import { makeSessionDir } from "../../src/testdrive/session-dir.ts";
import { eventually, processesIn, temporaryDir } from "../support/agent-place.ts";
import { standIn } from "../support/stand-in.ts";

/** Like bubblewrap in its first milliseconds, before its child is set to end with it. */
const beginningBwrap = "sleep 1000 & wait";

/** The session id of a process. Only processes of one session share a terminal. */
const sessionOf = (pid: number | "self") =>
  readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ")[3];

it("ends with all its processes if it is stopped while bubblewrap begins", async () => {
  await using state = await temporaryDir();
  await standIn(state.path, "bwrap", beginningBwrap);
  await using dir = await makeSessionDir(state.path, 7);
  const machine = { testdriveId: 7, accel: "tcg", memoryMb: 64, diskBytes: 1e6, vnc: null } as const;
  const stop = new AbortController();
  const started = startQemu(
    { ...machine, drives: [], seed: [], image: join(state.path, "disk"), enclosed: true, hasNetwork: false },
    dir,
    { onEvent: () => {}, signal: stop.signal },
  );
  const own = () => [...processesIn(join(state.path, "testdrives"))];
  const [child] = await eventually("bubblewrap's child", () => own().find(([, line]) => line.startsWith("sleep")));
  expect(sessionOf(child)).not.toBe(sessionOf("self"));

  stop.abort();

  await expect(started).rejects.toThrow("aborted");
  expect(own()).toEqual([]);
});
