import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeBlankDisk } from "../../src/guest/job-disk.ts";
import { runMachine } from "../../src/guest/run-guest.ts";
import { eventually, processesIn, temporaryDir } from "../support/agent-place.ts";

interface Wish {
  signal?: AbortSignal;
  limitMs?: number;
  /** A file that does not exist. */
  without?: string;
}

/**
 * Runs a script in place of QEMU. It has the same files and sockets: log 3, status 4, console 5, kernel 6 … result 11.
 */
async function runScript(dir: string, script: string, { signal, limitMs, without }: Wish = {}) {
  const said: { lines: string[]; status: string[] } = { lines: [], status: [] };
  const file = (name: string) => join(dir, name);
  for (const name of ["kernel", "initrd", "root", "job"])
    if (name !== without) writeFileSync(file(name), `the ${name}`);
  await makeBlankDisk(file("scratch"), 1024);
  await makeBlankDisk(file("result"), 1024);
  const run = {
    system: { kernel: file("kernel"), initrd: file("initrd"), root: file("root"), key: "k" },
    job: file("job"),
    scratch: file("scratch"),
    result: file("result"),
    workDir: dir,
    signal: signal ?? new AbortController().signal,
    onLine: (line: string) => void said.lines.push(line),
    onStatus: (word: string, rest: string) => void said.status.push(`${word}=${rest}`),
  };
  await runMachine(["bash", ["-c", script]], run, limitMs);
  return said;
}

const flood = (bytes: number, to: number) => `head -c ${bytes} /dev/zero | tr '\\0' x >&${to};`;
const up = "echo up 6.1 >&4;";

describe("a guest", () => {
  it("has its disks, and reports through its ports", async () => {
    await using dir = await temporaryDir();
    const script = `${up} cat <&6 >&3; echo >&3; cat <&9 >&3; printf made >&11; printf 'job 0' >&4`;
    const said = await runScript(dir.path, script);
    expect(said).toEqual({ lines: ["the kernel", "the job"], status: ["up=6.1", "job=0"] });
    expect(readFileSync(join(dir.path, "result"), "latin1").replaceAll("\0", "")).toBe("made");
  });

  it("cannot write to its read-only disks", async () => {
    await using dir = await temporaryDir();
    await runScript(dir.path, `${up} echo evil >&6; echo evil >&8; echo evil >&9; true`);
    for (const name of ["kernel", "root", "job"])
      expect(readFileSync(join(dir.path, name), "utf8")).toBe(`the ${name}`);
  });

  it("does not see the agent's environment", async () => {
    await using dir = await temporaryDir();
    const { lines } = await runScript(dir.path, `${up} cat /proc/$$/environ | tr '\\0' '\\n' >&3`);
    expect(lines).toEqual(["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]);
  });

  it.each([
    [
      "panicked",
      "printf '%s\\n' '[ 0.008] Kernel panic - not syncing: no timer' 'Call Trace:' one two '</TASK>' >&5",
      /^the guest ended with exit code 0: \[ 0\.008\] Kernel panic - not syncing: no timer$/,
    ],
    ["was never up", "echo 'kernel panic' >&5", /^the guest ended with exit code 0: kernel panic$/],
    [
      "fails",
      `${up} printf 'one\\ntwo\\nthree\\nfour\\n' >&5; exit 3`,
      /^the guest ended with exit code 3: two three four$/,
    ],
    ["complains", "echo 'qemu: no such machine' >&2; exit 1", /exit code 1: qemu: no such machine$/],
    ["is killed", `${up} kill -KILL $$`, /^the guest ended with killed by SIGKILL: it printed nothing$/],
  ])("that %s is reported with its last lines", async (_, script, why) => {
    await using dir = await temporaryDir();
    await expect(runScript(dir.path, script)).rejects.toThrow(why);
  });

  it("is killed with its children if it does not start in time", async () => {
    await using dir = await temporaryDir();
    const inside = join(dir.path, "inside");
    const script = `echo waiting >&5; mkdir ${inside}; cd ${inside}; sleep 987 & sleep 987`;
    await expect(runScript(dir.path, script, { limitMs: 500 })).rejects.toThrow("the guest did not start: waiting");
    await eventually("their end", () => processesIn(dir.path).size === 0);
  });

  it("is killed with its children when the build is stopped", async () => {
    await using dir = await temporaryDir();
    const stopping = new AbortController();
    const inside = join(dir.path, "inside");
    const script = `${up} mkdir ${inside}; cd ${inside}; sleep 987 & sleep 987`;
    const running = runScript(dir.path, script, { signal: stopping.signal });
    running.catch(() => {});
    await eventually(
      "both",
      () => [...processesIn(dir.path).values()].filter((words) => words.startsWith("sleep")).length === 2,
    );
    stopping.abort(new Error("cancelled"));
    await expect(running).rejects.toThrow("cancelled");
    await eventually("their end", () => processesIn(dir.path).size === 0);
  });

  it("does not start with a missing file or for a stopped build", async () => {
    await using dir = await temporaryDir();
    await expect(runScript(dir.path, up, { without: "initrd" })).rejects.toThrow(/ENOENT.*initrd/);
    await using other = await temporaryDir();
    const over = runScript(other.path, "touch began", { signal: AbortSignal.abort(new Error("stopped")) });
    await expect(over).rejects.toThrow("stopped");
  });

  it("that writes endlessly fills no memory, and is read completely", async () => {
    await using dir = await temporaryDir();
    const script = `${up} ${flood(5e6, 5)} ${flood(5e6, 3)} echo >&3; ${flood(1e6, 4)} echo >&4; echo job 0 >&4`;
    const { lines, status } = await runScript(dir.path, script);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("more bytes of this line are not shown");
    expect(status.join("").length).toBeLessThan(20_000);
    expect(status).not.toContain("job=0"); // larger than a job's status may be
  });
});
