import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeKiwiPaths } from "../src/run/kiwi.ts";
import { refuseDatabase } from "../src/run/refusals.ts";
import { temporaryDir } from "./support/agent-place.ts";
import { smallRoot } from "./support/fake-root.ts";

/** Whether this host's rpm leaves a database of that format behind. */
function writes(format: "ndb" | "sqlite", workDir: string): boolean {
  const dir = mkdtempSync(join(workDir, "tried-"));
  execFileSync("rpmdb", ["--define", `_db_backend ${format}`, "--dbpath", dir, "--initdb"], { stdio: "ignore" });
  return existsSync(join(dir, format === "ndb" ? "Packages.db" : "rpmdb.sqlite"));
}

const macros = async (rpmDatabase?: "ndb") => {
  await using dir = await temporaryDir();
  const paths = await makeKiwiPaths(dir.path, { ...(rpmDatabase && { rpmDatabase }) });
  return readFileSync(join(paths.home, ".rpmmacros"), "utf8");
};

describe("the format of an image's package database", () => {
  it.each(["ndb", "sqlite"] as const)(
    "is refused exactly if this host's rpm cannot write it: %s",
    async (rpmDatabase) => {
      await using dir = await temporaryDir();
      const target = { workDir: dir.path, signal: new AbortController().signal };

      const refusal = await refuseDatabase({ rpmDatabase }, target).catch((error: Error) => error.message);

      expect(refusal === undefined).toBe(writes(rpmDatabase, dir.path));
      expect(refusal ?? "").toMatch(refusal === undefined ? /^$/ : `keeps its package database as ${rpmDatabase}`);
    },
  );

  it.each([
    ["that knows it", "exit 0", undefined],
    ["that does not", "echo 'warning: invalid %_db_backend: ndb' >&2", /which this builder's rpm cannot write/],
  ])("is asked of a builder root's rpm %s", async (_what, rpmdb, refusal) => {
    const dir = mkdtempSync("/var/tmp/kiln-rpmdb-");
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const builderRoot = smallRoot(dir, { rpmdb });
    const workDir = join(dir, "work");
    mkdirSync(workDir);
    const asked = refuseDatabase(
      { rpmDatabase: "ndb" },
      { workDir, builderRoot, signal: AbortSignal.timeout(200_000) },
    );
    await (refusal ? expect(asked).rejects.toThrow(refusal) : asked);
  });

  it("is set for KIWI's rpm, and only if the base system names it", async () => {
    expect(await macros("ndb")).toContain("\n%_db_backend ndb\n");
    expect(await macros()).not.toContain("_db_backend");
  });
});
