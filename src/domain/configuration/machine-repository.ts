import type { Issue } from "#domain/appliances/issue";
import { hasUserRepository } from "#domain/repositories/machine-repository";
import type { SoftwareResolution } from "#domain/software/resolution";
import { configurationOf } from "#lib/configuration/stored";
import type { Appliance } from "#storage/appliances";
import type { Repository } from "#storage/repositories";

interface Facts {
  repositories: readonly Repository[];
  resolution: SoftwareResolution | undefined;
}

/** Reports why machines would not find the packages that their owner has uploaded. */
export function machineRepositoryIssues(
  { BASE_URL: baseUrl }: Pick<Env, "BASE_URL">,
  appliance: Appliance,
  { repositories, resolution }: Facts,
): Issue[] {
  if (!configurationOf(appliance).settings.updateUploads) return [];
  if (!hasUserRepository(appliance, repositories)) return [withoutUploads];
  if (baseUrl === "") return [withoutAddress];
  const isWithoutCertificates =
    baseUrl.startsWith("https:") &&
    resolution?.state === "solved" &&
    !resolution.packages.some(({ name }) => name.startsWith("ca-certificates"));
  return isWithoutCertificates ? [withoutCertificates] : [];
}

const begin = "Machines are set to find newer versions of the packages that you uploaded, but";

const withoutUploads: Issue = {
  type: "warning",
  text: `${begin} the appliance does not have your user repository: nothing is configured in the image.`,
  page: "software",
};

const withoutAddress: Issue = {
  type: "warning",
  text: `${begin} this service has no lasting address (its operator can set BASE_URL): nothing is configured in the image.`,
};

const withoutCertificates: Issue = {
  type: "warning",
  text: `${begin} ca-certificates is not selected. Without it they cannot check the service's certificate, so they would download nothing.`,
  solution: { type: "install", package: "ca-certificates" },
};
