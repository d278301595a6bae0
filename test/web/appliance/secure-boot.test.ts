/** The firmware on an appliance's overview, with buttons that add UEFI, Secure Boot and a kernel to sign. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { removeBaseSystemFact, setBaseSystemFact } from "../../support/base-system-facts.ts";
import { browser } from "../../support/browser.ts";
import { signedIn, type Client } from "../../support/client.ts";
import { createAppliance, createSafeAppliance } from "../../support/factories.ts";
import { pageOf, textOf } from "../../support/html.ts";
import { stock, tinyLinux, tinyRepository } from "../../support/repositories.ts";

const loader = "grub2-x86_64-efi";
const loaders = ["tiny-shim", "tiny-grub-signed"];
const more = [`${loader}-2.06 requires grub2`, `tiny-shim-1.0 requires ${loader}`, "tiny-grub-signed-1.0.noarch"];
const stocked = [...tinyLinux.main, ...more];
let tux: Client;
let firefox: ReturnType<typeof browser>;

beforeEach(async () => {
  tux = await signedIn();
  firefox = browser();
  await firefox.beginSession(tux);
  await createAppliance(tux); // which loads the catalogue
  await stock(await tinyRepository("main"), stocked);
  await setBaseSystemFact("secureBoot", loaders);
});
afterEach(async () => {
  await removeBaseSystemFact("secureBoot");
});

async function overview(id: number) {
  const page = await pageOf(firefox.get(`/appliance/${id}`));
  const [, boots = ""] = /Boots by(.*?)(?:Changed|$)/.exec(textOf(page, "[aria-labelledby=about]") ?? "") ?? [];
  const added = page.querySelector("[aria-labelledby=about] [name=name]")?.getAttribute("value");
  return { boots, added };
}

async function add(id: number, name: string | null | undefined): Promise<void> {
  const fields = { do: "add", kind: "package", name: name ?? "", form_token: await firefox.formToken() };
  await firefox.post(`/appliance/${id}/software`, fields);
}

it("adds UEFI, and then Secure Boot", async () => {
  const id = await createSafeAppliance(tux);
  const bios = await overview(id);
  expect(bios).toEqual({ boots: "BIOS Add UEFI", added: loader });

  await add(id, bios.added);
  const uefi = await overview(id);
  expect(uefi).toEqual({ boots: "BIOS and UEFI Add Secure Boot", added: "tiny-shim" });

  await add(id, uefi.added);
  expect(await overview(id)).toEqual({ boots: "BIOS and UEFI, with Secure Boot", added: undefined });
});

describe("if the base system has a program that makes unified kernels", () => {
  const maker = "tiny-ukify";

  beforeEach(async () => {
    await stock(await tinyRepository("main"), [...stocked, `${maker}-1.0.noarch`]);
    await setBaseSystemFact("unifiedKernel", [maker]);
  });
  afterEach(async () => {
    await removeBaseSystemFact("unifiedKernel");
  });

  it("adds a kernel that the owner can sign, after Secure Boot", async () => {
    const id = await createSafeAppliance(tux);
    for (const name of [loader, "tiny-shim"]) await add(id, name);
    expect(await overview(id)).toEqual({
      boots: "BIOS and UEFI, with Secure Boot Add a kernel to sign",
      added: maker,
    });

    await add(id, maker);
    expect(await overview(id)).toEqual({ boots: "BIOS and UEFI, with Secure Boot", added: undefined });
  });

  it("offers none for a medium", async () => {
    const id = await createSafeAppliance(tux);
    for (const name of [loader, "tiny-shim"]) await add(id, name);
    await env.DB.prepare("UPDATE appliances SET image_type = 'oemiso' WHERE id = ?").bind(id).run();
    expect((await overview(id)).added).toBeUndefined();
  });
});

it("offers Secure Boot for an installer, too", async () => {
  const needed = ["syslinux", "dracut-kiwi-oem-dump", "dracut-kiwi-oem-repart"].map((name) => `${name}-1.0.noarch`);
  await stock(await tinyRepository("main"), [...stocked, ...needed]);
  const id = await createSafeAppliance(tux);
  await add(id, loader);
  await env.DB.prepare("UPDATE appliances SET image_type = 'oemiso' WHERE id = ?").bind(id).run();
  expect(await overview(id)).toEqual({ boots: "BIOS and UEFI Add Secure Boot", added: "tiny-shim" });
});
