/** A catalogue of Debian for arm64 with a few packages. Its template is appliance 901. */
import { env } from "cloudflare:workers";
import { expect } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { listByCatalogue } from "#storage/repositories";
import { operate } from "./client.ts";
import { archiveKey, debSuite } from "./deb.ts";
import { mirrorOf } from "./mirror.ts";
import tiny from "../../templates/tiny.json";

const db = openDatabase(env);
const url = "http://mirror.example.org/debian-arm64";

const packages = [
  "base-files 12.4+deb12u12 arm64; Essential: yes",
  "linux-image-arm64 6.1.158-1 arm64; Depends: base-files",
  "grub-efi-arm64-bin 2.06-13+deb12u1 arm64; Depends: base-files (>= 12)",
];
/** The index also lists these. */
const ofPcs = ["base-files 12.4+deb12u12; Essential: yes", "linux-image-amd64 6.1.158-1"];

function catalogue(armour: string) {
  const template = { ...tiny.sets[0]?.templates[0], applianceId: 901, arch: "aarch64", patterns: [] };
  return {
    name: "test-arm64",
    baseSystem: {
      ...tiny.baseSystem,
      name: "debian-arm64",
      title: "Debian for arm64",
      packageType: "deb",
      kernels: ["linux-image-arm64"],
      bootLoaders: ["grub-efi-arm64-bin"],
      efiBootLoaders: ["grub-efi-arm64-bin"],
      needs: {},
      cannot: { vmx: "The machine of VMware is a PC." },
      bootstrap: ["base-files"],
      detection: { codenames: ["arms"] },
    },
    keys: [armour],
    repositories: [
      { key: "main", name: "Debian", url, type: "deb", suite: "arms", components: ["main"], arches: ["aarch64"] },
    ],
    sets: [
      {
        name: "arm64",
        description: "Debian for arm64",
        templates: [{ ...template, repositories: ["main"], packages: ["linux-image-arm64", "grub-efi-arm64-bin"] }],
      },
    ],
  };
}

export async function loadDebianForArm64(): Promise<void> {
  const { armour, secret } = await archiveKey();
  expect(await (await operate("PUT", "/catalogues/test-arm64", catalogue(armour))).json()).toEqual({ templates: 1 });
  const lists = { "main/arm64": packages, "main/amd64": ofPcs };
  const suite = await debSuite({ codename: "arms", lists, key: secret });
  for (const { id } of await listByCatalogue(db, "test-arm64")) {
    await importRepository({ env, db }, id, mirrorOf({ [`${url}/dists/arms`]: suite }));
  }
}
