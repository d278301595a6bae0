import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { configKeys, ConfigRefused, parseConfig, readConfig } from "../src/config.ts";
import { temporaryDir } from "./support/agent-place.ts";

const required = {
  url: "http://127.0.0.1:8787/",
  token: "agent-token",
  stateDir: "/var/lib/kiln-agent",
  isolation: "none",
};

const complaintsOf = (given: Record<string, unknown>): string[] => {
  try {
    parseConfig(given);
    return [];
  } catch (error) {
    return error instanceof ConfigRefused ? error.complaints : [String(error)];
  }
};

describe("the configuration", () => {
  it("needs three keys and has defaults for the rest", () => {
    expect(parseConfig(required)).toMatchObject({
      url: "http://127.0.0.1:8787",
      queueUrl: "http://127.0.0.1:8787/client/v4/accounts/local/queues/kiln-jobs",
      queueToken: "agent-token",
      vnc: null,
      slots: 1,
      testdriveSlots: 4,
      cacheGb: 10,
      testdriveDiskGb: 8,
      snapshots: "on",
      packageCacheGb: 10,
      allowHosts: [],
      accel: "auto",
      kiwi: "kiwi-ng",
      buildMemoryMb: 1536,
      buildDiskGb: 16,
      minFreeGb: 5,
    });
  });

  it("reports all problems together, with keys and fixes", () => {
    const complaints = complaintsOf({
      url: "ftp://x",
      token: "",
      slots: "many",
      accel: "fast",
      vnc: "here",
      colour: 1,
      isolation: "guest",
    });

    const keys = complaints.map((complaint) => complaint.split(/[ :]/)[0]);
    expect(keys.toSorted()).toEqual(["accel", "colour", "isolation", "slots", "stateDir", "token", "url", "vnc"]);
    expect(complaints.find((each) => each.startsWith("token"))).toContain("npm run admin -- agent add");
    expect(complaints.find((each) => each.startsWith("isolation"))).toContain("KILN_AGENT_ISOLATION");
  });

  it("never builds bare by default", () => {
    expect(parseConfig({ ...required, isolation: undefined }).isolation).toBe("vm");
    expect(complaintsOf({ ...required, isolation: "bare" }).join()).toContain('or "none" to run builds bare');
  });

  it.each([
    ["a bad port", { vnc: { host: "a", ports: [0, 1] } }],
    ["ports in the wrong order", { vnc: { host: "a", ports: [6000, 5900] } }],
    ["half a build slot", { slots: 0.5 }],
    ["a guest without memory", { buildMemoryMb: 128 }],
    ["a guest without a disk", { buildDiskGb: 0 }],
    ["a host with a path", { allowHosts: ["mirror.lan/tiny"] }],
    ["a negative cache", { cacheGb: -1 }],
    ["a disk that is kept for weeks", { keptMinutes: 20_000 }],
    ["negative room for kept disks", { keptGb: -1 }],
    ["no disk for testdrives", { testdriveDiskGb: 0 }],
    ["an unknown value for snapshots", { snapshots: "sometimes" }],
    ["a negative package cache", { packageCacheGb: -1 }],
  ])("refuses %s", (_, more) => {
    expect(complaintsOf({ ...required, ...more })).toHaveLength(1);
  });

  it("does not repeat a secret in a message", () => {
    expect(complaintsOf({ ...required, token: "geheim x" }).join()).not.toContain("geheim");
  });

  it("is read from a file, and the environment wins", async () => {
    await using dir = await temporaryDir();
    const file = join(dir.path, "agent.json");
    writeFileSync(file, JSON.stringify({ ...required, slots: 2, vnc: { host: "10.0.0.1", ports: [5900, 5910] } }));

    const config = await readConfig(file, {
      KILN_AGENT_VNC: "[::1]:6000-6010",
      KILN_AGENT_ALLOW_HOSTS: "a.lan,b.lan:81",
    });

    expect(config).toMatchObject({
      slots: 2,
      vnc: { host: "[::1]", ports: [6000, 6010] },
      allowHosts: ["a.lan", "b.lan:81"],
    });
  });

  it("explains a problem with the file itself", async () => {
    await using dir = await temporaryDir();
    writeFileSync(join(dir.path, "bad.json"), "[");

    await expect(readConfig(join(dir.path, "bad.json"), {})).rejects.toThrow(/not a JSON object/);
    await expect(readConfig(join(dir.path, "none.json"), {})).rejects.toThrow(/there is no file/);
  });

  it("has each key in the README as the schema describes it", () => {
    const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
    const rows = configKeys().map(
      (each) => `| \`${each.key}\` | \`${each.environment}\` | ${each.meaning} | ${each.default} |`,
    );
    const table = readme.split("\n").filter((line) => line.includes("| `KILN_AGENT_"));
    expect(table).toEqual(rows);
  });

  it("reads each key from the environment", async () => {
    const env = Object.fromEntries(configKeys().map(({ environment }) => [environment, "!"]));
    const refused = await readConfig(undefined, env).catch((error: unknown) => String(error));
    expect(configKeys().filter(({ environment }) => !String(refused).includes(environment))).toMatchObject([
      { key: "stateDir" }, // all other keys refuse it
      { key: "allowHosts" },
      { key: "catalogueHosts" },
      { key: "proxiedHosts" },
      { key: "kiwi" },
    ]);
  });
});
