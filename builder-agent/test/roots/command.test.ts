import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { UsageRefused } from "../../src/command-line.ts";
import { rootCommand } from "../../src/roots/command.ts";
import { RootFault, readDefinition, withMirrors } from "../../src/roots/definition.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { storeFakeRoot } from "../support/fake-root.ts";

async function say(state: string, ...args: string[]): Promise<string[]> {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  await rootCommand([...args, "--state", state], print, new AbortController().signal);
  return lines;
}

describe("npm run agent -- root", () => {
  it("lists roots and what they are made of, and removes one", async () => {
    await using dir = await temporaryDir();
    expect(await say(dir.path, "list")).toEqual(["This agent has no builder root."]);
    const sha256 = "a".repeat(64);
    const packages = [{ name: "kiwi", version: "9.24.56-1", architecture: "all", sha256, suite: "bookworm" }];
    storeFakeRoot(join(dir.path, "agent"), { name: "debian-12", sha256, packages });
    expect(await say(dir.path, "list")).toEqual([`debian-12  sha256:${sha256}  0 MB  KIWI 9.24.56  1 packages`]);
    expect(await say(dir.path, "packages", "debian-12")).toEqual([`kiwi 9.24.56-1 ${sha256}`]);
    await say(dir.path, "remove", "debian-12");
    expect(await say(dir.path, "list")).toEqual(["This agent has no builder root."]);
  });

  it.each([[[]], [["mend", "debian-12"]], [["make"]], [["list", "--colour"]]])(
    "explains itself after %j",
    async (args) => {
      await using dir = await temporaryDir();
      await expect(say(dir.path, ...args)).rejects.toThrow(UsageRefused);
    },
  );

  it.each([
    [["export", "debian-12", "file"], "This agent has no builder root debian-12: npm run agent -- root make debian-12"],
    [["make", "debian-99"], "There is no definition of a builder root debian-99."],
    [["make", "../../package"], "There is no definition of a builder root ../../package."],
  ])("refuses %j with the reason", async (args, reason) => {
    await using dir = await temporaryDir();
    await expect(say(dir.path, ...args)).rejects.toThrow(new RootFault(reason));
  });
});

describe("the definitions that come with the agent", () => {
  const dir = fileURLToPath(new URL("../../roots", import.meta.url));
  const names = readdirSync(dir).flatMap((file) => /^(.*)\.json$/.exec(file)?.[1] ?? []);

  it.each(names)("%s is one, with its keys", async (name) => {
    const definition = await readDefinition(name);
    expect(definition.name).toBe(name);
    expect(existsSync(definition.keyring)).toBe(true);
  });

  it("can take their packages from other mirrors", async () => {
    const { suites } = withMirrors(await readDefinition("debian-12"), { mirror: "http://mirror.lan/debian" });
    const urls = new Set(suites.map(({ url }) => url));
    expect([...urls]).toEqual(["http://mirror.lan/debian", "http://mirror.lan/debian-security"]);
  });
});
