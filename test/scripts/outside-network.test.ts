import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "kiln-outside-"));
const opened = "198.18.0.1";
const special = [
  "0.1.2.3",
  "192.88.99.1",
  "::7f00:2",
  "64:ff9b::7f00:1",
  "64:ff9b:1::7f00:1",
  "2002:7f00:1::1",
  "fec0::1",
];
const open = ["1.2.3.4", "2606:4700::1"];

it("reaches no special network by any name, except an address that the operator opened", async () => {
  const addresses = [opened, ...special, ...open];
  const script = [
    "ip link set lo up",
    ...addresses.map((address) => `ip addr add ${address}/${address.includes(":") ? 128 : 32} dev lo`),
    `exec ${process.execPath} ${join(import.meta.dirname, "own-network.ts")} ${folder} ${addresses.join(" ")}`,
  ].join(" && ");

  const { stdout } = await promisify(execFile)("unshare", ["--net", "--", "bash", "-c", script]);
  rmSync(folder, { recursive: true, force: true });

  expect(JSON.parse(stdout)).toEqual({
    [opened]: [502, 200],
    ...Object.fromEntries(special.map((address) => [address, [502, 502]])),
    ...Object.fromEntries(open.map((address) => [address, [200, 200]])),
  });
});
