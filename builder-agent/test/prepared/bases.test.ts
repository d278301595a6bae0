import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FrozenInput } from "../../src/contract.ts";
import { BaseShare } from "../../src/prepared/base-share.ts";
import { openBaseRoots } from "../../src/prepared/bases.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { frozenInput, frozenPackage } from "../support/frozen-input.ts";

const inputOf = (names: readonly string[], more: Partial<FrozenInput> = {}): FrozenInput => ({
  ...frozenInput({ packages: names.map((name) => frozenPackage(name, { size: 100 })) }),
  packageType: "deb",
  debRelease: "bookworm",
  ...more,
});
const few = Array.from({ length: 10 }, (_, at) => `package-${at}`);

async function place() {
  const dir = await temporaryDir();
  const store = join(dir.path, "bases");
  const bases = await openBaseRoots(store, { maxBytes: 1e9 });
  const notes: string[] = [];
  const started: BaseShare["startedFrom"][] = [];
  let count = 0;
  const share = (input: FrozenInput, builder = "9.24") => {
    const workDir = join(dir.path, `work-${++count}`);
    mkdirSync(workDir);
    const signal = new AbortController().signal;
    return BaseShare.join({ bases, input, builder, workDir, signal, onNote: (note) => void notes.push(note) });
  };
  /** Runs a build, which unpacks a base if one exists, and adds these names. Returns the names that it started from. */
  const build = async (names: readonly string[], more: Partial<FrozenInput> = {}, builder?: string) => {
    const one = await share(inputOf(names, more), builder);
    const root = join(dir.path, `root-${++count}`);
    await one.unpack(root);
    mkdirSync(root, { recursive: true });
    const before = readdirSync(root).toSorted();
    started.push(one.startedFrom);
    for (const name of names) writeFileSync(join(root, name), "");
    if (one.copy !== undefined) execFileSync("tar", ["-cf", one.copy, "-C", root, "."]);
    await one.offer();
    return before;
  };
  return { store, notes, started, build, [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose]() };
}

describe("base roots", () => {
  it("are what a build of more packages starts from: the one with most of them, and no others", async () => {
    await using here = await place();
    expect(await here.build(few)).toEqual([]);
    expect(await here.build([...few, "a", "b"])).toEqual(few);
    await here.build([...few, "z", "y", "x"]);

    expect(await here.build([...few, "a", "b", "c"])).toEqual(["a", "b", ...few]);
    const [name] = readdirSync(here.store).filter((key) => key === here.started.at(-1)?.key);
    expect(here.started.at(-1)).toEqual({ kind: "packages", key: name });
    expect(here.started[0]).toBeUndefined();
    expect(here.notes.at(-1)).toBe("12 of 13 packages are those of an earlier build");
    expect(await here.build(few.slice(1))).toEqual([]);
  });

  it("are not those of another appliance, release, architecture, builder or way to begin", async () => {
    await using here = await place();
    await here.build(few);
    const { appliance } = inputOf(few);

    expect(await here.build(few, { debRelease: "trixie" })).toEqual([]);
    expect(await here.build(few, { appliance: { ...appliance, arch: "i586" } })).toEqual([]);
    expect(await here.build(few, { description: { "post_bootstrap.sh": "#!/bin/sh" } })).toEqual([]);
    expect(await here.build(few, {}, "10.2")).toEqual([]);
    expect(await here.build(few, { appliance: { ...appliance, id: 7 } })).toEqual([]);
    expect(await here.build(few)).toEqual(few);
  });

  it("are stored only if later builds gain from them", async () => {
    await using here = await place();
    await here.build(few);
    await here.build([...few, "one more"]);

    expect(readdirSync(here.store)).toHaveLength(1);
  });

  it("are not used if they are damaged", async () => {
    await using here = await place();
    await here.build(few);
    const [name = ""] = readdirSync(here.store);
    appendFileSync(join(here.store, name, "root.tar.zst"), "!");

    expect(await here.build(few)).toEqual([]);
    expect(await here.build(few)).toEqual(few);
  });

  it("cost a build nothing but time if they cannot be unpacked", async () => {
    await using here = await place();
    await here.build(few);
    const [name = ""] = readdirSync(here.store);
    const facts = join(here.store, name, "facts.json");
    writeFileSync(join(here.store, name, "root.tar.zst"), "");
    const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    writeFileSync(facts, JSON.stringify({ ...JSON.parse(readFileSync(facts, "utf8")), archive: empty }));

    expect(await here.build(few)).toEqual([]);
    expect(here.started.at(-1)).toBeUndefined();
    expect(here.notes.at(-1)).toMatch(/^could not start from the packages of an earlier build: /);
  });
});
