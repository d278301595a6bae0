import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { rootOfBuild } from "../../src/roots/of-build.ts";
import { listRoots, removeRoot } from "../../src/roots/store.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { storeFakeRoot } from "../support/fake-root.ts";

describe("the builder root of a build", () => {
  it("stays until the build's end, although the operator makes a newer one", async () => {
    await using dir = await temporaryDir();
    const workDir = join(dir.path, "work", "build-1-1");
    mkdirSync(workDir, { recursive: true });
    const place = { stateDir: dir.path, root: "debian-12", workDir };
    storeFakeRoot(dir.path, { name: "debian-12", sha256: "a".repeat(64) });
    const root = await rootOfBuild(place, {});
    for (const one of await listRoots(dir.path)) await removeRoot(one);
    expect(readFileSync(root?.file ?? "", "utf8")).toBe("none");
    await expect(rootOfBuild(place, {})).rejects.toThrow("no longer has the builder root debian-12");
    expect(await rootOfBuild(place, { builderRoot: "host" })).toBeUndefined();
  });
});
