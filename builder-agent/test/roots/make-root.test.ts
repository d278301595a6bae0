import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openGuestSystem } from "../../src/guest/system.ts";
import { makeRoot } from "../../src/roots/make.ts";
import { clearRoots, findRoot, listRoots } from "../../src/roots/store.ts";
import { exportRoot, importRoot } from "../../src/roots/transfer.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { openDebMirror, spoilPackage, type DebMirror } from "./deb-mirror.ts";

const making = (stateDir: string, acceptExpired = false) => ({
  stateDir,
  acceptExpired,
  signal: new AbortController().signal,
  say: () => {},
});

const inside = (file: string, path: string) => execFileSync("unsquashfs", ["-cat", file, path], { encoding: "utf8" });
const listed = (file: string) => execFileSync("unsquashfs", ["-lls", file], { encoding: "utf8" });

let mirror: DebMirror;
beforeAll(async () => void (mirror = await openDebMirror()));
beforeEach(() => mirror.sign());
afterAll(() => mirror.close());

describe("a builder root", () => {
  it("is made of signed packages, the same each time, and goes to another agent as a file", async () => {
    await using state = await temporaryDir();
    const root = await makeRoot(mirror.definition, making(state.path));
    expect(root.facts).toMatchObject({ name: "small", builder: "9.24.56", kernel: "6.1-cloud" });
    expect(root.facts.releases).toMatchObject([{ suite: "small", date: "2026-11-01T10:00:00.000Z" }]);
    const names = root.facts.packages.map(({ name }) => name);
    expect(names).toContain("screen"); // the first alternative exists in no suite
    expect(createHash("sha256").update(readFileSync(root.file)).digest("hex")).toBe(root.sha256);

    expect(inside(root.file, "usr/lib/kiln/vmlinuz")).toBe("the kernel");
    expect(inside(root.file, "etc/passwd")).toMatch(/^root:x:0/);
    const files = listed(root.file);
    expect(files).toMatch(/root\/root .* squashfs-root\/usr\/bin\/kiwi-ng\n/);
    expect(files).toMatch(/usr\/bin\/awk -> mawk/);
    expect(files).toMatch(/squashfs-root\/bin -> usr\/bin/);
    expect(files).not.toContain("share/doc/base-files/README");

    const guest = await openGuestSystem(state.path, root);
    expect(readFileSync(guest.kernel, "utf8")).toBe("the kernel");
    expect(guest.root).toBe(root.file);
    const archive = execFileSync("gunzip", ["-c", guest.initrd], { maxBuffer: 2 ** 26 });
    const started = execFileSync("cpio", ["--list", "--quiet"], { input: archive, encoding: "utf8" }).split("\n");
    expect(started).toEqual(expect.arrayContaining(["init", "builder.sh", "bin/busybox"]));

    const again = await makeRoot(mirror.definition, making(state.path));
    expect(again.sha256).toBe(root.sha256);
    expect(existsSync((await openGuestSystem(state.path, again)).kernel)).toBe(true);
    expect(await listRoots(state.path)).toHaveLength(1);

    await using other = await temporaryDir();
    const file = join(other.path, "small.squashfs");
    await exportRoot(again, file);
    expect(readFileSync(`${file}.sha256`, "utf8")).toBe(`${root.sha256}  small.squashfs\n`);
    const imported = await importRoot(file, { stateDir: other.path, sha256: undefined });
    expect(imported).toMatchObject({ sha256: root.sha256, facts: root.facts });

    writeFileSync(file, Buffer.concat([readFileSync(file), Buffer.from("more")]));
    await expect(importRoot(file, { stateDir: other.path, sha256: undefined })).rejects.toThrow(/instead of/);
    expect(await listRoots(other.path)).toHaveLength(1);
  });

  it("is made of an index past its time only by choice, which it records", async () => {
    await using state = await temporaryDir();
    mirror.sign({ validUntil: new Date("2026-11-08T10:00:00Z") });
    await expect(makeRoot(mirror.definition, making(state.path))).rejects.toThrow(
      /valid until 2026-11-08.*--accept-expired/,
    );
    const root = await makeRoot(mirror.definition, making(state.path, true));
    expect(root.facts.releases[0]).toMatchObject({ acceptedExpired: true, validUntil: "2026-11-08T10:00:00.000Z" });
  });

  it("is not there while it is being made, and what a killed command left goes", async () => {
    await using state = await temporaryDir();
    const leftovers = ["making-4194304999-abc", "f".repeat(64)].map((name) => join(state.path, "roots", name));
    for (const dir of leftovers) mkdirSync(dir, { recursive: true });
    mkdirSync(join(state.path, "roots", `making-${process.pid}-abc`));
    expect(await findRoot(state.path, "small")).toBeUndefined();
    expect(await clearRoots(state.path)).toHaveLength(2);
    expect(leftovers.filter((dir) => existsSync(dir))).toEqual([]);
    expect(readdirSync(join(state.path, "roots"))).toEqual([`making-${process.pid}-abc`]);
  });

  it("has no package that differs from the signed index, and no index of another signer", async () => {
    await using state = await temporaryDir();
    const { definition } = mirror;
    mirror.sign({ by: mirror.stranger });
    await expect(makeRoot(definition, making(state.path))).rejects.toThrow(/is not signed by a key/);
    mirror.sign();
    spoilPackage(mirror.dir, "screen");
    await expect(makeRoot(definition, making(state.path))).rejects.toThrow(/not the file that the signed index names/);
    expect(readdirSync(join(state.path, "roots"))).toEqual([]);
  });
});
