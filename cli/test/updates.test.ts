/** `kiln outdated` shows newer versions of an image's packages, and reports by its exit code whether there are any. */
import { expect, it } from "vitest";
import { signedInForEachTest } from "./support/signed-in.ts";

const here = signedInForEachTest();

const newer = (name: string, security: boolean) => ({
  name,
  arch: "amd64",
  installed: "1.0-1",
  available: "1.0-2",
  security,
  repository_id: 3,
  repository: "Debian",
});

function offer(packages: object[], state = "current", more: object = {}): void {
  const counts = { newer: packages.length, security: 0, unlisted: 2 };
  const repositories = [{ id: 3, name: "Debian", state }];
  const updates = { build_id: 7, appliance_id: 1, version: "0.0.1", ...counts, packages, repositories, ...more };
  here.service.answers["/api/v2/user/builds/7/updates"] = { updates };
}

it("lists newer versions, and ends with 2", async () => {
  offer([newer("bash", false), newer("curl", true)]);

  const { code, stdout } = await here.machine.kiln(["outdated", "7"]);

  expect(code).toBe(2);
  expect(stdout).toMatch(/^PACKAGE +INSTALLED +AVAILABLE +KIND +REPOSITORY\n/);
  expect(stdout).toMatch(/\nbash +1\.0-1 +1\.0-2 +Debian\ncurl +1\.0-1 +1\.0-2 +security +Debian\n/);
  expect(stdout).toContain("do not have 2 installed packages.");
});

it("says until when an automatic build waits", async () => {
  offer([newer("curl", true)], "current", { automatic_build_waits_until: "2026-03-07T02:00:00Z" });
  const { stdout } = await here.machine.kiln(["outdated", "7"]);
  expect(stdout).toContain("The next automatic build waits until 2026-03-07 02:00 UTC.");
});

it("lists only security updates on request", async () => {
  offer([newer("bash", false), newer("curl", true)]);
  const { code, stdout } = await here.machine.kiln(["outdated", "7", "--security", "--json"]);
  expect(code).toBe(2);
  expect(JSON.parse(stdout).updates.packages).toEqual([newer("curl", true)]);

  offer([newer("bash", false)]);
  const none = await here.machine.kiln(["outdated", "7", "--security"]);
  expect(none).toMatchObject({ code: 0, stdout: expect.stringContaining("have no security updates.\n") });
});

it.each([
  ["current", 0, "The repositories have no newer versions.\n"],
  ["stale", 0, "Debian: the last refresh failed"],
  ["unknown", 1, "Debian: it cannot be read"],
])("without newer versions, ends by the state of the repositories: %s", async (state, code, text) => {
  offer([], state);
  expect(await here.machine.kiln(["outdated", "7"])).toMatchObject({ code, stdout: expect.stringContaining(text) });
});
