import { imageFormats, productOf } from "#lib/contract/image-formats";
import type { ImageType } from "#lib/contract/index";
import { accessFunctions, accessPart } from "#lib/kiwi/access";
import { automaticUpdatesPart } from "#lib/kiwi/automatic-updates";
import { autostartPart } from "#lib/kiwi/autostarts";
import { bootPart } from "#lib/kiwi/boot";
import { checkCommandsPart } from "#lib/kiwi/check-commands";
import { configScript } from "#lib/kiwi/config-script";
import { databasePart } from "#lib/kiwi/databases";
import { debianEndPart, debianFunctions, debianPart, secureBootFunctions, secureBootPart } from "#lib/kiwi/debian";
import { kiwiDescription } from "#lib/kiwi/description";
import { diskEncryptionPart } from "#lib/kiwi/disk-encryption";
import { eulaPart } from "#lib/kiwi/eulas";
import type { ImageFacts } from "#lib/kiwi/facts";
import { firstBootFunctions, firstBootPart, hasCloudInit } from "#lib/kiwi/first-boot";
import { firewallPart } from "#lib/kiwi/firewall";
import { identityPart, productFunctions, productPart } from "#lib/kiwi/identity";
import { ignitionPart } from "#lib/kiwi/ignition";
import { localePart } from "#lib/kiwi/locale";
import { loginPart, shellsPart } from "#lib/kiwi/login";
import { machineIdentityPart } from "#lib/kiwi/machine-identity";
import { machineRepositoryPart } from "#lib/kiwi/machine-repository";
import { networkPart } from "#lib/kiwi/network";
import { notesPart } from "#lib/kiwi/notes";
import { joinParts, staging, staged, type Part } from "#lib/kiwi/part";
import { partitionsPart } from "#lib/kiwi/partitions";
import { withInterpreter, shellCommand } from "#lib/kiwi/shell";
import { unifiedKernelPart } from "#lib/kiwi/unified-kernel";

/** Every text file of the KIWI description, by path. The appliance's own files are placed after the generated ones. */
export function descriptionFiles(facts: ImageFacts): Record<string, string> {
  const access = accessPart(facts);
  const { files, commands } = joinParts([
    identityPart(facts),
    productPart(facts),
    localePart(facts),
    debianPart(facts),
    machineRepositoryPart(facts),
    secureBootPart(facts),
    unifiedKernelPart(facts),
    networkPart(facts),
    firstBootPart(facts),
    ignitionPart(facts),
    automaticUpdatesPart(facts),
    diskEncryptionPart(facts),
    firewallPart(facts),
    loginPart(facts),
    access,
    eulaPart(facts),
    databasePart(facts),
    autostartPart(facts),
    checkCommandsPart(facts),
    bootPart(facts),
    partitionsPart(facts),
    notesPart(facts),
    overlayPart(facts),
    buildScriptPart(facts),
    shellsPart(facts),
    machineIdentityPart(facts),
    debianEndPart(facts),
  ]);
  const script = configScript(commands, moreFunctions(facts, access));
  return { "config.xml": kiwiDescription(facts), "config.sh": script, ...files };
}

/** Functions that only some images need: the config.sh of all others stays the same. */
const moreFunctions = (facts: ImageFacts, access: Part): string =>
  [
    facts.debian && debianFunctions,
    facts.product !== undefined && productFunctions,
    access.commands?.length !== 0 && accessFunctions,
    hasCloudInit(facts) && firstBootFunctions,
    facts.firmware === "uefi" && secureBootFunctions,
  ]
    .filter(Boolean)
    .join("");

/** The build script runs last, so it sees the configured image. */
function buildScriptPart({ scripts: { build } }: Pick<ImageFacts, "scripts">): Part {
  if (!build.enabled || build.script.trim() === "") return {};
  return { files: { [`${staging}/build-script`]: withInterpreter(build.script) }, commands: ["run_build_script"] };
}

/**
 * The appliance's own files. config.sh copies them into place inside the image: a folder may be a link there, and the
 * names of the owners are known only there.
 */
const overlayPart = ({ overlay, imageType }: Pick<ImageFacts, "overlay" | "imageType">): Part => ({
  commands: [
    ...overlay.flatMap(({ path }) => overwrittenByKiwi(path, imageType)),
    ...overlay.map(({ path, mode, owner, group, blobId }) =>
      shellCommand("place", `${staged}/contents/${blobId}`, path, mode.toString(8).padStart(4, "0"), owner, group),
    ),
  ],
});

/** KIWI writes the fstab of a disk, and empties the machine-id of an image that boots, after config.sh. */
function overwrittenByKiwi(path: string, imageType: ImageType): string[] {
  if (path === "/etc/fstab" && productOf(imageType).hasDisk) return [shellCommand("fail", fstabText)];
  const isContainer = imageFormats[imageType].product === "container";
  if (path === "/etc/machine-id" && !isContainer) return [shellCommand("note", machineIdText)];
  return [];
}

const fstabText =
  "The file /etc/fstab cannot be put on a disk, because it is written with the disk. Put your own lines into /etc/fstab.append.";
const machineIdText = "the machine-id that you added is emptied, and each machine gets its own";
