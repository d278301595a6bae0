import {
  type FrozenConfiguration,
  type FrozenInput,
  type FrozenKey,
  FrozenPackage,
  type FrozenRepository,
  type ImageType,
  isOwnRepository,
  nevra,
} from "#lib/contract/index";
import type { ExaminedAppliance } from "#domain/appliances/status";
import type { EncryptionKey } from "#domain/secrets";
import { debianFacts } from "#domain/images/debian-facts";
import { imageFacts } from "#domain/images/facts";
import { bootOf, frozenFirmware } from "#domain/images/firmware";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { keyOfDeb, readControls } from "#domain/repositories/controls";
import { machineRepositoryOf } from "#domain/repositories/machine-repository";
import { trustOf } from "#domain/repositories/trust";
import type { ApplianceSoftware } from "#domain/software/resolution-request";
import { descriptionFiles } from "#lib/kiwi/description-files";
import type { ImageFacts, MachineRepository } from "#lib/kiwi/facts";
import { uploadsOrigin } from "#lib/kiwi/machine-repository";
import { parseAptAddress } from "#lib/repodata/apt-address";
import { packageTypeOfBase, type BaseSystemFacts } from "#model/catalogue";
import type { ResolvedPackage } from "#lib/solver/resolution";
import type { Appliance } from "#storage/appliances";
import { aliasOf, withSigningKeys, type Repository, type StoredRepository } from "#storage/repositories";
import { configurationOf } from "#lib/configuration/stored";

/** Kiln's own version, which frozen inputs contain. */
const kilnVersion = "0.1.0";

/** A build, with the software that the status has resolved. */
type ToFreeze = { version: string; imageType: ImageType } & Pick<ExaminedAppliance, "software" | "resolution"> & {
    /**
     * Whether the input is only compared and never built. It then omits the paragraphs of Debian's packages, because
     * reading them is slow.
     */
    isOnlyCompared?: boolean;
  };

/**
 * Collects everything that decides what a build contains, so that later changes of the appliance and its repositories
 * do not affect the build. Refused if the software does not resolve.
 */
export async function freezeInput(
  { env, db }: Services<Pick<Env, "BLOBS" | "BASE_URL"> & EncryptionKey>,
  appliance: Appliance,
  { software, resolution, isOnlyCompared = false, ...request }: ToFreeze,
): Promise<FrozenInput> {
  const { baseSystem } = software;
  if (!baseSystem || resolution?.state !== "solved") throw new Refusal("configuration_error");
  const repositories = await withSigningKeys(db, software.repositories);
  const folders = new Map(software.repositories.map(({ id, packagesFolder }) => [aliasOf(id), packagesFolder]));
  const frozen = resolution.packages.map((one) => frozenPackage(one, folders.get(one.repository) ?? ""));
  const needsControls = packageTypeOfBase(baseSystem) === "deb" && !isOnlyCompared;
  const packages = needsControls ? await withControls(env.BLOBS, software, frozen) : frozen;
  const boot = bootOf({ ...software, baseSystem, packages });
  const { facts, keys } = await imageFacts({ env, db }, appliance, {
    ...request,
    name: fileNameOf(appliance.name),
    packages,
    ...boot,
    bootstrap: baseSystem.bootstrap,
  });
  const ofSystem = await systemFacts(env, appliance, { baseSystem, repositories, keys });
  const { debian, uploads } = ofSystem;
  return {
    formatVersion: 1,
    appliance: { id: appliance.id, name: appliance.name, version: request.version, arch: appliance.arch },
    imageType: request.imageType,
    // Absent for rpm, so that its frozen inputs stay byte-identical.
    ...(debian && { packageType: "deb" as const, debRelease: debian.release }),
    ...forBuilder(baseSystem),
    ...frozenFirmware(boot.firmware),
    imageName: imageName(appliance, request),
    repositories: repositories.map(frozenRepository),
    packages,
    selection: frozenSelection(software),
    patterns: resolution.patterns.map(({ name, by: { version, release, repository } }) => ({
      name,
      version,
      release,
      repository,
    })),
    description: descriptionFiles({ ...facts, ...ofSystem }),
    files: facts.overlay,
    keys: debian || !uploads ? keys : [...keys, keyOf(uploads)],
    configuration: frozenConfiguration(appliance),
    sourceDate: sourceDateOf(appliance, software.repositories),
    writtenBy: `kiln ${kilnVersion}`,
  };
}

/** The key of the uploads. Only for rpm, because for apt it is in a separate file. */
const keyOf = ({ fingerprint, armour }: MachineRepository): FrozenKey => ({ name: uploadsOrigin, fingerprint, armour });

/** The facts about the package manager of an image. */
async function systemFacts(
  env: EncryptionKey & Pick<Env, "BASE_URL">,
  appliance: Appliance,
  {
    baseSystem,
    repositories,
    keys,
  }: { baseSystem: BaseSystemFacts; repositories: StoredRepository[]; keys: FrozenKey[] },
): Promise<Pick<ImageFacts, "debian" | "uploads" | "product">> {
  const debian = debianFacts(baseSystem, repositories, keys);
  const uploads = await machineRepositoryOf(env, appliance, repositories);
  const { product } = baseSystem;
  return { ...(debian && { debian }), ...(uploads && { uploads }), ...(product !== undefined && { product }) };
}

/** The base system's requirements for the agent and its tools. */
const forBuilder = ({ builderRoot, rpmDatabase, builderNeeds }: BaseSystemFacts) => ({
  ...(builderRoot !== undefined && { builderRoot }),
  ...(rpmDatabase !== undefined && { rpmDatabase }),
  ...(builderNeeds !== undefined && { builderNeeds }),
});

/** The name of the downloaded file without its extension: `Ticket_counter_kiosk.x86_64-0.0.1.oem`. */
const imageName = (appliance: Appliance, { version, imageType }: { version: string; imageType: ImageType }) =>
  `${fileNameOf(appliance.name)}.${appliance.arch}-${version}.${imageType}`;

function fileNameOf(name: string): string {
  const plain = name.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "_");
  return plain.replace(/^_+|_+$/g, "").slice(0, 100) || "appliance";
}

function frozenRepository(repository: StoredRepository): FrozenRepository {
  const { id, name } = repository;
  const trust = trustOf(repository);
  // Locations of Debian packages are relative to the archive, not to the suite.
  const url = repository.type === "deb" ? parseAptAddress(repository.url).root : repository.url;
  // The service's own repositories can be reached without this, so their frozen inputs stay byte-identical.
  const isOfCatalogue = repository.catalogue !== null && !isOwnRepository(url);
  return {
    alias: aliasOf(id),
    id,
    name,
    url,
    ...(repository.snapshotUrl !== null && { snapshotUrl: repository.snapshotUrl }),
    ...(isOfCatalogue && { isOfCatalogue }),
    ...(trust !== undefined && { trust }),
  };
}

/**
 * The time of the last change to anything that decides the image, in seconds. Starting the same build later does not
 * change it.
 */
function sourceDateOf({ lastEditedAt }: Appliance, repositories: readonly Repository[]): number {
  const changes = [lastEditedAt, ...repositories.map(({ importedAt }) => importedAt)];
  return Math.floor(Math.max(...changes.map((at) => at?.getTime() ?? 0)) / 1000);
}

/** Refuses a package whose metadata has no location or no checksum, because no agent could fetch it. */
function frozenPackage(resolved: ResolvedPackage, folder: string): FrozenPackage {
  const { name, epoch, version, release, arch, repository, downloadSizeBytes: size } = resolved;
  const location = resolved.location && [folder, resolved.location].filter(Boolean).join("/");
  const frozen = { name, epoch, version, release, arch, repository, location, size, checksum: resolved.checksum };
  const parsed = FrozenPackage.safeParse(frozen);
  if (parsed.success) return parsed.data;
  const message = `The repository lists no file or no supported checksum for ${nevra(resolved)}.`;
  throw new Refusal("configuration_error", { message });
}

/** Adds the packages' paragraphs from the lists of the repositories. */
async function withControls(
  blobs: R2Bucket,
  { repositories }: ApplianceSoftware,
  packages: readonly FrozenPackage[],
): Promise<FrozenPackage[]> {
  const read = repositories.map(async ({ id, parts }): Promise<[string, Map<string, string>]> => {
    const alias = aliasOf(id);
    const theirs = packages.filter(({ repository }) => repository === alias);
    return [alias, await readControls(blobs, parts, theirs)];
  });
  const controls = new Map(await Promise.all(read));
  return packages.map((one) => {
    const control = controls.get(one.repository)?.get(keyOfDeb(one));
    if (control !== undefined) return { ...one, control };
    const message = `The repository metadata of ${nevra(one)} is no longer stored. Import the repository again.`;
    throw new Refusal("configuration_error", { message });
  });
}

function frozenSelection({ selection, repositories }: ApplianceSoftware): FrozenInput["selection"] {
  const present = new Set(repositories.map(({ id }) => id));
  const packages = selection
    .filter(({ kind }) => kind === "package")
    .map(({ name, version, repositoryId }) => ({
      name,
      ...(version === null ? {} : { version }),
      ...(repositoryId !== null && present.has(repositoryId) ? { repository: aliasOf(repositoryId) } : {}),
    }));
  return { packages, patterns: selection.filter(({ kind }) => kind === "pattern").map(({ name }) => name) };
}

/** The facts about an appliance that a manifest contains in addition to the KIWI description. */
export function frozenConfiguration(appliance: Appliance): FrozenConfiguration {
  const { locale, network, firewall, settings, scripts } = configurationOf(appliance);
  return {
    baseSystem: appliance.baseSystem,
    estimatedRawMb: appliance.estimatedRawMb,
    locale,
    runlevel: settings.runlevel,
    memoryMb: settings.memorySizeMb,
    cdrom: settings.cdromEnabled,
    network,
    firewall: { ...firewall, openPorts: [...firewall.openPorts] },
    webyast: settings.webyastEnabled,
    ...(scripts.build.enabled && { buildScript: scripts.build.script }),
  };
}
