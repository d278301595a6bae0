/** How the verification of seeded machines reads their facts and compares them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { BootedMachines } from "../../scripts/verify/seeds/booted-machines.ts";
import { countDifferent, type Facts, factsIn } from "../../scripts/verify/seeds/facts.ts";

const hex = (digit: string, count: number) => digit.repeat(count);
const key = (text: string) => `ssh-ed25519 AAAAC3Nza${text}`;
const one: Facts = { hostName: "seed-1", machineId: hex("1", 32), hostKeys: [key("a")], firstRandom: hex("1", 64) };
const other: Facts = { hostName: "seed-2", machineId: hex("2", 32), hostKeys: [key("b")], firstRandom: hex("2", 64) };

describe("the verification of seeded machines", () => {
  it("reads what a machine prints", () => {
    const printed = [
      `hostName seed-1`,
      `machineId ${one.machineId}`,
      `hostKey ${key("a")}`,
      `hostKey ecdsa-sha2-nistp256 AAAAE2Vj+/=`,
      `firstRandom ${one.firstRandom}`,
    ];
    expect(factsIn(printed.join("\n"))).toEqual({
      ...one,
      hostKeys: [key("a"), "ecdsa-sha2-nistp256 AAAAE2Vj+/="],
    });
  });

  it.each(["hostName", "machineId", "hostKey", "firstRandom"])("refuses a machine without its %s", (missing) => {
    const printed = ["hostName a", `machineId ${hex("1", 32)}`, `hostKey ${key("a")}`, `firstRandom ${hex("1", 64)}`];
    expect(factsIn(printed.join("\n"))).toMatchObject({ hostName: "a" });
    expect(() => factsIn(printed.filter((line) => !line.startsWith(missing)).join("\n"))).toThrow(
      "not the facts of a machine",
    );
  });

  it("counts what differs", () => {
    expect(countDifferent([one, other])).toBe(
      "2 host names, 2 machine-ids, 2 host keys, 2 first outputs of /dev/urandom: no two are equal",
    );
  });

  it.each([[[]], [[one]]])("compares nothing if fewer than two machines booted", (machines) => {
    expect(() => countDifferent(machines)).toThrow("nothing to compare");
  });

  it("goes on with the machines of the same image", () => {
    const folder = mkdtempSync(join(tmpdir(), "kiln-seeds-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "disk.raw");
    expect(new BootedMachines({ path, sha256: "1" }).all()).toEqual([]);

    new BootedMachines({ path, sha256: "1" }).add(one);
    new BootedMachines({ path, sha256: "2" }).add(other);

    expect(new BootedMachines({ path, sha256: "1" }).all()).toEqual([one]);
    expect(new BootedMachines({ path, sha256: "2" }).all()).toEqual([other]);
  });

  it.each([
    ["host names", { hostName: "seed-1" }],
    ["machine-ids", { machineId: one.machineId }],
    ["host keys", { hostKeys: [key("b"), key("a")] }],
    ["first outputs of /dev/urandom", { firstRandom: one.firstRandom }],
  ])("finds two equal %s", (kind, same) => {
    expect(() => countDifferent([one, { ...other, ...same }])).toThrow(`Two of the ${kind} are `);
  });
});
