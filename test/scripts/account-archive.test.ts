import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { adminClient } from "../../scripts/admin/client.ts";
import { importAccount } from "../../scripts/account-archive/import.ts";
import { emptyFolder } from "./folder.ts";

/** Archives that were not made by `account export`. Each is refused before the service gets a request. */

const unused = adminClient("http://127.0.0.1:1", "");
const digest = "a".repeat(64);

function archiveOf({ sha256 = digest, links = {} }: { sha256?: string; links?: Record<string, string> }): string {
  const folder = emptyFolder();
  const definition = { name: "a", configuration: {}, repositories: [], files: [{ path: "/a", sha256 }] };
  const account = {
    format: 1,
    username: "eve",
    email: "eve@example.org",
    displayName: null,
    quotaGb: 1_000_000,
    repositories: [],
    packages: [],
    appliances: [{ definition, secrets: {} }],
  };
  mkdirSync(join(folder, "packages"));
  mkdirSync(join(folder, "contents"));
  writeFileSync(join(folder, "account.json"), JSON.stringify(account));
  for (const [name, target] of Object.entries(links)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    symlinkSync(target, join(folder, name));
  }
  const file = join(folder, "eve.tar");
  execFileSync("tar", ["--create", "--file", file, "--directory", folder, "account.json", "contents", "packages"]);
  return file;
}

describe("an archive of an account", () => {
  it.each([
    ["a link", { links: { [`contents/${digest}`]: "/etc/shadow" } }, `${digest} is neither a file nor a folder`],
    ["a link to a folder", { links: { "packages/1": "/etc" } }, "1 is neither a file nor a folder"],
    ["a content with a path", { sha256: "../../../etc/shadow" }, "is not an account's archive"],
    ["a content with another name", { sha256: "a".repeat(63) }, "is not an account's archive"],
  ])("is refused with %s", async (_, made, reason) => {
    const file = archiveOf(made);

    await expect(importAccount(unused, "eve", file)).rejects.toThrow(reason);
    expect(readdirSync(dirname(file)).filter((name) => name.endsWith(".folder"))).toEqual([]);
  });
});
