import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { shims } from "../../src/run/kiwi.ts";
import { enclosed, outputOf } from "../../src/process.ts";
import { inRoot } from "../../src/roots/enter.ts";
import { smallRoot } from "../support/fake-root.ts";

const script = `busybox pwd; busybox cat /etc/name; echo
busybox touch /etc/new && echo writable
busybox touch "$1/new" 2>/dev/null || echo shims are read-only
busybox ls "$1/partx" > /dev/null && echo shims are there
[ -e "$2" ] || echo the host is not there
[ -c /dev/loop-control ] && echo loop devices
busybox ls / | busybox tr '\\n' ' '; echo
echo result > result`;

/** The first directory of the shims' path. It is the same in a root, and depends on the checkout. */
const wayToShims = shims.split("/")[1] ?? "";

describe("a builder root", () => {
  it("is what a command sees, with its work directory, the shims and the host's devices", async () => {
    // Not below /dev, because a root sees the host's /dev.
    const dir = mkdtempSync("/var/tmp/kiln-enter-");
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const root = smallRoot(dir);
    const workDir = join(dir, "work");
    mkdirSync(workDir);
    const words = ["sh", "-c", script, "sh", shims, "/var/lib/dpkg"];
    const command = inRoot(root, workDir, ["/bin/busybox", words]);
    const said = await outputOf(...enclosed(...command), AbortSignal.timeout(200_000));
    expect(said.trim().split("\n")).toEqual([
      workDir,
      "builder",
      "writable",
      "shims are read-only",
      "shims are there",
      "the host is not there",
      "loop devices",
      [...new Set([..."bin dev etc proc run sys tmp var".split(" "), wayToShims])].toSorted().join(" "),
    ]);
    expect(readFileSync(join(workDir, "result"), "utf8")).toBe("result\n");
    expect(readdirSync(shims)).not.toContain("new");
    expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(dir);
    expect(execFileSync("losetup", ["--list"], { encoding: "utf8" })).not.toContain(root.file);
  });

  it("is no detour for a command that runs with the host's tools", () => {
    expect(inRoot(undefined, "/work", ["kiwi-ng", ["--version"]])).toEqual(["kiwi-ng", ["--version"]]);
  });
});
