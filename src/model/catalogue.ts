import { z } from "zod";
import {
  Arch,
  BuilderNeeds,
  BuilderRootName,
  fileSystems,
  imageFormats,
  ImageType,
  PackageType,
  productNames,
  RpmDatabase,
} from "#lib/contract/index";
import { aptAddress, componentName, packageName, withOnly } from "#lib/repodata/apt-address";
import { automaticUpdates, diskEncryptions, firstBoots } from "#lib/configuration/settings";
import { Configuration } from "#lib/configuration/stored";

/** Ids below are templates; the first migration starts the ids of people's appliances above. */
const highestTemplateId = 999;

/** A legal text that an account must accept before it builds appliances of a base system. */
export const AgreementText = z.object({
  title: z.string().trim().min(1).max(200),
  text: z.string().min(1).max(100_000),
});
export type AgreementText = z.infer<typeof AgreementText>;

/** The image types that a rule is for: all of one product, or one type. */
const Made = z.union([z.enum(productNames), ImageType]);

const Packages = z.array(z.string()).min(1);

/** The facts of a distribution that are needed to check an appliance and to write its KIWI description. */
export const BaseSystemFacts = z.object({
  title: z.string().min(1),
  /** How long the distribution itself provides fixes. Absent if unknown. */
  support: z
    .object({
      /** Null for a rolling release. */
      until: z.iso.date().nullable(),
      /** The end of fixes by another team, for only some of the packages. */
      longTermUntil: z.iso.date().optional(),
      /** The page that states this. */
      source: z.url({ protocol: /^https$/ }),
    })
    .optional(),
  /** Whether it is only for trying Kiln. Pages offer it last. */
  isToy: z.boolean().optional(),
  /**
   * The measured size of a download: the megabytes in addition to its packages, such as the initrd, and the megabytes
   * for each megabyte of their files. Default: as large as these files.
   */
  download: z.object({ besidesMb: z.number().nonnegative(), perPackageMb: z.number().positive() }).optional(),
  /** Default: rpm. Catalogues and rows from before deb have no type. */
  packageType: PackageType.optional(),
  /** The builder root that its images are built in. Default: wherever the agent builds by default. */
  builderRoot: BuilderRootName.optional(),
  /** An image needs one of these packages. */
  kernels: z.array(z.string()).min(1),
  bootLoaders: z.array(z.string()).min(1),
  /** Packages that each make an image of x86_64 also boot by UEFI (decision 31). Absent if there are none. */
  efiBootLoaders: z.array(z.string()).optional(),
  /**
   * Packages that together make an image for UEFI also boot with Secure Boot. A selection with the first gets the
   * others. Absent if nothing is signed.
   */
  secureBoot: Packages.optional(),
  /**
   * Packages that together make one program of the kernel, the initial archive and the arguments, which the owner can
   * sign (decision 31). A selection with the first gets the others. Absent if Kiln knows none.
   */
  unifiedKernel: Packages.optional(),
  /** The packages of each pattern that `status` needs: kernels and boot loaders. */
  patterns: z.record(z.string(), z.array(z.string())),
  /** Packages that images need in addition to the selection, e.g. dracut-kiwi-live for live media. */
  needs: z.partialRecord(Made, z.array(z.string())),
  /** The packages of what can configure a machine at its first boot. Absent if Kiln knows none for it. */
  firstBoot: z.partialRecord(z.enum(firstBoots).exclude(["none"]), Packages).optional(),
  /** The packages that install updates on a machine. Absent if Kiln knows none for it. */
  automaticUpdates: z.partialRecord(z.enum(automaticUpdates).exclude(["none"]), Packages).optional(),
  /** The packages that encrypt a machine's disk. Absent if Kiln knows none for it. */
  diskEncryption: z.partialRecord(z.enum(diskEncryptions).exclude(["none"]), Packages).optional(),
  /** The packages that a root with a file system other than ext4 needs. Absent if Kiln knows none for it. */
  fileSystem: z.partialRecord(z.enum(fileSystems).exclude(["ext4"]), Packages).optional(),
  /** The types that it cannot be built as, each with a message that explains why. */
  cannot: z.partialRecord(Made, z.string().min(1)).optional(),
  /** The packages that KIWI installs from outside before the image's own package manager exists; null for all. */
  bootstrap: z.array(z.string()).nullable(),
  /** The format of its package database. Default: the format of the builder's rpm. */
  rpmDatabase: RpmDatabase.optional(),
  /** Its file in /etc/products.d, without `.prod`: the installed product for zypper and others. Absent if none. */
  product: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/)
    .optional(),
  /** The least memory and disk of a build in a guest. Without it, the agent's configuration decides. */
  builderNeeds: BuilderNeeds.optional(),
  /** The least memory of a testdrive: with less, its images do not boot. */
  testdriveMemoryMb: z.int().min(64).max(65_536).optional(),
  /** Its names in feeds of security advisories: `bookworm` in Debian's tracker, `Debian:12` in OSV. Absent if there are none. */
  advisories: z.array(z.string().min(1)).optional(),
  /** How to recognise imported repositories for it; the first match decides. */
  detection: z
    .object({
      /** URLs, with `*` for anything. */
      urls: z.array(z.string()).default([]),
      /** Names of the distribution in the repository's index, with `*` for anything. */
      cpeIds: z.array(z.string()).default([]),
      /** Debian's codenames: `bookworm` also matches `bookworm-backports`. The first is debootstrap's name of it. */
      codenames: z.array(z.string()).optional(),
      /** Capabilities that its release package provides: a name, or `name = version`. */
      releaseCapabilities: z.array(z.string()).default([]),
    })
    .default({ urls: [], cpeIds: [], releaseCapabilities: [] }),
  /**
   * The mirrors that images use for the catalogue's repositories, if they are different: the start of a URL, by the
   * start of the URL that it replaces. The operator's own mirror may be unreachable where images run.
   */
  publicMirrors: z.record(z.string(), z.string().regex(/^https?:\/\//)).optional(),
  agreement: AgreementText.optional(),
});
export type BaseSystemFacts = z.infer<typeof BaseSystemFacts>;

/** Why a base system cannot be built as this type. Undefined if it can. */
export const reasonAgainst = ({ cannot }: Pick<BaseSystemFacts, "cannot">, imageType: ImageType): string | undefined =>
  cannot?.[imageType] ?? cannot?.[imageFormats[imageType].product];

/**
 * The packages that a base system needs for this type, in addition to the selection. Without an entry for containers,
 * they are made from the root of its disks.
 */
export const neededAs = ({ needs }: Pick<BaseSystemFacts, "needs">, imageType: ImageType): string[] => [
  ...(needs[rootOf(imageType, needs)] ?? []),
  ...(needs[imageType] ?? []),
];

/** The packages that complete a way of booting if its first package is selected. */
export const neededWith = (
  { secureBoot = [], unifiedKernel = [] }: Pick<BaseSystemFacts, "secureBoot" | "unifiedKernel">,
  selected: ReadonlySet<string>,
): string[] =>
  [secureBoot, unifiedKernel].flatMap(([first, ...others]) =>
    first !== undefined && selected.has(first) ? others : [],
  );

const rootOf = (imageType: ImageType, needs: BaseSystemFacts["needs"]) => {
  const { product } = imageFormats[imageType];
  return product === "container" && !needs.container ? "disk" : product;
};

/** The layout of a repository's index. */
export const RepositoryType = z.enum(["rpm-md", "yast2", "deb"]);
export type RepositoryType = z.infer<typeof RepositoryType>;

/**
 * The purposes of repositories with fixes: fixes of all kinds, or only of security faults. Pages mark packages from
 * such a repository.
 */
export const repositoryPurposes = ["updates", "security"] as const;

/** Whether new versions in a repository are security updates. */
export const bringsSecurityUpdates = ({ purpose }: { purpose: (typeof repositoryPurposes)[number] | null }): boolean =>
  purpose === "security";

/** The type of a base system's packages. */
export const packageTypeOfBase = (facts: Pick<BaseSystemFacts, "packageType">): PackageType =>
  facts.packageType ?? "rpm";
/** The facts of a base system that decide which agents can build it. */
export const buildPlaceOf = (facts: Pick<BaseSystemFacts, "packageType" | "builderRoot">) => ({
  packageType: packageTypeOfBase(facts),
  builderRoot: facts.builderRoot,
});
export const packageTypeOfRepository = ({ type }: { type: RepositoryType }): PackageType =>
  type === "deb" ? "deb" : "rpm";

/** Checks for a booted system of a template, for `npm run verify:base`. The service itself does not use it. */
export const TemplatePromises = z.object({
  /** The systemd units that must be active. */
  units: z.array(z.string().regex(/^[A-Za-z0-9@:._-]+$/)).default([]),
  /** TCP ports that must answer with bytes, immediately or to an HTTP request. */
  ports: z.array(z.int().min(1).max(65_535)).default([]),
  /** Commands for a root shell that must exit with code 0. */
  commands: z.array(z.string().regex(/^[^\n\r]+$/)).default([]),
});
export type TemplatePromises = z.infer<typeof TemplatePromises>;

/** Where a repository that shows only its latest state stores earlier states. */
export const RepositorySnapshots = z.object({
  /** Finds the snapshot's name in a CPE name of the index: the first group of the match. */
  cpeId: z.string().refine(isPattern, "This is not a regular expression."),
  /** The repository's URL in that snapshot. `$snapshot` stands for the snapshot's name. */
  url: z.string().regex(/^https?:\/\/\S*\$snapshot\S*$/),
});
export type RepositorySnapshots = z.infer<typeof RepositorySnapshots>;

function isPattern(text: string): boolean {
  try {
    return RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}

/** zypper's variable for the architecture, in a repository's URL. */
const basearch = /\$basearch\b|\$\{basearch\}/;
const basearchOf = ([arch]: readonly Arch[]): string => (arch === "i586" ? "i386" : (arch ?? ""));

const key = z.string().regex(/^[a-z0-9][a-z0-9._-]*$/);

/** A template catalogue: a distribution, its repositories and the templates made of them, as data (templates/*.json). */
export const Catalogue = z.object({
  name: key,
  baseSystem: BaseSystemFacts.extend({ name: z.string().regex(/^\S+$/) }),
  repositories: z
    .array(
      z
        .object({
          key,
          name: z.string().min(1),
          url: z.string().regex(/^(https?:\/\/|service:\/)\S+$/),
          type: RepositoryType,
          /** Only for rpm-md: where each snapshot stays for a while. The repository's own URL shows only the latest. */
          snapshots: RepositorySnapshots.optional(),
          /** Only for deb: the suite below `url`, and its components. Without a suite, `url` is the index's. */
          suite: z
            .string()
            .regex(/^[A-Za-z0-9][A-Za-z0-9.+/-]*$/)
            .optional(),
          components: z.array(z.string().regex(componentName)).default([]),
          /** Only for deb: the packages that are used, if all others of the suite are ignored. */
          only: z.array(z.string().regex(packageName)).default([]),
          arches: z.array(Arch).min(1),
          priority: z.int().min(1).max(99).default(99),
          /** Absent if the packages are those of the release. */
          purpose: z.enum(repositoryPurposes).optional(),
          /** Only for deb: whether an expired index is accepted. */
          acceptsExpired: z.boolean().default(false),
        })
        .refine(({ url, arches }) => arches.length === 1 || !basearch.test(url), {
          error: "A url with $basearch is for one architecture: give each its own repository.",
          path: ["url"],
        })
        .transform(({ suite, components, only, ...repository }) => {
          const url = repository.url.replaceAll(new RegExp(basearch, "g"), () => basearchOf(repository.arches));
          const address = suite === undefined ? url : aptAddress(url, suite, components);
          return { ...repository, url: withOnly(address, only) };
        }),
    )
    .min(1),
  /** Public keys in ASCII armour: one of them must have signed the index of each deb repository. */
  keys: z.array(z.string().max(256 * 1024)).default([]),
  sets: z
    .array(
      z.object({
        name: key,
        description: z.string(),
        templates: z.array(
          z.object({
            applianceId: z.int().min(1).max(highestTemplateId),
            name: z.string().min(1),
            description: z.string().min(1),
            arch: Arch,
            imageType: ImageType,
            repositories: z.array(key).min(1),
            packages: z.array(z.string()),
            patterns: z.array(z.string()),
            estimatedRawMb: z.int().positive(),
            estimatedCompressedMb: z.int().positive(),
            configuration: Configuration,
            promises: TemplatePromises.optional(),
          }),
        ),
      }),
    )
    .min(1),
});
export type Catalogue = z.infer<typeof Catalogue>;
