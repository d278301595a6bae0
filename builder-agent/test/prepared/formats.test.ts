import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startBuild } from "../../src/run/run-build.ts";
import type { BuildClaim, FrozenInput } from "../../src/contract.ts";
import { openImageCache } from "../../src/image-cache.ts";
import { openPrepared } from "../../src/prepared/caches.ts";
import { connectWorker } from "../../src/worker-api.ts";
import { uploadedFile } from "../fake-artifacts.ts";
import { startFakeWorker, type FakeBuild, type FakeWorker } from "../fake-worker.ts";
import { silent, temporaryDir, testConfig } from "../support/agent-place.ts";
import { frozenInput } from "../support/frozen-input.ts";

/** The builds of one agent with one state directory, for a fake Worker. */
async function agentAt(worker: FakeWorker, stateDir: string, more: Record<string, unknown> = {}) {
  const config = testConfig(worker.url, stateDir, more);
  const parts = {
    api: connectWorker(config),
    config,
    cache: await openImageCache(join(stateDir, "cache"), 1e9),
    prepared: await openPrepared(config),
    builder: "9.24.56",
    log: silent,
  };
  return async (input: FrozenInput, claim: Partial<BuildClaim> = {}): Promise<FakeBuild> => {
    const build = worker.queueBuild(input, claim);
    build.status = "running";
    await startBuild(build.claim, parts).done;
    expect(build.failure).toBeNull();
    return build;
  };
}

const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
const phasesOf = ({ finished }: FakeBuild) => finished?.steps.map(({ phase }) => phase);
const begin = ["Fetching appliance configuration", "Preparing the build"];
const end = ["Compressing the image", "Uploading the image"];
const whole = [...begin, "Installing software", "Configuring the system", "Creating the image", ...end];

describe("the formats of a version", () => {
  it("use the first one's root, or its disk if they can", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const build = await agentAt(worker, state.path);

    const oem = await build(frozenInput());
    const downloads = worker.downloads.length;
    const iso = await build(frozenInput({ imageType: "iso" }));
    const vmx = await build(frozenInput({ imageType: "vmx" }));

    expect([phasesOf(oem), phasesOf(iso), phasesOf(vmx)]).toEqual([
      whole,
      [...begin, "Creating the image", ...end],
      [...begin, ...end],
    ]);
    expect(worker.downloads).toHaveLength(downloads);
    expect([oem, iso, vmx].map(({ finished }) => finished?.conditions)).toEqual([
      { isolation: "none" },
      { isolation: "none", startedFrom: { kind: "root", key: sha256 } },
      { isolation: "none", startedFrom: { kind: "disk", key: sha256 } },
    ]);
    expect(iso.log).toContain("Kiln: the image is made from a root that was prepared before");
    expect(vmx.log).toContain("Kiln: the disk is the one of an earlier format of this version");
    expect([iso, vmx].map(({ finished }) => finished?.installed)).toEqual([oem, oem].map((b) => b.finished?.installed));
    for (const name of ["files", "files-index"] as const) {
      expect(uploadedFile(vmx.artifacts[name]).equals(uploadedFile(oem.artifacts[name]))).toBe(true);
    }
    const { files } = oem.artifacts;
    expect(vmx.artifacts.files.upload?.digests?.sha256, "so that the Worker can take the first one").toBe(
      files.upload?.complete?.sha256,
    );
    expect(vmx.finished).toMatchObject({ fileName: "Kiosk.x86_64-0.0.1.vmx.tar.gz", rawSize: oem.finished?.rawSize });
    expect(readdirSync(join(state.path, "work"))).toEqual([]);
  });

  it("wait for each other: the second finds the first's root", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const build = await agentAt(worker, state.path);

    const both = await Promise.all([build(frozenInput()), build(frozenInput({ imageType: "iso" }))]);

    expect(both.filter((each) => phasesOf(each)?.includes("Installing software"))).toHaveLength(1);
  });

  it("pass the turn on if the first one fails", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const build = await agentAt(worker, state.path);
    const failing = { ...frozenInput(), description: { ...frozenInput().description, scenario: "bad-script" } };

    await expect(build(failing)).rejects.toThrow();
    await expect(build({ ...failing, imageType: "vmx" })).rejects.toThrow();

    expect(readdirSync(join(state.path, "prepared/roots"))).toEqual([]);
    expect(readdirSync(join(state.path, "prepared/disks"))).toEqual([]);
  });

  it("share within one appliance only", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const build = await agentAt(worker, state.path);
    const input = frozenInput();
    await build(input);
    const other = await build({ ...input, appliance: { ...input.appliance, id: 1001 } });
    expect(phasesOf(other)).toEqual(whole);
  });

  it("are built from nothing if the stored root is damaged", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const build = await agentAt(worker, state.path);
    await build(frozenInput());
    const dir = join(state.path, "prepared/roots");
    for (const name of readdirSync(dir)) writeFileSync(join(dir, name), "spoilt");

    const iso = await build(frozenInput({ imageType: "iso" }));
    expect([phasesOf(iso), iso.finished?.conditions]).toEqual([whole, { isolation: "none" }]);
  });

  it("are built even if nothing can be stored", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const build = await agentAt(worker, state.path);
    rmSync(join(state.path, "prepared"), { recursive: true });

    const first = await build(frozenInput());
    expect([phasesOf(first), phasesOf(await build(frozenInput({ imageType: "vmx" })))]).toEqual([whole, whole]);
    expect(first.log).toContain("Kiln: could not cache the disk for other formats: ENOENT");
  });

  it("are built from nothing if the operator disables storing", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    await (
      await agentAt(worker, state.path)
    )(frozenInput());

    const build = await agentAt(worker, state.path, { preparedGb: 0 });

    expect(phasesOf(await build(frozenInput({ imageType: "vmx" })))).toEqual(whole);
    expect(existsSync(join(state.path, "prepared"))).toBe(false);
  });
});

describe("several agents", () => {
  it("share the root through the Worker, if it is configured to", async () => {
    await using worker = await startFakeWorker();
    await using one = await temporaryDir();
    await using other = await temporaryDir();
    const [here, there] = [await agentAt(worker, one.path), await agentAt(worker, other.path)];

    const unasked = await here(frozenInput());
    expect([unasked.finished?.prepared, unasked.artifacts.prepared.upload]).toEqual([undefined, null]);
    const giving = await here(frozenInput({ imageType: "iso" }), { sharesRoot: true });
    expect(giving.finished?.prepared).toEqual({ key: sha256 });
    const taking = await there(frozenInput({ imageType: "vmx" }), { sharesRoot: true });

    expect(phasesOf(taking)).toEqual([...begin, "Creating the image", ...end]);
    expect(taking.artifacts.prepared.upload).toBeNull();
    expect(taking.finished?.prepared).toBeUndefined();
    const kept = await there(frozenInput({ imageType: "iso" }));
    expect(phasesOf(kept)).toEqual([...begin, "Creating the image", ...end]);
  });

  it("build it themselves if the download is wrong or a retry", async () => {
    await using worker = await startFakeWorker();
    await using one = await temporaryDir();
    await using other = await temporaryDir();
    const [here, there] = [await agentAt(worker, one.path), await agentAt(worker, other.path)];
    await here(frozenInput(), { sharesRoot: true });
    const second = await there(frozenInput({ imageType: "iso" }), { sharesRoot: true, attempt: 2 });
    expect(phasesOf(second)).toEqual(whole);
    expect(second.finished?.prepared).toBeUndefined();

    worker.spoilPrepared = true;
    await using third = await temporaryDir();
    const spoilt = await (await agentAt(worker, third.path))(frozenInput(), { sharesRoot: true });
    expect(phasesOf(spoilt)).toEqual(whole);
    expect(spoilt.log).toContain(
      "could not fetch the root of an earlier format: its checksum differs from that of the root that the other agent stored",
    );
  });
});
