import { spawn } from "node:child_process";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, expect, it } from "vitest";
import { noNotes, note } from "../../src/run/failure.ts";
import { advance, heartbeatOf, startProgress } from "../../src/run/progress.ts";
import { withoutSecrets } from "../../src/run/secrets.ts";
import { Heartbeat } from "../../src/contract.ts";
import { eachLine } from "../../src/guest/pipe.ts";
import { startHeartbeat } from "../../src/heartbeat.ts";
import { openLines } from "../../src/lines.ts";
import { startFakeWorker } from "../fake-worker.ts";
import { inScenario, silent, temporaryDir } from "../support/agent-place.ts";
import { frozenInput } from "../support/frozen-input.ts";
import { startClaimed } from "../support/started-build.ts";
import { worstOutput } from "../support/worst-output.ts";

const mib = 2 ** 20;
/** An agent that sends no heartbeat for this long loses its builds. */
const leaseMs = 30_000;

/** Reads output as a build does. */
async function readAll(output: Buffer): Promise<void> {
  let notes = noNotes;
  let progress = startProgress([], 0);
  const lines = openLines((line) => {
    notes = note(notes, line);
    progress = advance(progress, { type: "line", line, at: 1 });
  });
  for (let at = 0; at < output.length; at += 65_536) await lines.take(output.subarray(at, at + 65_536));
  lines.end();
}

describe("a build whose scripts print the worst output", () => {
  it("leaves its agent time for heartbeats, and succeeds", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const flood = Object.values(worstOutput).map((make) => make(256 * 1024));
    const secrets = ["EXEC: [passwd geheim", " ".repeat(100_000), "https://tux:geheim@a.example/"].join("\n");
    const input = inScenario("flood", frozenInput());
    const description = { ...input.description, flood: `${flood.join("\n")}\n${secrets}\n` };
    using delay = monitorEventLoopDelay();
    delay.enable();

    const { build, running } = await startClaimed(worker, state.path, { ...input, description });
    await running.done;

    expect(build.failure).toBeNull();
    expect(build.status).toBe("finished");
    // Earlier, each line of 64 KiB blocked the agent for 7 s.
    expect(delay.max / 1e6).toBeLessThan(leaseMs);
    expect(build.log).toContain("more bytes of this line are not shown");
    expect(build.log).toContain("(21/21) Installing: hello-1.1-1.noarch");
    expect(build.log).not.toContain("geheim");
  });
});

describe("the worst output of a script", () => {
  it("is read and masked in linear time", async () => {
    const before = process.cpuUsage();
    for (const make of Object.values(worstOutput)) await readAll(Buffer.from(make(mib)));
    for (const unit of ["a", "x://", "x://a", "EXEC: [", "EXEC: [passwd", "a@"])
      withoutSecrets(unit.repeat((2 * mib) / unit.length));
    // An idle machine needs one second. In quadratic time, one of these would take half an hour.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(100);
  });

  it.each([
    ["sizes that are not numbers", "Overall download size: 1.2.3 MiB. After x additional ... B will be used"],
    [
      "huge sizes",
      `Overall download size: ${"9".repeat(400)} TiB. After x additional ${"9".repeat(400)} B will be used`,
    ],
    [
      "units named like an object's properties",
      "Overall download size: 1 constructor. After x additional 1 valueOf will be used",
    ],
    ["packages named like an object's properties", "(1/1) Installing: constructor"],
  ])("leaves a heartbeat that the Worker accepts: %s", (_, text) => {
    const lines = [
      "Overall download size: 1 B. After x additional 9 B will be used",
      text,
      "(1/2) Installing: __proto__",
    ];
    const progress = lines.reduce(
      (state, line) => advance(state, { type: "line", line: `[ DEBUG   ]: 1 | bootstrap: ${line}`, at: 1 }),
      startProgress([], 0),
    );
    expect(Heartbeat.safeParse(heartbeatOf(progress))).toMatchObject({ success: true });
  });

  it("does not block heartbeats of the same process", async () => {
    const sentAt: number[] = [];
    await using heart = startHeartbeat({
      beat: () => ({ phase: "Creating the image", percent: 1, message: "" }),
      send: async () => (sentAt.push(performance.now()), { cancel: false }),
      onStop: silent,
      log: silent,
      everyMs: 20,
    });
    const writer = `
      const { worstOutput } = await import(${JSON.stringify(new URL("../support/worst-output.ts", import.meta.url).href)});
      for (const make of Object.values(worstOutput)) process.stdout.write(make(2 ** 20) + "\\n");`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", writer], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const seen = { lines: 0, bytes: 0 };
    heart.nudge();
    sentAt.length = 0;
    const begun = performance.now();

    await eachLine(child.stdout, 2 ** 30, (line) => {
      seen.lines++;
      seen.bytes += line.length;
    });

    const at = [begun, ...sentAt, performance.now()];
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(seen.lines).toBeGreaterThan(1000);
    // Earlier, an unfinished line of 64 KiB took 7 s, without a heartbeat in between.
    expect(Math.max(...gaps)).toBeLessThan(leaseMs);
    expect(sentAt.length).toBeGreaterThan(3);
  });
});
