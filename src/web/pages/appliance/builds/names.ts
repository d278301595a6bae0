import type { Build } from "#storage/builds";
import { applianceAt } from "../with-appliance.ts";

export const nameOf = ({ version, imageType }: Build): string => `${version} ${imageType}`;

export const logAt = ({ id, applianceId }: Pick<Build, "id" | "applianceId">): string =>
  applianceAt(applianceId, `builds/${id}/log`);
