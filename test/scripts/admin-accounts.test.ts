/** The commands of `npm run admin` for accounts and their data. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { asked, printed, run, serveAdminRoutes, serviceUrl, warned } from "./admin-service.ts";

serveAdminRoutes();

const root = new URL("../..", import.meta.url).pathname;

/** A file with this content, until the test ends. */
function fileOf(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), "kiln-admin-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "secret"), content);
  return join(folder, "secret");
}

describe("npm run admin -- agreements list", () => {
  it("prints who accepted which text", async () => {
    await run("agreements", "list");

    expect(asked).toEqual(["GET /admin/agreements Bearer secret"]);
    expect(printed).toMatch(/ACCOUNT +BASE SYSTEM/);
    expect(printed).toMatch(/rhea +SLES11_SP1 +2026-11-20T10:00:00.000Z +yes +abab/);
  });
});

describe("npm run admin -- tokens", () => {
  it("lists what an account has", async () => {
    await run("tokens", "list", "rhea");

    expect(printed).toMatch(/7 +nightly +build +1004 +2026-11-20 +never +2026-11-21T09:00:00.000Z/);
  });

  it("revokes one", async () => {
    await run("tokens", "revoke", "7");

    expect(asked).toEqual(["DELETE /admin/tokens/7 Bearer secret"]);
    expect(printed).toContain("Revoked the token 7");
  });
});

describe("npm run admin -- sessions", () => {
  it("lists what an account has", async () => {
    await run("sessions", "list", "rhea");

    expect(printed).toMatch(/5 +Firefox on Linux +192\.0\.2\.\* +2026-11-20 +2026-11-21T09:00:00.000Z +2026-11-28/);
  });

  it.each([
    [["rhea", "5"], "DELETE /admin/accounts/rhea/sessions/5 Bearer secret", "Revoked the session 5"],
    [["rhea"], "DELETE /admin/accounts/rhea/sessions Bearer secret", "Signed rhea out of all browsers"],
  ])("revoke %j", async (words, request, text) => {
    await run("sessions", "revoke", ...words);

    expect(asked).toEqual([request]);
    expect(printed).toContain(text);
  });
});

describe("npm run admin -- account", () => {
  it.each([
    ["lock", 'PUT /admin/accounts/rhea/lock Bearer secret {"locked":true}', "Locked rhea"],
    ["remove", "DELETE /admin/accounts/rhea Bearer secret", "Removed rhea"],
    ["unlock", 'PUT /admin/accounts/rhea/lock Bearer secret {"locked":false}', "Unlocked rhea"],
    ["password", "PUT /admin/accounts/rhea/password Bearer secret {}", "battery staple   (shown this once)"],
  ])("%s", async (word, request, words) => {
    await run("account", word, "rhea");

    expect(asked).toEqual([request]);
    expect(printed).toContain(words);
  });

  it.each([
    [[], "GET /admin/accounts/rhea/quota Bearer secret", "50 GB (its own)\n"],
    [["50"], 'PUT /admin/accounts/rhea/quota Bearer secret {"gb":50}', "of rhea is 50 GB (its own)."],
    [["default"], 'PUT /admin/accounts/rhea/quota Bearer secret {"gb":null}', "of rhea is"],
  ])("quota %j", async (words, request, text) => {
    await run("account", "quota", "rhea", ...words);

    expect(asked).toEqual([request]);
    expect(printed).toContain(text);
  });

  it.each([["fifty"], ["50GB"], ["50", "60"]])("quota refuses %s", async (...words) => {
    await expect(run("account", "quota", "rhea", ...words)).rejects.toThrow(/number of GB|at most one value/);
    expect(asked).toEqual([]);
  });

  it.each(["battery staple", "battery staple\n", "battery staple\r\n"])(
    "reads a password from a file: %j",
    async (text) => {
      const file = fileOf(text);

      await run("account", "password", "rhea", "--password-file", file);

      expect(asked).toEqual(['PUT /admin/accounts/rhea/password Bearer secret {"password":"battery staple"}']);
      expect([printed, warned]).toEqual(["rhea has the new password.\n", ""]);
    },
  );

  it("reads a secret from standard input", async () => {
    const env = { ...process.env, KILN_URL: serviceUrl(), KILN_ADMIN_SECRET: "secret" };
    const args = ["scripts/admin.ts", "account", "password", "rhea", "--password-file", "-"];
    const command = spawn(process.execPath, args, { cwd: root, env, stdio: ["pipe", "ignore", "inherit"] });
    command.stdin.end("battery staple\n");
    await once(command, "exit");

    expect(asked).toEqual(['PUT /admin/accounts/rhea/password Bearer secret {"password":"battery staple"}']);
  });

  it.each([
    [["--password-file", "/absent"], /^There is no file \/absent\.$/],
    [["--password-file", "/dev/null"], /^The password is empty\.$/],
    [["--password", "a", "--password-file", "/dev/null"], /^Give --password or --password-file, not both\.$/],
    [["--api-key-file", "/dev/null"], /belongs to account add/],
  ])("explains what is wrong with %j", async (words, message) => {
    await expect(run("account", "password", "rhea", ...words)).rejects.toThrow(message);
    expect(asked).toEqual([]);
  });

  it("refuses two secrets from one standard input, and a secret of two lines", async () => {
    const both = ["--api-key-file", "-", "--password-file", "-"];
    await expect(run("account", "add", "rhea", "--email", "e@f", ...both)).rejects.toThrow(/only one of the two/);
    const file = fileOf("battery\nstaple\n");
    await expect(run("account", "password", "rhea", "--password-file", file)).rejects.toThrow(/single line/);
  });

  it("takes a password from the command line, does not print it, and says who can see it", async () => {
    await run("account", "password", "rhea", "--password", "battery staple");

    expect(asked).toEqual(['PUT /admin/accounts/rhea/password Bearer secret {"password":"battery staple"}']);
    expect(printed).not.toContain("staple");
    expect(warned).toMatch(/^! Other users of this machine can see --password .*--password-file FILE/);
    await expect(run("account", "lock", "rhea", "--password", "x")).rejects.toThrow(/belongs to account add/);
  });
});

describe("npm run admin -- audit list", () => {
  it("prints what was done", async () => {
    await run("audit", "list", "--account", "rhea", "--before", "9");

    expect(printed).toMatch(/8 +2026-11-20T10:00:00.000Z +rhea +token.created +1 +key +token_id=7 scope=build/);
    await expect(run("agent", "list", "--account", "rhea")).rejects.toThrow(/belong to audit list/);
  });
});
