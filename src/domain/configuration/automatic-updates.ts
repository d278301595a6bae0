import type { Issue } from "#domain/appliances/issue";
import type { ImageSettings } from "#domain/configuration/settings-of-base";
import { updatesItself } from "#lib/kiwi/automatic-updates";
import { bringsSecurityUpdates } from "#model/catalogue";
import type { Repository } from "#storage/repositories";

/** Reports automatic updates that would have no effect, because no repository of the image provides any. */
export function updatesIssues(
  image: ImageSettings & { repositories: readonly Pick<Repository, "purpose">[] },
): Issue[] {
  if (!updatesItself(image) || image.settings.automaticUpdates !== "security") return [];
  return image.repositories.some(bringsSecurityUpdates) ? [] : [withoutSecurity];
}

const withoutSecurity: Issue = {
  type: "warning",
  text: "Automatic security updates are on, but no repository of the appliance provides any. Machines would get none.",
  page: "software",
};
