/** `kiln advisories`: the advisories of an image, with the announcements of their fixes. */
import { expect, it } from "vitest";
import { newMachine } from "./support/machine.ts";
import { newKey, signedInto, standIn } from "./support/service.ts";

it("lists what an update fixes, by all of its names, and ends with 2", async () => {
  using machine = newMachine();
  await using service = await standIn(signedInto(newKey()));
  await machine.kiln(["login", service.url, "--account", "tux"], { input: "key\n" });
  const openssl = { source: "openssl", installed: "3.0.15-1", exploited: false, packages: ["libssl3"] };
  const advisories = [
    { id: "CVE-2026-1000", aliases: ["DSA-6001-1", "DSA-6001-2"], state: "fixed", fixed: "3.0.16-1", ...openssl },
    { id: "CVE-2026-1001", state: "open", ...openssl },
  ];
  const counts = { fixed: 1, open: 1, undetermined: 0, unimportant: 0, exploited: 0 };
  const build_advisories = {
    build_id: 7,
    appliance_id: 1,
    version: "0.0.1",
    known: true,
    ...counts,
    advisories,
    feeds: [],
  };
  service.answers["/api/v2/user/builds/7/advisories"] = { build_advisories };

  const { code, stdout } = await machine.kiln(["advisories", "7"]);
  expect(code).toBe(2);
  expect(stdout).toMatch(/\nCVE-2026-1000 DSA-6001-1 DSA-6001-2 +fixed +openssl +3\.0\.15-1 +3\.0\.16-1\n/);
  expect(stdout).not.toContain("CVE-2026-1001");
  expect((await machine.kiln(["advisories", "7", "--all"])).stdout).toMatch(/\nCVE-2026-1001 +open +openssl/);
});
