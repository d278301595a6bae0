import { createHash } from "node:crypto";
import { withChange } from "#domain/configuration/change";
import { configurationIssues } from "#domain/configuration/issues";
import { packagesOfSettings, settingsOfBaseIssues } from "#domain/configuration/settings-of-base";
import { debianFacts } from "#domain/images/debian-facts";
import { firmwareOf } from "#domain/images/firmware";
import { configurationChange } from "#lib/configuration/document";
import { Configuration } from "#lib/configuration/stored";
import { type Arch, type Firmware, type ImageType, productOf } from "#lib/contract/index";
import { descriptionFiles } from "#lib/kiwi/description-files";
import { readDocument } from "#lib/wire/read";
import { readJson } from "#lib/wire/read-json";
import { type Catalogue, neededAs, neededWith, packageTypeOfBase } from "#model/catalogue";
import { type ConfigurationName, configurations } from "./configurations.ts";

export type Template = Catalogue["sets"][number]["templates"][number];

/** An image that may exist. */
export interface Wanted {
  catalogue: Catalogue;
  template: Template;
  arch: Arch;
  format: ImageType;
  configuration: ConfigurationName;
}

/** The SHA-256 of all that Kiln decides about an image, without its packages' versions. Undefined if there is none. */
export function digestOf(wanted: Wanted): string | undefined {
  const { catalogue, template, arch, format: imageType, configuration: name } = wanted;
  const { baseSystem } = catalogue;
  const { packages: add, change = {}, firmware: must, ofDisk = false } = configurations[name];
  const added = add ? add(baseSystem) : [];
  if (added === undefined || (ofDisk && !productOf(imageType).hasDisk)) return undefined;
  const configuration = configured(template, change);
  const packages = packagesOf(wanted, configuration, added);
  const firmware = firmwareOf({ arch, imageType, baseSystem, packages });
  if (must !== undefined && firmware !== must) return undefined;
  const { settings } = configuration;
  const issues = [
    ...settingsOfBaseIssues({ baseSystem, imageType, settings }),
    ...configurationIssues(configuration, { imageType, firmware, packages, softwareMb: template.estimatedRawMb }),
  ];
  if (issues.some(({ type }) => type === "error")) return undefined;
  const decided = decidedBy(wanted, { configuration, packages, firmware });
  return createHash("sha256").update(JSON.stringify(decided)).digest("hex");
}

/** The packages that are requested, without versions. */
function packagesOf({ catalogue, template, format: imageType }: Wanted, { settings }: Configuration, added: string[]) {
  const { baseSystem } = catalogue;
  const selected = new Set([...template.packages, ...added]);
  const needed = [...neededAs(baseSystem, imageType), ...packagesOfSettings(baseSystem, { imageType, settings })];
  const names = new Set([...selected, ...needed, ...neededWith(baseSystem, selected)]);
  return [...names].toSorted().map((name) => ({ name, epoch: 0, version: "0", release: "0", arch: "noarch" }));
}

interface Planned {
  configuration: Configuration;
  packages: ReturnType<typeof packagesOf>;
  firmware: Firmware;
}

function decidedBy({ catalogue, template, arch, format: imageType }: Wanted, planned: Planned): object {
  const { configuration, packages, firmware } = planned;
  const { bootstrap, product, builderRoot, rpmDatabase } = catalogue.baseSystem;
  const repositories = catalogue.repositories.filter(({ key }) => template.repositories.includes(key));
  const debian = debianFacts(catalogue.baseSystem, repositories.map(asImported), []);
  const image = { arch, imageType, firmware, packages };
  return {
    ...image,
    packageType: packageTypeOfBase(catalogue.baseSystem),
    builderRoot,
    rpmDatabase,
    repositories: repositories.map(({ url }) => url),
    patterns: template.patterns,
    description: descriptionFiles({
      ...configuration,
      ...image,
      name: "image",
      title: template.name,
      version: "0.0.1",
      bootstrap,
      overlay: [],
      users: configuration.users.map(({ password, ...user }) => ({ ...user, passwordHash: `hash of ${password}` })),
      databases: [],
      ...(debian && { debian }),
      ...(product !== undefined && { product }),
    }),
  };
}

function configured({ name, imageType, configuration }: Template, change: object): Configuration {
  const sent = readDocument(
    configurationChange,
    readJson(configurationChange, JSON.stringify({ configuration: change })),
  );
  return Configuration.parse(withChange({ name, version: "0.0.1", imageType, configuration }, sent).configuration);
}

/** The repository as it is after its import. The signer does not affect the image. */
const asImported = ({ url, acceptsExpired, purpose }: Catalogue["repositories"][number]) => ({
  accountId: null,
  url,
  acceptsExpired,
  purpose: purpose ?? null,
  signer: "its signer",
  signingKeys: [],
});
