import { spawnSync } from "node:child_process";
import { afterEach, describe, expect, it, vi } from "vitest";
import { canBuild } from "../../scripts/launch/host.ts";
import { projectRoot } from "../../scripts/launch/project.ts";

const nobody = 65_534;

/** The first error line of a start as this user, which ends at its invalid port. */
function firstLine(uid: number, ...options: string[]): string | undefined {
  const words = ["scripts/start.mjs", "--port", "0", ...options];
  return spawnSync(process.execPath, words, { cwd: projectRoot, uid, gid: uid, encoding: "utf8" }).stderr.split(
    "\n",
  )[0];
}

describe.runIf(process.getuid?.() === 0)("a start by a user who is not root", () => {
  it("says first that builds need root, and what to do", () => {
    expect(firstLine(nobody)).toMatch(/^! Builds need root/);
  });

  it.each([
    ["root", 0, []],
    ["for no agent", nobody, ["--no-agent"]],
  ])("has nothing to say: %s", (_why, uid, options) => {
    expect(firstLine(uid, ...options)).not.toContain("root");
  });
});

describe("canBuild", () => {
  afterEach(() => vi.restoreAllMocks());

  it("is about builds for root only", () => {
    const uid = vi.spyOn(process, "getuid").mockReturnValue(0);
    expect(canBuild(["testdrives"])).toBe(true);
    uid.mockReturnValue(nobody);
    expect(canBuild(["testdrives"])).toBe(false);
    expect(canBuild([])).toBe(true);
  });
});
