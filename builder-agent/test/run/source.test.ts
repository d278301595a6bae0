import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveSources, writeDescription } from "../../src/run/source.ts";
import { frozenInput } from "../support/frozen-input.ts";
import { temporaryDir } from "../support/agent-place.ts";

describe("writeDescription", () => {
  it("names the packages' directory as the only repository", async () => {
    await using dir = await temporaryDir();

    await writeDescription(frozenInput(), dir.path, "/srv/build-1-1/pack&ages");

    const text = readFileSync(join(dir.path, "config.xml"), "utf8");
    expect(text.match(/<source [^>]*>/g)).toEqual(['<source path="dir:///srv/build-1-1/pack&amp;ages"/>']);
  });

  it("makes scripts executable and keeps files in folders", async () => {
    await using dir = await temporaryDir();
    const input = frozenInput();

    const description = { ...input.description, "config.sh": "#!/bin/sh\n", "root/etc/motd": "hello" };
    await writeDescription({ ...input, description }, dir.path, "/packages");

    expect(statSync(join(dir.path, "config.sh")).mode & 0o111).toBe(0o111);
    expect(readFileSync(join(dir.path, "root/etc/motd"), "utf8")).toBe("hello");
  });

  it.each(["/etc/motd", "../outside", "a/../../outside"])(
    "refuses a file outside the description: %s",
    async (name) => {
      await using dir = await temporaryDir();
      const input = frozenInput();

      await expect(writeDescription({ ...input, description: { [name]: "" } }, dir.path, "/packages")).rejects.toThrow(
        /not a path inside/,
      );
    },
  );
});

describe("resolveSources", () => {
  it.each(["repo:other", "http://example.org/", "dir:///etc", "repo:"])(
    "refuses a source that is not part of the build: %s",
    (path) => {
      expect(() => resolveSources(`<source path="${path}"/>`, "dir:///packages")).toThrow(/does not have/);
    },
  );
});
