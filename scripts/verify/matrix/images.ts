import { createHash } from "node:crypto";
import { configurationIssues } from "#domain/configuration/issues";
import { withChange } from "#domain/configuration/change";
import { packagesOfSettings, settingsOfBaseIssues } from "#domain/configuration/settings-of-base";
import { debianFacts } from "#domain/images/debian-facts";
import { firmwareOf } from "#domain/images/firmware";
import { configurationChange } from "#lib/configuration/document";
import { Configuration } from "#lib/configuration/stored";
import { type Arch, imageFormats, imageTypes, type ImageType, productOf } from "#lib/contract/index";
import { descriptionFiles } from "#lib/kiwi/description-files";
import { readDocument } from "#lib/wire/read";
import { readJson } from "#lib/wire/read-json";
import { type Catalogue, neededAs, neededWith, packageTypeOfBase, whyNotAs } from "#model/catalogue";
import { type ConfigurationName, configurationNames, configurations } from "./configurations.ts";

type Template = Catalogue["sets"][number]["templates"][number];

/** An image that can be tried. */
export interface TriedImage {
  base: string;
  arch: Arch;
  template: string;
  format: ImageType;
  configuration: ConfigurationName;
  /** The SHA-256 of all that Kiln decides about it. Mirrors decide the versions of its packages. */
  digest: string;
}

interface Wanted {
  catalogue: Catalogue;
  template: Template;
  arch: Arch;
  format: ImageType;
  configuration: ConfigurationName;
}

type Titled = Pick<TriedImage, "template" | "configuration"> & { format: string };

/** Its name in reports, below its base system and architecture. */
export const titleOf = ({ template, format, configuration }: Titled): string =>
  [template, configurations[configuration].label, format].filter((text) => text !== "").join(", ");

/**
 * Every image of a catalogue that differs from the others. The first template has all formats, and all configurations in
 * one format of each product: other formats are the same root in another container. Other templates have their own format.
 */
export function imagesOf(catalogue: Catalogue): TriedImage[] {
  const [first, ...others] = catalogue.sets.flatMap(({ templates }) => templates);
  const offered = imageTypes.filter((format) => whyNotAs(catalogue.baseSystem, format) === undefined);
  const wanted = [
    ...(first ? offered.flatMap((format) => configurationsOf(format, offered).map(of(first, format))) : []),
    ...others.map((template) => of(template, template.imageType)("plain")),
  ];
  return wanted.flatMap(({ template, ...rest }) =>
    distinct(archesOf(catalogue, template).map((arch) => ({ catalogue, template, arch, ...rest }))),
  );
}

const of = (template: Template, format: ImageType) => (configuration: ConfigurationName) => ({
  template,
  format,
  configuration,
});

function configurationsOf(format: ImageType, offered: readonly ImageType[]): readonly ConfigurationName[] {
  const { product } = imageFormats[format];
  return offered.find((other) => imageFormats[other].product === product) === format ? configurationNames : ["plain"];
}

const archesOf = ({ repositories }: Catalogue, template: Template): Arch[] => [
  ...new Set(repositories.filter(({ key }) => template.repositories.includes(key)).flatMap(({ arches }) => arches)),
];

/** Without configurations that the base system or the format cannot have, or that change nothing of the image. */
function distinct(all: readonly Wanted[]): TriedImage[] {
  return all.flatMap((wanted) => {
    const digest = digestOf(wanted);
    if (digest === undefined) return [];
    const isPlain = wanted.configuration === "plain";
    if (!isPlain && digest === digestOf({ ...wanted, configuration: "plain" })) return [];
    const { catalogue, template, arch, format, configuration } = wanted;
    return [{ base: catalogue.name, arch, template: template.name, format, configuration, digest }];
  });
}

/** Undefined if there is no such image. */
function digestOf({ catalogue, template, arch, format: imageType, configuration: name }: Wanted): string | undefined {
  const { baseSystem } = catalogue;
  const tried = configurations[name];
  const added = tried.packages ? tried.packages(baseSystem) : [];
  if (added === undefined || (tried.ofDisk && !productOf(imageType).hasDisk)) return undefined;
  const configuration = configured(template, tried.change ?? {});
  const { settings } = configuration;
  const selected = new Set([...template.packages, ...added]);
  const needed = [...neededAs(baseSystem, imageType), ...packagesOfSettings(baseSystem, { imageType, settings })];
  const names = [...new Set([...selected, ...needed, ...neededWith(baseSystem, selected)])].toSorted();
  const packages = names.map((one) => ({ name: one, epoch: 0, version: "0", release: "0", arch: "noarch" }));
  const firmware = firmwareOf({ arch, imageType, baseSystem, packages });
  if (tried.firmware !== undefined && firmware !== tried.firmware) return undefined;
  const issues = [
    ...settingsOfBaseIssues({ baseSystem, imageType, settings }),
    ...configurationIssues(configuration, { imageType, firmware, packages, softwareMb: template.estimatedRawMb }),
  ];
  if (issues.some(({ type }) => type === "error")) return undefined;
  const repositories = catalogue.repositories.filter(({ key }) => template.repositories.includes(key));
  const { bootstrap, product, builderRoot, rpmDatabase } = baseSystem;
  const debian = debianFacts(baseSystem, repositories.map(asImported), []);
  const facts = { ...configuration, name: "image", title: template.name, version: "0.0.1", arch, imageType, firmware };
  const decided = {
    imageType,
    arch,
    firmware,
    packageType: packageTypeOfBase(baseSystem),
    builderRoot,
    rpmDatabase,
    repositories: repositories.map(({ url }) => url),
    packages: names,
    patterns: template.patterns,
    description: descriptionFiles({
      ...facts,
      packages,
      bootstrap,
      overlay: [],
      users: configuration.users.map(({ password, ...user }) => ({ ...user, passwordHash: `hash of ${password}` })),
      databases: [],
      ...(debian && { debian }),
      ...(product !== undefined && { product }),
    }),
  };
  return createHash("sha256").update(JSON.stringify(decided)).digest("hex");
}

function configured({ name, imageType, configuration }: Template, change: object): Configuration {
  const sent = readDocument(
    configurationChange,
    readJson(configurationChange, JSON.stringify({ configuration: change })),
  );
  return Configuration.parse(withChange({ name, version: "0.0.1", imageType, configuration }, sent).configuration);
}

/** The repository as it is after its import. The signer decides nothing of the image. */
const asImported = ({ url, acceptsExpired, purpose }: Catalogue["repositories"][number]) => ({
  accountId: null,
  url,
  acceptsExpired,
  purpose: purpose ?? null,
  signer: "its signer",
  signingKeys: [],
});
