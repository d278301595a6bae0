/** A catalogue of Debian with a few packages. Its template is appliance 900. */
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
export const debianUrl = "http://mirror.example.org/debian";

const main = [
  "base-files 12.4+deb12u12; Essential: yes",
  "linux-image-amd64 6.1.158-1; Depends: initramfs-tools | dracut",
  "initramfs-tools 0.142",
  "dracut 059-4",
  "grub-pc 2.06-13+deb12u1; Depends: base-files (>= 12)",
  "task-web-server 3.73 all; Depends: apache2",
  "unattended-upgrades 2.9.1+nmu3 all; Depends: base-files",
  "apache2 2.4.62-1~deb12u2; Pre-Depends: base-files; Conflicts: apache",
];
const security = ["apache2 2.4.65-1~deb12u1; Pre-Depends: base-files; Conflicts: apache"];

function catalogue(armour: string) {
  const [set] = tiny.sets;
  const template = { ...set?.templates[0], applianceId: 900, repositories: ["main", "security"], patterns: [] };
  const base = {
    packageType: "deb",
    debRelease: "bookworm",
    kernels: ["linux-image-amd64"],
    bootLoaders: ["grub-pc"],
    needs: {},
    automaticUpdates: { security: ["unattended-upgrades"], all: ["unattended-upgrades"] },
  };
  const suite = { url: debianUrl, type: "deb", components: ["main"], arches: ["x86_64"] };
  return {
    name: "test-deb",
    baseSystem: {
      ...tiny.baseSystem,
      ...base,
      name: "debian-test",
      title: "Debian Test",
      bootstrap: ["base-files"],
      advisories: ["test", "Debian:test"],
      detection: { codenames: ["test"] },
    },
    keys: [armour],
    repositories: [
      { ...suite, key: "main", name: "Debian Test", suite: "test" },
      { ...suite, key: "security", name: "Debian Test, security", suite: "test-security", purpose: "security" },
    ],
    sets: [
      {
        name: "deb",
        description: "Debian",
        templates: [{ ...template, packages: ["linux-image-amd64", "grub-pc"] }],
      },
    ],
  };
}

interface DebianMirror {
  /** Publishes these packages in addition to the first ones, and imports them. */
  publish: (more: { main?: string[]; security?: string[] }) => Promise<void>;
}

export async function loadDebian(): Promise<DebianMirror> {
  const key = await archiveKey();
  expect(await (await operate("PUT", "/catalogues/test-deb", catalogue(key.armour))).json()).toEqual({ templates: 1 });
  const suite = (codename: string, packages: string[]) =>
    debSuite({ codename, lists: { "main/amd64": packages }, key: key.secret });
  const mirror: DebianMirror = {
    publish: async (more) => {
      const files = {
        [`${debianUrl}/dists/test`]: await suite("test", [...main, ...(more.main ?? [])]),
        [`${debianUrl}/dists/test-security`]: await suite("test-security", [...security, ...(more.security ?? [])]),
      };
      for (const { id } of await listByCatalogue(db, "test-deb")) {
        await importRepository({ env, db }, id, mirrorOf(files));
      }
    },
  };
  await mirror.publish({});
  return mirror;
}
