import { chmod, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { versionOf } from "../src/programs.ts";
import { temporaryDir } from "./support/agent-place.ts";

afterEach(() => vi.unstubAllEnvs());

/** Puts a directory of programs first in the path, and counts how often a program is asked for its version. */
async function programs() {
  const dir = await temporaryDir();
  const calls = join(dir.path, "calls");
  await writeFile(calls, "");
  vi.stubEnv("PATH", `${dir.path}:${process.env.PATH}`);
  return {
    ...dir,
    /** Replaces the old file by a new one, like a package manager. */
    async install(program: string, version: string, exit = 0) {
      const file = join(dir.path, program);
      const script = `#!/bin/sh\necho asked >> '${calls}'\necho '${program} ${version}'\nexit ${exit}\n`;
      await writeFile(`${file}.new`, script);
      await chmod(`${file}.new`, 0o755);
      await rename(`${file}.new`, file);
    },
    remove: (program: string) => rm(join(dir.path, program)),
    timesAsked: async () => (await readFile(calls, "utf8")).split("\n").length - 1,
  };
}

describe("the version of a program", () => {
  it("is requested once, even by simultaneous callers", async () => {
    await using place = await programs();
    await place.install("machine", "7.2");

    const said = await Promise.all([1, 2, 3].map(() => versionOf("machine")));
    said.push(await versionOf("machine"));

    expect(new Set(said)).toEqual(new Set(["machine 7.2\n"]));
    expect(await place.timesAsked()).toBe(1);
  });

  it("is requested again after an update, even with the same size", async () => {
    await using place = await programs();
    await place.install("machine", "7.2");
    const before = await versionOf("machine");
    await place.install("machine", "8.0");

    expect([before, await versionOf("machine")]).toEqual(["machine 7.2\n", "machine 8.0\n"]);
  });

  it("is requested again after a file was rewritten in place", async () => {
    await using place = await programs();
    await place.install("machine", "7.2");
    await versionOf("machine");
    const file = join(place.path, "machine");
    await writeFile(file, (await readFile(file, "utf8")).replace("7.2", "7.3"));

    expect(await versionOf("machine")).toBe("machine 7.3\n");
  });

  it("is not cached for a program that failed or is missing", async () => {
    await using place = await programs();
    await place.install("machine", "7.2", 3);
    await expect(versionOf("machine")).rejects.toThrow(/exit code 3/);
    await expect(versionOf("machine")).rejects.toThrow(/exit code 3/);
    expect(await place.timesAsked()).toBe(2);

    await place.remove("machine");
    await expect(versionOf("machine")).rejects.toThrow("machine is not installed");

    await place.install("machine", "7.2");
    expect(await versionOf("machine")).toBe("machine 7.2\n");
  });
});
