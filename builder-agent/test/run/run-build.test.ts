import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { uploadedFile } from "../fake-artifacts.ts";
import { startFakeWorker } from "../fake-worker.ts";
import { eventually, inScenario, temporaryDir } from "../support/agent-place.ts";
import { frozenInput, frozenPackage } from "../support/frozen-input.ts";
import { isSlow, startClaimed } from "../support/started-build.ts";

describe("a build", () => {
  it("uploads a disk as NAME.tar.gz, with its contents' list", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running } = await startClaimed(worker, state.path, frozenInput());
    await running.done;

    expect(build.failure).toBeNull();
    expect(build.finished).toMatchObject({
      fileName: "Kiosk.x86_64-0.0.1.oem.tar.gz",
      rawSize: 64 * 1024 * 1024 + 3,
      compressed: true,
      builder: "9.24.56",
    });
    expect(build.finished?.remark).toBeUndefined();
    const hello = { name: "hello", version: "1.1", release: "1", arch: "noarch", license: "MIT" };
    expect(build.finished?.installed).toContainEqual(hello);
    expect(build.finished?.installed.map((each) => each.name)).not.toContain("gpg-pubkey");
    expect(build.finished?.steps.map((step) => step.phase)).toEqual([
      "Fetching appliance configuration",
      "Preparing the build",
      "Installing software",
      "Configuring the system",
      "Creating the image",
      "Compressing the image",
      "Uploading the image",
    ]);
    const file = uploadedFile(build.artifacts.image);
    const digest = (name: string) => createHash(name).update(file).digest("hex");
    expect(build.artifacts.image.upload?.complete).toMatchObject({
      md5: digest("md5"),
      sha1: digest("sha1"),
      sha256: digest("sha256"),
    });
    writeFileSync(join(state.path, "image.tar.gz"), file);
    execFileSync("tar", ["-xzf", "image.tar.gz"], { cwd: state.path });
    const raw = join(state.path, "Kiosk.x86_64-0.0.1.oem/Kiosk.x86_64-0.0.1.oem.raw");
    const bytes = readFileSync(raw);
    expect([bytes.subarray(0, 5).toString(), bytes.subarray(-3).toString()]).toEqual(["begin", "end"]);
    expect(statSync(raw).blocks * 512).toBeLessThan(1024 * 1024);
  });

  it("uploads the file store of the image's root", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running } = await startClaimed(worker, state.path, frozenInput());
    await running.done;

    const { files, "files-index": index } = build.artifacts;
    expect(uploadedFile(files).toString()).toContain("root:x:0:0:root");
    expect(gunzipSync(uploadedFile(index)).toString()).toContain('"path":"/etc/people"');
    expect(build.log).toMatch(/Kiln: the file store has \d+ entries, \d+ bytes/);
  });

  it("leaves the image's folders their modes, wherever the agent's own folder is", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    expect(state.path).toMatch(/^\/tmp\//);

    const { build, running } = await startClaimed(worker, state.path, frozenInput());
    await running.done;

    const lines = gunzipSync(uploadedFile(build.artifacts["files-index"])).toString().split("\n");
    expect(lines.find((line) => line.includes('"path":"/tmp"'))).toContain(`"mode":${0o1777},`);
    // KIWI's cache belongs to the build, not to this host.
    expect(existsSync("/var/cache/kiwi/by-fake-kiwi")).toBe(false);
  });

  it("uploads a medium unchanged", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running } = await startClaimed(worker, state.path, frozenInput({ imageType: "iso" }));
    await running.done;

    expect(build.finished).toMatchObject({
      fileName: "Kiosk.x86_64-0.0.1.iso",
      rawSize: 3_000_000,
      compressed: false,
    });
    expect(uploadedFile(build.artifacts.image).length).toBe(3_000_000);
  });

  it("caches the disk for testdrives and deletes its work directory", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running, cache } = await startClaimed(worker, state.path, frozenInput());
    await running.done;

    using image = await cache.find(build.claim.buildId, build.artifacts.image.upload?.complete?.sha256 ?? "");
    expect(image?.format).toBe("raw");
    expect(statSync(image?.path ?? "").size).toBe(64 * 1024 * 1024 + 3);
    expect(readdirSync(join(state.path, "work"))).toEqual([]);
  });

  it("sends KIWI's log and its own phases, without passwords", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();

    const { build, running } = await startClaimed(worker, state.path, frozenInput());
    await running.done;

    expect(build.log).toContain("(21/21) Installing: hello-1.1-1.noarch");
    expect(build.log).toContain("Kiln: Creating the image");
    expect(build.log).toContain(`sha256 ${build.artifacts.image.upload?.complete?.sha256}`);
    expect(build.log).not.toContain("attempt-1-1");
  });

  it("gives KIWI the fetched packages as its only repository", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const { running } = await startClaimed(worker, state.path, inScenario("slow"));
    await eventually("KIWI runs", () => isSlow(state.path));

    const packages = join(state.path, "work/build-1-1/packages");
    const config = readFileSync(join(state.path, "work/build-1-1/root/config.xml"), "utf8");
    const files = readdirSync(packages);
    running.stop("cancelled");
    await running.done;

    // The path of the agent's state must not appear in the root.
    expect(config.match(/<source [^>]*>/g)).toEqual(['<source path="dir:///var/cache/kiwi-packages"/>']);
    const { packages: frozen } = inScenario("slow");
    expect(files.toSorted()).toEqual([...frozen.map(({ checksum }) => `${checksum.value}.rpm`), "repodata"].toSorted());
  });

  it("reports how the image differs from the frozen packages", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    const input = frozenInput();
    const packages = [
      ...input.packages.filter(({ name }) => name !== "busybox"),
      frozenPackage("libghost", { epoch: 2 }),
    ];

    const { build, running } = await startClaimed(worker, state.path, { ...input, packages });
    await running.done;

    expect(build.finished?.remark).toBe(
      "The image differs from what was resolved: 1 missing (libghost-2:1.0-1.noarch); 1 unexpected (busybox-1.35.0-1.x86_64).",
    );
    expect(build.log).toContain("Kiln: chosen, but not in the image: libghost-2:1.0-1.noarch");
    expect(build.log).toContain("Kiln: in the image, but not chosen: busybox-1.35.0-1.x86_64");
  });
});

describe("errors of the Worker", () => {
  it("do not lose the build: every call is retried", async () => {
    await using worker = await startFakeWorker();
    await using state = await temporaryDir();
    worker.trouble(/\/log$/, 503);
    worker.trouble(/\/heartbeat$/, 502);
    worker.trouble(/\/artifacts\/image$/, "drop");
    worker.trouble(/\/parts\/1$/, 429);
    worker.trouble(/\/complete$/, "drop");
    worker.trouble(/\/finish$/, 500, 2);

    const { build, running } = await startClaimed(worker, state.path, frozenInput());
    await running.done;

    expect(build.status).toBe("finished");
    expect(build.log).toContain("Kiln: Uploading the image");
  });
});
