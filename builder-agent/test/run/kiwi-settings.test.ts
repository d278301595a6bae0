import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { makeKiwiPaths } from "../../src/run/kiwi.ts";
import { temporaryDir } from "../support/agent-place.ts";

async function settings(builder: string) {
  await using dir = await temporaryDir();
  const { config } = await makeKiwiPaths(dir.path, { packageType: "deb" }, builder);
  return JSON.parse(await readFile(config, "utf8"));
}

it("writes KIWI's settings as lists, and since KIWI 11 as it wants them then", async () => {
  const disable = expect.arrayContaining(["check_dracut_module_for_live_iso_in_package_list"]);
  const [options, bundle] = ["-0 --threads=0", { has_package_changes: false }];
  expect(await settings("9.24.56")).toEqual({ xz: [{ options }], bundle: [bundle], runtime_checks: [{ disable }] });
  expect(await settings("11.1.6")).toEqual({ xz: { options }, bundle, runtime_checks: { disable } });
});
