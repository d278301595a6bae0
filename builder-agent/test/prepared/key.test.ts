import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FrozenInput } from "../../src/contract.ts";
import { diskKey, preparedKey, type Preparer } from "../../src/prepared/key.ts";
import { toolsOf } from "../../src/roots/of-build.ts";
import { findRoot } from "../../src/roots/store.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { storeFakeRoot } from "../support/fake-root.ts";
import { frozenInput, frozenPackage } from "../support/frozen-input.ts";

const preparer: Preparer = { builder: "9.24.56", isolation: "vm" };
const configuration = {
  baseSystem: "tiny",
  estimatedRawMb: 100,
  locale: { language: "en_US.UTF-8", keyboardLayout: "english-us", timezone: "UTC" },
  runlevel: 3,
  network: { type: "dhcp", hostname: "", ip: "", netmask: "", route: "", nameservers: [] },
  firewall: { enabled: false, openPorts: [] },
  webyast: false,
};
const plain: FrozenInput = {
  ...frozenInput(),
  configuration,
  files: [
    {
      path: "/etc/motd",
      mode: 0o644,
      owner: "root",
      group: "root",
      size: 5,
      sha256: "a".repeat(64),
      blobId: crypto.randomUUID(),
    },
  ],
};
const elsewhere = { ...plain, repositories: plain.repositories.map((one) => ({ ...one, url: "http://mirror/" })) };
const withScript = (input: FrozenInput): FrozenInput => ({
  ...input,
  configuration: { ...configuration, buildScript: "echo $kiwi_type" },
});
const described = (input: FrozenInput) => ({ ...input, description: { ...input.description, "config.sh": "" } });
const as = (imageType: "oem" | "iso" | "vmx", input = plain): FrozenInput => ({
  ...input,
  imageType,
  imageName: `Kiosk.${imageType}`,
  description: { ...input.description, "config.xml": frozenInput({ imageType }).description["config.xml"] ?? "" },
});

describe("the key of a prepared root", () => {
  it.each<[string, FrozenInput, FrozenInput]>([
    ["for types of one KIWI type", plain, as("vmx")],
    ["for types of two KIWI types", plain, as("iso")],
    ["with a build script, for types of one KIWI type", withScript(plain), withScript(as("vmx"))],
    ["for any origin of the packages", plain, elsewhere],
    ["for any firmware, which only the type has", plain, { ...plain, firmware: "efi" }],
    ["for any order of the packages", plain, { ...plain, packages: plain.packages.toReversed() }],
  ])("is the same %s", (_what, one, other) => {
    expect(preparedKey(other, preparer)).toBe(preparedKey(one, preparer));
  });

  it.each<[string, FrozenInput, Preparer?]>([
    ["appliance", { ...plain, appliance: { ...plain.appliance, id: 1001 } }],
    ["architecture", { ...plain, appliance: { ...plain.appliance, arch: "i586" } }],
    ["package", { ...plain, packages: [...plain.packages, frozenPackage("more")] }],
    ["text of the description", { ...plain, description: { ...plain.description, "root/etc/issue": "x" } }],
    ["content of a file", { ...plain, files: plain.files?.map((file) => ({ ...file, sha256: "b".repeat(64) })) }],
    ["mode of a file", { ...plain, files: plain.files?.map((file) => ({ ...file, mode: 0o600 })) }],
    ["RPM key", { ...plain, keys: [{ name: "k", fingerprint: "c".repeat(40), armour: "key" }] }],
    ["KIWI", plain, { ...preparer, builder: "9.25.0" }],
    ["isolation", plain, { ...preparer, isolation: "none" }],
  ])("differs for another %s", (_what, other, by = preparer) => {
    expect(preparedKey(other, by)).not.toBe(preparedKey(plain, preparer));
  });

  it("differs for each builder root, although they have one name and one KIWI", async () => {
    await using dir = await temporaryDir();
    const preparedIn = async (sha256: string) => {
      storeFakeRoot(dir.path, { name: "debian-12", sha256, builder: "9.24.56" });
      const { key } = toolsOf(await findRoot(dir.path, "debian-12"), { builder: "9.24.56" });
      return [preparedKey(plain, { ...preparer, builder: key }), diskKey(plain, { ...preparer, builder: key })];
    };
    const host = [preparedKey(plain, preparer), diskKey(plain, preparer)];
    const roots = [await preparedIn("a".repeat(64))];
    rmSync(join(dir.path, "roots"), { recursive: true });
    roots.push(await preparedIn("b".repeat(64)));
    expect(new Set([host, ...roots].flat()).size).toBe(6);
  });

  it("differs by KIWI type if a build script exists", () => {
    expect(preparedKey(withScript(as("iso")), preparer)).not.toBe(preparedKey(withScript(plain), preparer));
    const { configuration: _, ...early } = plain;
    expect(preparedKey(described(as("iso", early)), preparer)).not.toBe(preparedKey(described(early), preparer));
  });
});

describe("the key of a disk", () => {
  it("is equal for types that differ only in their container", () => {
    expect(diskKey(as("vmx"), preparer)).toBe(diskKey(plain, preparer));
    expect(diskKey(as("iso"), preparer)).not.toBe(diskKey(plain, preparer));
    expect(diskKey({ ...plain, firmware: "efi" }, preparer)).not.toBe(diskKey(plain, preparer));
    expect(diskKey(plain, { ...preparer, isolation: "none" })).not.toBe(diskKey(plain, preparer));
    expect(diskKey(plain, preparer)).not.toBe(preparedKey(plain, preparer));
  });
});
