import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveSources, writeDescription } from "../../src/build/source.ts";
import { frozenInput } from "../support/frozen-input.ts";
import { temporaryDir } from "../support/agent-place.ts";

const reach = { url: "https://kiln.example.org", allowHosts: ["mirror.lan:8080"] };

describe("writeDescription", () => {
  it("puts the addresses that the agent reaches into config.xml", async () => {
    await using dir = await temporaryDir();
    const repositories = [
      { alias: "main", url: "service:/repositories/tiny/main", priority: 90 },
      { alias: "lan", url: "http://mirror.lan:8080/tiny?a=1&b=2", priority: 80 },
    ];

    await writeDescription(frozenInput({ repositories }), dir.path, reach);

    const text = readFileSync(join(dir.path, "config.xml"), "utf8");
    expect(text).toContain('<source path="https://kiln.example.org/repositories/tiny/main"/>');
    expect(text).toContain('<source path="http://mirror.lan:8080/tiny?a=1&amp;b=2"/>');
  });

  it("makes scripts executable and keeps files of folders", async () => {
    await using dir = await temporaryDir();
    const input = frozenInput({ repositories: [] });

    const description = { ...input.description, "config.sh": "#!/bin/sh\n", "root/etc/motd": "hello" };
    await writeDescription({ ...input, description }, dir.path, reach);

    expect(statSync(join(dir.path, "config.sh")).mode & 0o111).toBe(0o111);
    expect(readFileSync(join(dir.path, "root/etc/motd"), "utf8")).toBe("hello");
  });

  it.each(["/etc/motd", "../outside", "a/../../outside"])(
    "refuses a file outside of the description: %s",
    async (name) => {
      await using dir = await temporaryDir();
      const input = frozenInput({ repositories: [] });

      await expect(writeDescription({ ...input, description: { [name]: "" } }, dir.path, reach)).rejects.toThrow(
        /not a path inside/,
      );
    },
  );

  it("refuses a repository in a private network", async () => {
    await using dir = await temporaryDir();
    const repositories = [{ alias: "main", url: "http://10.0.0.1/tiny", priority: 90 }];

    await expect(writeDescription(frozenInput({ repositories }), dir.path, reach)).rejects.toThrow(/private network/);
  });
});

describe("resolveSources", () => {
  it.each(["repo:other", "http://example.org/", "dir:///etc", "repo:"])(
    "refuses a source that the build does not have: %s",
    (path) => {
      expect(() => resolveSources(`<source path="${path}"/>`, new Map([["main", "x"]]))).toThrow(/does not have/);
    },
  );
});
