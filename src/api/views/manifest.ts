import type { FrozenConfiguration, FrozenInput } from "#contract/index";
import type { Manifest } from "#domain/builds/manifest";
import { shownPermissions } from "#domain/contents/overlay-file-metadata";
import { keytables } from "#kiwi/keytables";
import { baseUrlOf } from "#api/views/software";
import { copyOf } from "#wire/copy";
import { readXml } from "#wire/read-xml";
import { marked, plainListOf, type XmlFields, type XmlList } from "#wire/xml";

/** The element `manifest` (wire.md §2.7): the KIWI description that was built, and what KIWI has no words for. */
export function manifestFields(
  { uuid, applianceUuid, build, input }: Manifest,
  viewer: { baseUrl: string },
): XmlFields {
  const { configuration } = input;
  return {
    studio_uuid: uuid,
    appliance_uuid: applianceUuid,
    config: { image: copyOf(readXml(input.description["config.xml"] ?? "<image/>")) },
    extra_config: {
      kiwi_version: build.builder ?? undefined,
      arch: input.appliance.arch,
      version: input.appliance.version,
      base_system: configuration?.baseSystem,
      image_type: input.imageType,
      ...(configuration && localFields(configuration)),
      repository: input.repositories.map((one) => repositoryFields(one, viewer)),
      ...(configuration && configuredFields(configuration)),
      overlay_files: filesElement(input.files ?? []),
      // The original has the list also where it is empty.
      gpg_keys: plainListOf(
        "gpg_key",
        (input.keys ?? []).map(({ name, armour }) => marked({ name, target: "rpm" }, armour)),
      ),
    },
  };
}

const localFields = ({ locale, runlevel, estimatedRawMb }: FrozenConfiguration): XmlFields => ({
  time_zone: locale.timezone,
  default_runlevel: runlevel,
  locale: { language: locale.language, keytable: keytables[locale.keyboardLayout] ?? locale.keyboardLayout },
  estimated_size: `${estimatedRawMb} MB`,
});

/** A repository of uploads has no address that a client could use. */
function repositoryFields({ alias, name, url }: FrozenInput["repositories"][number], viewer: { baseUrl: string }) {
  const path = baseUrlOf(url, viewer);
  return marked({ alias }, { name, source: path === undefined ? undefined : marked({ path }, {}) });
}

function configuredFields({ network, firewall, webyast, buildScript }: FrozenConfiguration): XmlFields {
  return {
    network: networkElement(network),
    firewall: {
      firewall_enabled: firewall.enabled,
      ssh: firewall.openPorts.includes("ssh"),
      http: firewall.openPorts.includes("http"),
      webyast,
    },
    build_script: buildScript,
  };
}

/** Whatever the image got of the appliance's own, its pictures too; left out where that is nothing. */
function filesElement(files: NonNullable<FrozenInput["files"]>): XmlList | undefined {
  if (files.length === 0) return undefined;
  return plainListOf(
    "file",
    files.map(({ path, mode, owner, group, size, sha256 }) => ({
      path,
      permissions: shownPermissions(mode),
      owner,
      group,
      size,
      sha256,
    })),
  );
}

/** Addresses count with `manual` alone. */
function networkElement({ type, hostname, ip, netmask, route, nameservers }: FrozenConfiguration["network"]) {
  const addresses = { hostname, ip, netmask, route, nameservers: nameservers.join(", ") };
  return marked({ config: type }, type === "manual" ? addresses : {});
}
