import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ModifiedOrder } from "../../src/contract.ts";
import { EndedDisks } from "../../src/modified/ended-disks.ts";
import { eventually } from "../support/agent-place.ts";
import { startSession } from "../testdrive/session.ts";
import { makeDisk, partitionAt } from "./disks.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "kiln-modified-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const codeAt = { packet: 0x40, text: 0x80 };

/** A disk whose boot sector overwrites "first" in /etc/motd with "later" through the BIOS, and then halts. */
function writingDisk(): Buffer {
  const { raw } = makeDisk(dir, { "/etc/motd": "first\n" }, { label: "dos" });
  const place = ["-R", "blocks /etc/motd", `${raw}?offset=${partitionAt}`];
  const block = Number(execFileSync("debugfs", place, { encoding: "utf8", stdio: "pipe" }).trim());
  const blockBytes = Number(/Block size: +(\d+)/.exec(superblock(raw))?.[1]);
  const disk = readFileSync(raw);
  // xor ax,ax; mov ds,ax; mov si,packet; mov ax,4300h; int 13h; sti; hlt; jmp back to hlt
  Buffer.from("31c08ed8be407cb80043cd13fbf4ebfd", "hex").copy(disk);
  const packet = Buffer.from("10000100807c0000", "hex"); // one sector, from 0000:7c80
  packet.copy(disk, codeAt.packet);
  disk.writeBigUInt64LE(BigInt((partitionAt + block * blockBytes) / 512), codeAt.packet + packet.length);
  disk.write("later\n", codeAt.text);
  disk.writeUInt16LE(0xaa55, 510);
  return disk;
}

/** A disk with /boot in a separate ext4, and with an LVM partition. Its boot sector keeps the machine running. */
function diskWithVolumes(): Buffer {
  const { raw } = makeDisk(dir, {}, { label: "dos" });
  const table = "label: dos\nstart=2048, size=2048, type=83\nstart=4096, size=2048, type=8e\n";
  execFileSync("sfdisk", ["--quiet", raw], { input: table, stdio: "pipe" });
  execFileSync("mke2fs", ["-q", "-F", "-t", "ext4", "-E", `offset=${partitionAt}`, raw, "1024k"], { stdio: "pipe" });
  const disk = readFileSync(raw).subarray(0, 6144 * 512);
  Buffer.from("fbf4ebfd", "hex").copy(disk); // sti; hlt; jmp back to hlt
  disk.write("LABELONE", 4097 * 512);
  disk.write("LVM2 001", 4097 * 512 + 24);
  return disk;
}

const superblock = (raw: string) =>
  execFileSync("debugfs", ["-R", "stats -h", `${raw}?offset=${partitionAt}`], { encoding: "utf8", stdio: "pipe" });

type Session = Awaited<ReturnType<typeof startSession>>;

async function ask({ service }: Session, wanted: ModifiedOrder["wanted"]) {
  const line = await eventually("a line for orders", () => service.modified.at(-1));
  const request = crypto.randomUUID();
  const order: ModifiedOrder = { request, filter: { paths: [], except: [] }, wanted };
  line.send(JSON.stringify(order));
  const { type, body } = await eventually("an answer", () => service.answers.get(request));
  return type === "application/json" ? JSON.parse(body.toString()) : body.toString();
}

const motd = { kind: "data", path: "/etc/motd" } as const;

async function untilWritten(session: Session): Promise<void> {
  for (let tries = 0; (await ask(session, motd)) !== "later\n"; tries++) {
    if (tries === 1_000) throw new Error("the guest has written nothing"); // each try takes at least 20 ms
  }
}

describe("the files of a session", () => {
  it("can be read during the session, and while its disk is kept", async () => {
    const disk = writingDisk();
    await using session = await startSession({ sector: disk, diskBytes: disk.length, keptMinutes: 10 });
    await untilWritten(session);
    const list = await ask(session, { kind: "list", withDifferences: true });
    expect(list).toMatchObject({ kind: "list", truncated: false, unnamed: 0 });
    expect(await ask(session, { ...motd, reading: list.reading })).toBe("later\n");
    expect(await ask(session, { ...motd, reading: "another" })).toMatchObject({ kind: "refused", why: "gone" });
    const kept = join(session.stateDir, "modified");
    expect(readdirSync(kept)).toHaveLength(1); // the reading of the list
    for (let more = 0; more < 2; more++) await ask(session, { kind: "list", withDifferences: false });
    expect(await ask(session, { ...motd, reading: list.reading })).toBe("later\n");
    for (let more = 0; more < 3; more++) await ask(session, { kind: "list", withDifferences: false });
    expect(await ask(session, { ...motd, reading: list.reading })).toMatchObject({ why: "gone" });
    await ask(session, { kind: "archive" });
    await eventually("the archive's moment is gone", () => readdirSync(kept).length === 3);

    session.service.order({ type: "stop", reason: "Enough." });
    await session.ended;
    expect(existsSync(session.path)).toBe(false);
    expect(await ask(session, motd)).toBe("later\n");
    expect(readdirSync(kept)).toContainEqual(expect.stringMatching(/^\d+\.qcow2$/));

    session.stopping.abort(); // stops the agent itself
    await eventually("nothing is left", () => readdirSync(kept).length === 0);
  });

  it("end with the session if no disk is kept", async () => {
    const disk = writingDisk();
    await using session = await startSession({ sector: disk, diskBytes: disk.length, keptMinutes: 0 });
    await untilWritten(session);
    const line = session.service.modified.at(-1);
    session.service.order({ type: "stop", reason: "Enough." });
    await session.ended;
    await eventually("the line is closed", () => line?.readyState === line?.CLOSED);
    await eventually("nothing is left", () => readdirSync(join(session.stateDir, "modified")).length === 0);
  });

  it("are refused with a reason if no file system is readable", async () => {
    await using session = await startSession();
    expect(await ask(session, motd)).toEqual({
      kind: "refused",
      why: "unreadable",
      message: expect.stringContaining("ext4"),
    });
  });

  it("are refused on a disk with volumes, and the machine continues", async () => {
    const disk = diskWithVolumes();
    await using session = await startSession({ sector: disk, diskBytes: disk.length });
    expect(await ask(session, { kind: "list", withDifferences: false })).toEqual({
      kind: "refused",
      why: "unreadable",
      message: expect.stringMatching(/^The session's disk cannot be read: it is divided into volumes \(LVM\)/),
    });
    expect(session.reason()).toEqual([]);
  });

  it("are refused if a copy would need the reserve of builds, and the machine continues", async () => {
    const disk = writingDisk();
    await using session = await startSession({ sector: disk, diskBytes: disk.length, minFreeGb: 1e6 });
    expect(await ask(session, motd)).toMatchObject({
      kind: "refused",
      why: "unreadable",
      message: expect.stringContaining("has changed too much"),
    });
    expect(session.reason()).toEqual([]);
  });

  it("are refused for an installation medium", async () => {
    await using session = await startSession({ change: (claim) => ({ ...claim, imageType: "oemiso" }) });
    expect(await ask(session, { kind: "archive" })).toMatchObject({ kind: "refused", why: "unreadable" });
  });
});

const fileOf = (name: string, kilobytes: number): string => {
  const path = join(dir, name);
  execFileSync("dd", ["if=/dev/urandom", `of=${path}`, "bs=1k", `count=${kilobytes}`, "status=none"]);
  return path;
};

describe("EndedDisks", () => {
  it("deletes the oldest if there is no room for a new one", async () => {
    const disks = new EndedDisks({ stateDir: dir, keptMinutes: 10, keptGb: 0.001 });
    const first = await disks.put(fileOf("a", 600), "a.qcow2");
    expect(first?.over.aborted).toBe(false);
    const second = await disks.put(fileOf("b", 600), "b.qcow2");
    expect(first?.over.aborted).toBe(true);
    expect(second?.over.aborted).toBe(false);
    await first?.release();
    expect(readdirSync(join(dir, "modified"))).toEqual(["b.qcow2"]);
  });

  it("frees as much as work needs, oldest first", async () => {
    const disks = new EndedDisks({ stateDir: dir, keptMinutes: 10, keptGb: 1 });
    const kept = [await disks.put(fileOf("a", 600), "a.qcow2"), await disks.put(fileOf("b", 600), "b.qcow2")];
    for (const disk of kept) disk?.over.addEventListener("abort", () => void disk.release());
    await disks.free(1000);
    expect(readdirSync(join(dir, "modified"))).toEqual(["b.qcow2"]);
  });

  it("keeps no disk that exceeds its room, or if disabled", async () => {
    const small = new EndedDisks({ stateDir: dir, keptMinutes: 10, keptGb: 0.0001 });
    expect(await small.put(fileOf("a", 600), "a.qcow2")).toBeUndefined();
    const none = new EndedDisks({ stateDir: dir, keptMinutes: 0, keptGb: 1 });
    expect(await none.put(fileOf("b", 6), "b.qcow2")).toBeUndefined();
  });
});
