import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import type { ImageType } from "../../src/contract.ts";
import { makeKiwiPaths } from "../../src/run/kiwi.ts";
import { temporaryDir } from "../support/agent-place.ts";

async function settings(builder: string, imageType: ImageType = "oem") {
  await using dir = await temporaryDir();
  const { config } = await makeKiwiPaths(dir.path, { packageType: "deb", imageType }, builder);
  return JSON.parse(await readFile(config, "utf8"));
}

it("writes KIWI's settings as lists, and since KIWI 11 as it wants them then", async () => {
  const disable = expect.arrayContaining(["check_dracut_module_for_live_iso_in_package_list"]);
  const [options, bundle] = ["-0 --threads=0", { has_package_changes: false }];
  expect(await settings("9.24.56")).toEqual({ xz: [{ options }], bundle: [bundle], runtime_checks: [{ disable }] });
  expect(await settings("11.1.6")).toEqual({ xz: { options }, bundle, runtime_checks: { disable } });
});

it("has the root of a container stored, and no other archive", async () => {
  const [stored, unused] = [{ options: "-0 --threads=1" }, { options: "-0 --threads=0" }];
  expect(await settings("11", "oci")).toMatchObject({ xz: stored });
  expect(await settings("11", "wsl")).toMatchObject({ xz: stored });
  expect(await settings("11", "net")).toMatchObject({ xz: unused });
});
