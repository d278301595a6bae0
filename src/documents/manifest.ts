import type { FrozenConfiguration, FrozenInput, FrozenRepository } from "#lib/contract/index";
import type { Manifest } from "#domain/builds/manifest";
import { shownPermissions } from "#lib/contract/file-mode";
import { publicUrl } from "#lib/contract/repository-url";
import { keytables } from "#lib/kiwi/keytables";
import { readXml, type XmlNode } from "#lib/wire/read-xml";
import { marked, writeXml, XmlList, type XmlFields, type XmlMarked } from "#lib/wire/xml";

/**
 * The document `manifest` (compatibility.md, "The manifest"): the KIWI description that was built, and what KIWI cannot
 * describe. It is more a file than an answer: always XML, with an XML declaration.
 */
export const manifestXml = (manifest: Manifest, baseUrl: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${writeXml("manifest", manifestFields(manifest, baseUrl))}`;

function manifestFields({ uuid, applianceUuid, build, input }: Manifest, baseUrl: string): XmlFields {
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
      repository: input.repositories.map((one) => repositoryElement(one, baseUrl)),
      ...(configuration && configuredFields(configuration)),
      overlay_files: filesElement(input.files ?? []),
      // The original has the list even if it is empty.
      gpg_keys: new XmlList(
        "gpg_key",
        (input.keys ?? []).map(({ name, armour }) => marked({ name, target: "rpm" }, armour)),
      ),
    },
  };
}

/** An element of the description as a value to write. Groups elements by name and drops text next to elements. */
function copyOf({ attributes, children, exactText }: XmlNode): XmlMarked {
  const named = Object.fromEntries(attributes);
  if (children.length === 0) return marked(named, exactText);
  const groups = Map.groupBy(children, ({ name }) => name);
  return marked(named, Object.fromEntries([...groups].map(([name, nodes]) => [name, nodes.map(copyOf)])));
}

const localFields = ({ locale, runlevel, estimatedRawMb }: FrozenConfiguration): XmlFields => ({
  time_zone: locale.timezone,
  default_runlevel: runlevel,
  locale: { language: locale.language, keytable: keytables[locale.keyboardLayout] ?? locale.keyboardLayout },
  estimated_size: `${estimatedRawMb} MB`,
});

/** A repository of uploads has no URL that a client could use. */
function repositoryElement({ alias, name, url }: FrozenRepository, baseUrl: string) {
  const path = publicUrl(url, baseUrl);
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

/** Every file of the appliance in the image, including its pictures. Omitted if there are none. */
function filesElement(files: NonNullable<FrozenInput["files"]>): XmlList | undefined {
  if (files.length === 0) return undefined;
  return new XmlList(
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

/** Addresses are used only with `manual`. */
function networkElement({ type, hostname, ip, netmask, route, nameservers }: FrozenConfiguration["network"]) {
  const addresses = { hostname, ip, netmask, route, nameservers: nameservers.join(", ") };
  return marked({ config: type }, type === "manual" ? addresses : {});
}
