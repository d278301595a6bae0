import { type Capabilities, imageFormats, type ImageType, productOf } from "#lib/contract/index";
import { missingAgreement } from "#domain/accounts/agreement";
import { estimateOf } from "#domain/appliances/estimate";
import { rowsOf, type ExaminedRows } from "#domain/appliances/examined-rows";
import type { Issue } from "#domain/appliances/issue";
import { lastStatusOf, noteStatuses } from "#domain/appliances/last-status";
import { whyNoEfi, reasonNotBuilt, whyNoFileSystem, whyNoVolumes } from "#domain/builds/builder-abilities";
import { firstBootIssues } from "#domain/configuration/first-boot";
import { settingsOfBaseIssues } from "#domain/configuration/settings-of-base";
import { updatesIssues } from "#domain/configuration/automatic-updates";
import { machineRepositoryIssues } from "#domain/configuration/machine-repository";
import { configurationIssues } from "#domain/configuration/issues";
import { openRootIssue } from "#domain/configuration/known-passwords";
import { needsVolumes } from "#domain/configuration/volumes";
import { bootOf, efiBootLoaderOf, type BootFacts } from "#domain/images/firmware";
import { secureBootIssues } from "#domain/images/secure-boot";
import { unifiedKernelIssues } from "#domain/images/unified-kernel";
import { knowledgeOf } from "#domain/repositories/knowledge";
import type { Services } from "#domain/services";
import type { EncryptionKey } from "#domain/secrets";
import { readOnlyMessage, readOnlyMode } from "#domain/service-settings";
import { closestNames, didYouMean, type UnknownName } from "#domain/software/closest-names";
import { lackingRepositories } from "#domain/software/lacking-repository";
import { problemWords } from "#domain/software/problem-words";
import { resolve, type SoftwareProblem, type SoftwareResolution } from "#domain/software/resolution";
import { softwareOf, type ApplianceSoftware } from "#domain/software/resolution-request";
import { buildPlaceOf, reasonAgainst, type BaseSystemFacts } from "#model/catalogue";
import { configurationOf } from "#lib/configuration/stored";
import { fileSystemOf } from "#lib/kiwi/file-system";
import { progressWords } from "#model/import-progress";
import { listAbilities } from "#storage/agents";
import type { Appliance } from "#storage/appliances";
import type { Repository } from "#storage/repositories";
import type { Database } from "#storage/db";

export interface ApplianceStatus {
  state: "ok" | "error";
  issues: Issue[];
}

/** The status for a certain reader. It includes reasons why this account, or currently every account, cannot build. */
export async function shownStatus(
  { env, db }: Examiner,
  { appliance, accountId, baseUrl }: { appliance: Appliance; accountId: number; baseUrl: string },
): Promise<ApplianceStatus> {
  const [readOnly, abilities, rows] = await Promise.all([readOnlyMode(db), listAbilities(db), rowsOf(db, appliance)]);
  // Shows only this issue (compatibility.md, "Status"), because nothing else could be fixed now.
  if (readOnly.on) return { state: "error", issues: [error(readOnlyMessage)] };
  const agreement = await missingAgreement(db, { accountId, base: rows.base, baseUrl });
  const examined = await examine({ env, db }, appliance, { imageType: appliance.imageType, abilities, rows });
  const { state, issues } = examined;
  return agreement === undefined ? { state, issues } : { state: "error", issues: [error(agreement), ...issues] };
}

/** A status with the facts behind it. */
export interface ExaminedAppliance extends ApplianceStatus {
  software: ApplianceSoftware;
  /** Undefined if nothing could be resolved. */
  resolution: SoftwareResolution | undefined;
}

interface Examination {
  imageType: ImageType;
  /** The abilities of the service's builders. */
  abilities: readonly Capabilities[];
  /** The rows, if they were read before. */
  rows?: ExaminedRows | undefined;
}

type Examiner = Services<Pick<Env, "BLOBS" | "BASE_URL"> & EncryptionKey>;

/** Resolves the software for an image type, and reports the problems. Stores the status for lists. */
export async function examine(
  services: Examiner,
  appliance: Appliance,
  { imageType, abilities, rows: given }: Examination,
): Promise<ExaminedAppliance> {
  const rows = given ?? (await rowsOf(services.db, appliance));
  const examined = await examineOnly(services, appliance, { imageType, abilities, rows });
  if (imageType === appliance.imageType) await noteStatuses(services.db, [lastStatusOf(appliance, examined, rows)]);
  return examined;
}

/** Examines without storing the status. */
export async function examineOnly(
  services: Examiner,
  appliance: Appliance,
  { imageType, abilities, rows }: Examination & { rows: ExaminedRows },
): Promise<ExaminedAppliance> {
  const software = softwareOf(appliance, rows, imageType);
  // Otherwise no package could be resolved, and reporting each of them would hide the reason.
  const resolution = software.baseSystem && servesArch(software) ? await resolve(services, software) : undefined;
  const openRoot =
    appliance.accountId === null ? undefined : await openRootIssue(services.env, appliance, rows.template);
  const issues = [
    ...repositoryIssues(software),
    ...(await softwareIssues({ db: services.db, abilities, appliance }, software, resolution)),
    ...builderIssues(abilities, software, imageType),
    ...partitionIssues({ abilities, software }, appliance, imageType),
    ...(openRoot ? [openRoot] : []),
    ...settingsOfBaseIssues(software),
    ...firstBootIssues(configurationOf(appliance), software),
    ...updatesIssues(software),
    ...machineRepositoryIssues(services.env, appliance, { ...software, resolution }),
  ];
  return { state: issues.some(({ type }) => type === "error") ? "error" : "ok", issues, software, resolution };
}

const error = (text: string): Issue => ({ type: "error", text });

/** Reports a system that every builder of the service would refuse, or that cannot be built as this image type. */
function builderIssues(
  abilities: readonly Capabilities[],
  { baseSystem }: ApplianceSoftware,
  imageType: ImageType,
): Issue[] {
  if (!baseSystem) return [];
  const texts = [reasonNotBuilt(abilities, buildPlaceOf(baseSystem)), reasonAgainst(baseSystem, imageType)];
  return texts.flatMap((text) => (text === undefined ? [] : [error(text)]));
}

/** Reports volumes and a file system if every builder of the service would refuse them. */
function partitionIssues(
  { abilities, software: { baseSystem } }: { abilities: readonly Capabilities[]; software: ApplianceSoftware },
  appliance: Appliance,
  imageType: ImageType,
): Issue[] {
  if (!baseSystem) return [];
  const configuration = configurationOf(appliance);
  const wanted = { imageType, arch: appliance.arch, ...buildPlaceOf(baseSystem) };
  const fileSystem = fileSystemOf({ imageType, settings: configuration.settings });
  return [
    needsVolumes(configuration, imageType) ? whyNoVolumes(abilities, wanted) : undefined,
    whyNoFileSystem(abilities, { ...wanted, fileSystem }),
  ].flatMap((why) => (why === undefined ? [] : [error(why)]));
}

/** Reports a UEFI boot loader in the software if every builder of the service would refuse it. */
function firmwareIssues(
  abilities: readonly Capabilities[],
  software: BootFacts & { baseSystem: BaseSystemFacts },
): Issue[] {
  const loader = efiBootLoaderOf(software);
  if (loader === undefined) return [];
  const why = whyNoEfi(abilities, { ...software, ...buildPlaceOf(software.baseSystem), loader });
  return why === undefined ? [] : [error(why)];
}

function repositoryIssues({ arch, repositories }: ApplianceSoftware): Issue[] {
  if (repositories.length === 0) return [error("The appliance has no repository.")];
  const stale = repositories.filter((one) => knowledgeOf(one) === "stale").map(staleIssue);
  if (!servesArch({ arch, repositories })) {
    return [error(`None of the appliance's repositories has packages for ${arch}.`), ...stale];
  }
  return stale;
}

const servesArch = ({ arch, repositories }: Pick<ApplianceSoftware, "arch" | "repositories">): boolean =>
  repositories.some(({ arches, revision }) => revision === null || arches.includes(arch));

const staleIssue = ({ name, problem }: Repository): Issue => ({
  type: "warning",
  text: `The repository ${name} could not be refreshed, so its last known contents are used: ${problem}`,
});

async function softwareIssues(
  known: { db: Database; abilities: readonly Capabilities[]; appliance: Appliance },
  software: ApplianceSoftware,
  resolution: SoftwareResolution | undefined,
): Promise<Issue[]> {
  const { baseSystem } = software;
  const { appliance } = known;
  if (!baseSystem) return [error("The base system of the appliance no longer exists.")];
  if (!resolution) return [];
  switch (resolution.state) {
    case "unimported":
      return resolution.repositories.map(unimportedIssue);
    case "unsolvable":
      return await problemIssues(known, software, resolution.problems);
    case "solved": {
      const image = { ...software, baseSystem, packages: resolution.packages };
      const softwareMb = estimateOf(resolution)?.estimatedRawMb ?? 0;
      return [
        ...bootIssues(image, resolution),
        ...diskIssues(appliance, software, resolution),
        ...configurationIssues(configurationOf(appliance), { ...image, softwareMb, ...bootOf(image) }),
        ...firmwareIssues(known.abilities, image),
        ...secureBootIssues(image),
        ...unifiedKernelIssues(image),
      ];
    }
    default:
      return resolution satisfies never;
  }
}

/** The issue that nothing can be resolved with a repository, because it was never imported. */
export const unimportedIssue = (repository: Repository): Issue => {
  const text = unimportedText(repository);
  return { ...error(text), ofSoftware: text };
};

function unimportedText({ name, problem, revision, importProgress }: Repository): string {
  if (revision !== null) return `The contents of the repository ${name} cannot be read at the moment.`;
  return problem === null
    ? `The repository ${name} is still being imported${importProgress ? `: ${progressWords(importProgress)}` : ""}.`
    : `The repository ${name} could not be imported: ${problem}`;
}

/** How many unknown names get suggestions. */
const maxExplained = 10;

async function problemIssues(
  { db, appliance }: { db: Database; appliance: Appliance },
  software: ApplianceSoftware,
  problems: SoftwareProblem[],
): Promise<Issue[]> {
  const needed = problems.flatMap(({ unknown: one }) =>
    one?.kind === "package" && !isSelected(software, one) ? [one.name] : [],
  );
  const lacking = await lackingRepositories(db, appliance, { software, names: needed });
  const unknown = problems.flatMap(({ unknown: one }) => (one && isSelected(software, one) ? [one] : []));
  const meant = unknown.slice(0, maxExplained).map(async (one): Promise<[string, string]> => {
    return [keyOf(one), didYouMean(await closestNames(db, software, one))];
  });
  const explained = new Map(await Promise.all(meant));
  return problems.map((problem) => {
    const repository = problem.unknown && lacking.get(problem.unknown.name);
    if (repository) return lackingIssue(software, repository, problem.unknown?.name ?? "");
    const one = problem.unknown && isSelected(software, problem.unknown) ? problem.unknown : undefined;
    const meant = one && (explained.get(keyOf(one)) ?? "");
    const ofSoftware = `${problemWords(problem, software)}${meant ?? ""}`;
    return { ...problemIssue(problem, one && { ...one, meant: meant ?? "" }), ofSoftware };
  });
}

const lackingIssue = ({ imageType }: ApplianceSoftware, { id, name }: Repository, lacked: string): Issue => ({
  ...error(`${imageType} needs ${lacked}, which only the repository ${id} has (${name}). Add it to the appliance.`),
  repository: id,
});

const keyOf = ({ kind, name }: UnknownName): string => `${kind} ${name}`;

function problemIssue(
  { text, ways, install }: SoftwareProblem,
  unknown: (UnknownName & { meant: string }) | undefined,
): Issue {
  const proposals = ways.map((way) => way.text).join("; or ");
  const advice = proposals === "" ? "" : ` (possible: ${proposals})`;
  const issue = error(`${text}${advice}${unknown?.meant ? `.${unknown.meant}` : ""}`);
  if (install !== undefined) return { ...issue, solution: { type: "install", package: install } };
  return unknown?.kind === "package" ? { ...issue, solution: { type: "remove", package: unknown.name } } : issue;
}

/** Whether the user selected it. Users cannot remove what the base system or the image type needs. */
const isSelected = ({ selection }: ApplianceSoftware, { kind, name }: UnknownName): boolean =>
  selection.some((entry) => entry.kind === kind && entry.name === name);

type BuiltSoftware = Pick<ApplianceSoftware, "imageType"> & { baseSystem: BaseSystemFacts };
type Solved = Extract<SoftwareResolution, { state: "solved" }>;

/** Reports what an image lacks for booting. A container needs no kernel, because it uses that of its host. */
function bootIssues({ baseSystem: facts, imageType }: BuiltSoftware, { packages }: Solved): Issue[] {
  if (imageFormats[imageType].product === "container") return [];
  const names = new Set(packages.map(({ name }) => name));
  return [
    ...missing(names, facts.kernels, "No kernel package is selected."),
    ...missing(names, facts.bootLoaders, "No boot loader is selected."),
  ];
}

function missing(names: ReadonlySet<string>, wanted: string[], text: string): Issue[] {
  const [first = ""] = wanted;
  if (wanted.some((name) => names.has(name))) return [];
  return [{ ...error(text), solution: { type: "install", package: first } }];
}

/**
 * Reports disks that are too small. Live media and network images are as large as their contents. Other images have a
 * disk of the configured size.
 */
function diskIssues(appliance: Appliance, { imageType }: ApplianceSoftware, resolution: Solved): Issue[] {
  const needed = estimateOf(resolution)?.estimatedRawMb ?? 0;
  const { diskSizeMb } = configurationOf(appliance).settings;
  if (!productOf(imageType).hasDisk || needed <= diskSizeMb) return [];
  return [error(`The software needs ${needed} MB, but the disk has only ${diskSizeMb} MB.`)];
}
