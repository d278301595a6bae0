import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { bootOf } from "../../scripts/verify/boot.ts";
import { SerialConsole } from "../../scripts/verify/console.ts";
import { startGuest } from "../../scripts/verify/guest.ts";
import { parseVerifyOptions } from "../../scripts/verify/options.ts";
import { checkPromises } from "../../scripts/verify/promises.ts";
import { reportOf, type Step } from "../../scripts/verify/report.ts";
import { Shell } from "../../scripts/verify/shell.ts";
import { StepRecord } from "../../scripts/verify/step-record.ts";
import { Complaint } from "../../scripts/launch/complaint.ts";
import { loginPrompt } from "../../scripts/verify/testdrive.ts";

/** Acts like a getty and login on a serial line, with a real shell behind it. */
const serialLogin = `
printf 'Booting\\r\\n\\r\\ntiny login: '; read name; printf '%s\\r\\nPassword: ' "$name"; read password
[ "$name:$password" = root:linux ] || { echo 'Login incorrect'; exit 1; }
exec sh -i`;

function serialConsole(): SerialConsole {
  const child = spawn("sh", ["-c", serialLogin], { stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return new SerialConsole(child.stdout, child.stdin, { afterMs: 0 });
}

async function loggedIn(): Promise<Shell> {
  const console = serialConsole();
  await console.says(loginPrompt, { within: 10 });
  return await Shell.logIn(console, { name: "root", password: "linux" });
}

async function portThat(answers: (server: Server) => void): Promise<number> {
  const server = createServer();
  answers(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

const promises = { units: [], ports: [], commands: [] };
const noPorts = (port: number) => port;

const step = (outcome: Step["outcome"], detail: string): Step => ({
  of: "Tiny",
  what: "build",
  outcome,
  ms: 12_345,
  detail,
});
const made = (steps: Step[], { at = "2026-11-22T19:00:00Z", earlier = "" } = {}) =>
  reportOf(
    {
      title: "Tiny",
      command: "verify:base -- tiny",
      startedAt: new Date(at),
      machine: new Map([["Kiln", `commit of ${at.slice(8, 10)}`]]),
      steps,
    },
    earlier,
  );

describe("the serial line of a booted image", () => {
  it("logs in and tells exit codes and output apart from echoes", async () => {
    const shell = await loggedIn();

    expect(await shell.run("echo one; echo two >&2; exit 3")).toEqual({ code: 3, printed: "one\ntwo" });
    expect(await shell.run("true")).toEqual({ code: 0, printed: "" });
  });

  it("ends with what the machine printed last when that machine ends", async () => {
    const console = serialConsole();
    await console.says(loginPrompt, { within: 10 });

    await expect(Shell.logIn(console, { name: "root", password: "wrong" })).rejects.toThrow(
      /The machine ended.*Login incorrect/s,
    );
  });

  it("is not waited for when the verification is interrupted", async () => {
    const stopping = new AbortController();
    const boot = { args: [], restrict: "on" as const };
    const machine = { boot, firmware: [], memoryMb: 16, accel: "tcg" as const, ports: [] };
    await using guest = await startGuest({ ...machine, signal: stopping.signal });
    const waiting = expect(guest.console.says(loginPrompt, { within: 20 })).rejects.toThrow("The machine ended.");

    stopping.abort();

    await waiting;
  });
});

/** A download that is an archive of these files in a folder, and an empty folder to unpack it in. */
function archiveOf(files: Record<string, string>): { file: string; folder: string } {
  const dir = mkdtempSync(join(tmpdir(), "kiln-verify-boot-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(dir, "image", name, ".."), { recursive: true });
    writeFileSync(join(dir, "image", name), text);
  }
  const file = join(dir, "image.tar.gz");
  execFileSync("tar", ["-czf", file, "-C", dir, "image"]);
  const folder = join(dir, "unpacked");
  mkdirSync(folder);
  return { file, folder };
}

const argumentAfter = (args: readonly string[], name: string): string => args[args.indexOf(name) + 1] ?? "";

describe("booting a download", () => {
  it("starts the kernel of a net image, with a web server for its root", async () => {
    const pxelinux = "default x\nlabel x\n  append root=live:http://SERVER/x.squashfs ip=dhcp\n";
    const files = { linux: "", initrd: "", "x.squashfs": "the root", "pxelinux.cfg/default": pxelinux };

    using boot = await bootOf({ ...archiveOf(files), format: "net" });

    // The guest's name for this host's loopback address.
    const server = /^root=live:http:\/\/10\.0\.2\.2:(\d+)\/x\.squashfs ip=dhcp$/.exec(
      argumentAfter(boot.args, "-append"),
    );
    const answer = async (name: string) => await fetch(`http://127.0.0.1:${server?.[1]}/${name}`);
    expect(boot.restrict).toBe("off");
    expect(await (await answer("x.squashfs")).text()).toBe("the root");
    expect((await answer("y.squashfs")).status).toBe(404);
  });

  it("has the VMDK of vmx on IDE, as its .vmx says, without a network", async () => {
    using boot = await bootOf({ ...archiveOf({ "x.vmx": "", "x.vmdk": "" }), format: "vmx" });

    expect(argumentAfter(boot.args, "-drive")).toMatch(/x\.vmdk,format=vmdk,if=ide$/);
    expect(boot.restrict).toBe("on");
  });

  it("gives an install medium a blank disk, which boots before it and may be booted again", async () => {
    const { folder } = archiveOf({ "x.iso": "" });

    using boot = await bootOf({ file: "x.iso", folder, format: "oemiso" });

    expect(boot.args.filter((one) => one.startsWith("file="))).toEqual([
      expect.stringMatching(/blank\.qcow2,format=qcow2,if=none,id=disk$/),
      "file=x.iso,format=raw,media=cdrom,readonly=on,if=none,id=medium",
    ]);
    // Both firmwares use these, and UEFI ignores `-boot order`.
    expect(boot.args).toContain("virtio-blk-pci,drive=disk,bootindex=0");
    expect(boot.args).toContain("ide-cd,drive=medium,bootindex=1");
    expect(boot.args).not.toContain("-no-reboot");
  });
});

describe("a promise of a template", () => {
  it("is broken by a command that fails, and names it", async () => {
    const shell = await loggedIn();
    const checked = { ...promises, commands: ["true", "echo no such thing; false"] };

    await expect(checkPromises(checked, { shell, portOf: noPorts })).rejects.toThrow(
      new Complaint(`"echo no such thing; false" ended with exit code 1: no such thing.`),
    );
  });

  it("is a port that answers, which accepting a connection is not", async () => {
    const shell = await loggedIn();
    const greeting = await portThat((server) => server.on("connection", (socket) => socket.end("SSH-2.0-test\r\n")));

    const silent = await portThat((server) => server.on("connection", (socket) => socket.end()));
    const portOf = (port: number) => (port === 22 ? greeting : silent);

    expect(await checkPromises({ ...promises, ports: [22] }, { shell, portOf })).toBe("port 22 answers");
    await expect(checkPromises({ ...promises, ports: [22, 80] }, { shell, portOf, within: 0 })).rejects.toThrow(
      new Complaint("port 80 does not answer."),
    );
    const interrupted = { shell, portOf, signal: AbortSignal.abort() };
    await expect(checkPromises({ ...promises, ports: [80] }, interrupted)).rejects.toThrow("aborted");
  });
});

describe("the report", () => {
  it("reports that all passed only if something did and nothing failed", () => {
    expect(made([step("passed", "12 MB")])).toContain("All 1 steps passed.");
    expect(made([step("passed", "12 MB"), step("failed", "no")])).toContain("1 of 2 steps failed.");
    expect(made([])).toContain("Nothing was tried.");
  });

  it("keeps each step on one line of its table", () => {
    expect(made([step("failed", "first\nsecond | third")])).toContain(
      "| Tiny | build | failed | 12 s | first second \\| third | 2026-11-22 19:00 |",
    );
  });

  it("still has what an earlier run saw of other things, with that run", () => {
    const earlier = made([step("passed", "a | b"), { ...step("passed", "12 MB"), of: "Tiny, oem" }]);

    const report = made([step("failed", "no")], { at: "2026-11-23T08:30:00Z", earlier });

    expect(report.split("\n").slice(2)).toEqual([
      expect.stringContaining("1 of 2 steps failed."),
      "",
      "| Run | Kiln |",
      "| --- | --- |",
      "| 2026-11-22 19:00 | commit of 22 |",
      "| 2026-11-23 08:30 | commit of 23 |",
      "",
      "| What | Step | Result | Time | Seen | Run |",
      "| --- | --- | --- | --- | --- | --- |",
      "| Tiny | build | failed | 12 s | no | 2026-11-23 08:30 |",
      "| Tiny, oem | build | passed | 12 s | 12 MB | 2026-11-22 19:00 |",
      "",
    ]);
  });

  it("names no run of which nothing is left, and reads back what it wrote", () => {
    const earlier = made([step("passed", "a | b")]);
    const later = { at: "2026-11-23T08:30:00Z", earlier };

    expect(made([step("passed", "12 MB")], later)).toBe(made([step("passed", "12 MB")], { at: later.at }));
    expect(made([], { ...later })).toContain("| a \\| b | 2026-11-22 19:00 |");
  });
});

describe("a step", () => {
  it("that fails is in the record with its reason, and ends nothing else", async () => {
    const record = new StepRecord(new AbortController().signal);
    const step = { of: "Tiny", what: "build", seen: (size: number) => `${size} MB` };

    expect(await record.step(step, () => Promise.reject(new Complaint("The build failed.")))).toBeUndefined();
    expect(await record.step(step, () => Promise.resolve(12))).toBe(12);

    expect(record.steps).toMatchObject([
      { outcome: "failed", detail: "The build failed." },
      { outcome: "passed", detail: "12 MB" },
    ]);
  });
});

describe("a step that is interrupted", () => {
  it("is in the record, and ends the verification", async () => {
    const stopping = new AbortController();
    const record = new StepRecord(stopping.signal);
    const work = () => {
      stopping.abort();
      return Promise.reject(new Error("aborted"));
    };

    await expect(record.step({ of: "Tiny", what: "boot", seen: String }, work)).rejects.toThrow("aborted");
    expect(record.steps).toMatchObject([{ what: "boot", outcome: "failed", detail: "It was interrupted." }]);
  });
});

describe("parseVerifyOptions", () => {
  it("takes a base, formats and templates, and passes on what is after the dashes", () => {
    expect(
      parseVerifyOptions([
        "tiny",
        "--formats",
        "oem,iso",
        "--templates",
        "1,2",
        "--configurations",
        "uefi,xfs",
        "--new",
        "--",
        "--allow-host",
        "mirror:80",
      ]),
    ).toMatchObject({
      base: "tiny",
      formats: ["oem", "iso"],
      templates: [1, 2],
      launch: ["--allow-host", "mirror:80"],
      withTestdrives: true,
      configurations: ["uefi", "xfs"],
      onlyNew: true,
    });
  });

  it.each([[[]], [["../etc"]], [["tiny", "--formats", "floppy"]], [["tiny", "--templates", "x"]], [["a", "b"]]])(
    "refuses %j",
    (argv) => {
      expect(() => parseVerifyOptions(argv)).toThrow(Complaint);
    },
  );
});
