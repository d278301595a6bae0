import { type Arch, imageFormats, imageTypes, type ImageType } from "#lib/contract/index";
import { type Catalogue, reasonAgainst } from "#model/catalogue";
import { type ConfigurationName, configurationNames, configurations } from "./configurations.ts";
import { digestOf, type Template, type Wanted } from "./digest.ts";

/** An image that can be tried. */
export interface TriedImage {
  base: string;
  arch: Arch;
  template: string;
  format: ImageType;
  configuration: ConfigurationName;
  /** The SHA-256 of everything that Kiln decides about it. Mirrors decide the versions of its packages. */
  digest: string;
}

type Titled = Pick<TriedImage, "template" | "configuration"> & { format: string };

/** Its name in reports, below its base system and architecture. */
export const titleOf = ({ template, format, configuration }: Titled): string =>
  [template, configurations[configuration].label, format].filter((text) => text !== "").join(", ");

/**
 * Every image of a catalogue that differs from the others. The first template has all formats, and all configurations
 * in one format of each product: other formats are the same root in another container. Other templates have their own
 * format.
 */
export function imagesOf(catalogue: Catalogue): TriedImage[] {
  const [first, ...others] = catalogue.sets.flatMap(({ templates }) => templates);
  const offered = imageTypes.filter((format) => reasonAgainst(catalogue.baseSystem, format) === undefined);
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

/** Without configurations that the base system or the format cannot have, or that change nothing in the image. */
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
