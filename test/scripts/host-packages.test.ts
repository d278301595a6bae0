import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import * as packages from "../../builder-agent/src/doctor/packages.ts";
import { impossible, packagesFor, purposes } from "../../scripts/launch/host-packages.ts";
import { inputsHash } from "../../scripts/launch/inputs-hash.ts";
import { emptyFolder } from "./folder.ts";
import { importWith } from "./import-with.ts";

const { installHostPackages } = await importWith(() => import("../../scripts/launch/host-packages.ts"), {
  "../../builder-agent/src/doctor/packages.ts": () => ({
    ...packages,
    findTool: async ({ tool }: { tool: string }) => (["zsh", "fish"].includes(tool) ? undefined : tool),
  }),
});

describe("impossible", () => {
  it("lists exactly what a missing package makes impossible", () => {
    const xorriso = { tool: "xorriso", debian: "xorriso", suse: "xorriso", fedora: "xorriso", for: ["iso"], why: "" };
    expect(impossible([xorriso], ["oem", "iso", "testdrives"])).toEqual(["iso"]);
    expect(impossible([], ["oem", "iso", "testdrives"])).toEqual([]);
  });
});

describe("packagesFor", () => {
  it.each(purposes)("lists packages for %s", (purpose) => {
    expect(packagesFor([purpose]).every((each) => each.for.includes(purpose))).toBe(true);
    expect(packagesFor([purpose])).not.toEqual([]);
  });
});

/** Installs the packages of the tests with an apt-get that ends with this exit code, where fish and zsh are missing. */
async function install(exitCode: number, { known }: { known: string[] }) {
  const folder = emptyFolder();
  const program = (name: string, lines: string) =>
    writeFileSync(`${folder}/${name}`, `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
  program("apt-get", `echo "$@" >> ${folder}/calls; echo E: no network; exit ${exitCode}`);
  program("apt-cache", known.map((name) => `printf '${name}:\\n  Installed: (none)\\n  Candidate: 1\\n'`).join("\n"));
  vi.stubEnv("PATH", `${folder}:${process.env["PATH"]}`);
  vi.spyOn(process, "getuid").mockReturnValue(0);
  let output = "";
  const take = (line: unknown) => Boolean((output += String(line)));
  vi.spyOn(process.stdout, "write").mockImplementation(take);
  vi.spyOn(process.stderr, "write").mockImplementation(take);
  const missing = await installHostPackages(["tests"]);
  const calls = readFileSync(`${folder}/calls`, "utf8");
  return { missing: missing.map(({ tool }) => tool), output, calls };
}

describe("installHostPackages", () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  it("shows what is missing if apt fails", async () => {
    const { missing, output } = await install(100, { known: [] });

    expect(missing).toEqual(["zsh", "fish"]);
    expect(output).toContain("E: no network");
    expect(output).toMatch(/! Missing on this machine: zsh, fish\. Install them with:\n.* zsh fish\n/);
  });

  it("installs the packages that apt knows", async () => {
    expect((await install(0, { known: ["fish"] })).calls).toMatch(/install -y --no-install-recommends fish\n$/);
  });
});

describe("inputsHash", () => {
  it("changes only with a name or a content", () => {
    const [one, other] = [emptyFolder(), emptyFolder()];
    for (const root of [one, other]) {
      mkdirSync(`${root}/src/deep`, { recursive: true });
      writeFileSync(`${root}/src/deep/a.ts`, "a");
    }
    const before = inputsHash(one, ["src", "absent"]);
    expect(inputsHash(other, ["src"])).toBe(before);
    writeFileSync(`${other}/src/deep/a.ts`, "b");
    expect(inputsHash(other, ["src"])).not.toBe(before);
    writeFileSync(`${one}/src/b.wasm`, "made by the build");
    expect(inputsHash(one, ["src"], (path) => !path.endsWith(".wasm"))).toBe(before);
  });
});
