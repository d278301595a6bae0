import { createHash } from "node:crypto";
import { settingsWith } from "../../support/settings.ts";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { readKey } from "openpgp";
import { firmwareOf, frozenFirmware } from "#domain/images/firmware";
import { neededAs } from "#model/catalogue";
import { kiwiDescription, type DescriptionFacts } from "#lib/kiwi/description";
import { openSolver } from "#lib/solver/solver";
import { frozenInput } from "../../../builder-agent/test/support/frozen-input.ts";
import {
  FrozenPackage,
  type Arch,
  type FrozenConfiguration,
  type FrozenInput,
  type ImageType,
  type RepositoryTrust,
} from "../../../builder-agent/src/contract.ts";
import tiny from "../../../templates/tiny.json" with { type: "json" };
import { jobOf } from "../../solver/repo-dsl.ts";

const moduleFile = new URL("../../../src/lib/solver/native/solver.wasm", import.meta.url);
const priorities = { main: 90, updates: 80 };

/**
 * Frozen inputs record what config.sh may do. Without a user's script, one root serves every type (prepared/key.ts).
 */
const plainConfiguration: FrozenConfiguration = {
  baseSystem: "tiny-1.0",
  estimatedRawMb: 512,
  locale: { language: "en_US.UTF-8", keyboardLayout: "english-us", timezone: "UTC" },
  runlevel: 3,
  network: { type: "none", hostname: "", ip: "", netmask: "", route: "", nameservers: [] },
  firewall: { enabled: false, openPorts: [] },
  webyast: false,
};

interface Wish {
  imageType?: ImageType;
  arch?: Arch;
  requests?: string[];
  /** Changes to the usual description. */
  facts?: Partial<DescriptionFacts>;
}

/** Freezes Tiny Linux with these requests (repo-dsl), with the Worker's solver and description. */
export async function resolvedTiny(
  distribution: string,
  { imageType = "oem", arch = "x86_64", requests = ["hello"], facts = {} }: Wish = {},
): Promise<FrozenInput> {
  const solver = await openSolver(await WebAssembly.compile(readFileSync(moduleFile)), arch === "i586" ? "i686" : arch);
  for (const [name, priority] of Object.entries(priorities)) {
    const repository = solver.addRepository(name, { priority });
    repository.readPrimary(primaryOf(join(distribution, name, "repodata")));
    repository.finish();
  }
  solver.ready();
  const needs = neededAs(tiny.baseSystem, imageType);
  const resolution = solver.solve(["pattern base", ...needs, ...requests].map(jobOf), { recommended: false });
  if (resolution.state === "unsolvable") throw new Error(resolution.problems.map(({ text }) => text).join("; "));
  const packages = resolution.packages.map(({ downloadSizeBytes: size, ...one }) =>
    FrozenPackage.parse({ ...one, size }),
  );
  const frozen = frozenInput({ imageType });
  const firmware = firmwareOf({ arch, imageType, baseSystem: tiny.baseSystem, packages });
  return {
    ...frozen,
    ...frozenFirmware(firmware),
    appliance: { ...frozen.appliance, arch },
    packages,
    repositories: await Promise.all(
      frozen.repositories.map(async (one) => ({ ...one, trust: await trustOf(distribution, one.alias) })),
    ),
    sourceDate: 1_767_225_600,
    configuration: plainConfiguration,
    description: { "config.xml": describe({ imageType, firmware, packages, ...facts }) },
  };
}

const describe = (facts: Partial<DescriptionFacts> & Pick<DescriptionFacts, "imageType" | "packages">) =>
  kiwiDescription({
    name: "Kiosk",
    version: "0.0.1",
    settings: settingsWith({ diskSizeMb: 512 }),
    locale: { language: "en_US.UTF-8", keyboardLayout: "english-us", timezone: "UTC" },
    users: [
      {
        name: "root",
        passwordHash: `$6$sample$${"x".repeat(86)}`,
        homedir: "/root",
        shell: "/bin/bash",
        group: "root",
        uid: 0,
      },
    ],
    bootstrap: null,
    ...facts,
  });

/** The trust data that an import finds for a signed repository. */
async function trustOf(distribution: string, name: string): Promise<RepositoryTrust> {
  const armour = readFileSync(join(distribution, "keys/tiny.asc"), "utf8");
  const fingerprint = (await readKey({ armoredKey: armour })).getFingerprint();
  const index = readFileSync(join(distribution, name, "repodata/repomd.xml"));
  return {
    index: "repodata/repomd.xml",
    indexSha256: createHash("sha256").update(index).digest("hex"),
    signedBy: fingerprint,
    keys: [{ name: "Tiny Linux", fingerprint, armour }],
  };
}

function primaryOf(repodata: string): Uint8Array {
  const name = readdirSync(repodata).find((file) => file.endsWith("primary.xml.gz"));
  if (name === undefined) throw new Error(`${repodata} has no primary.xml.gz`);
  return gunzipSync(readFileSync(join(repodata, name)));
}
