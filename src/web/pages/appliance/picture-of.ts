import type { Appliance } from "#storage/appliances";
import { vesselOf } from "../../parts/picture.tsx";
import { applianceAt } from "./with-appliance.ts";

/** The address of an appliance's own logo, or of the vessel that stands for it. It changes with the logo. */
export const pictureOf = ({ id, logoBlob }: Pick<Appliance, "id" | "logoBlob">): string =>
  logoBlob === null ? vesselOf(id) : `${applianceAt(id, "logo")}?${logoBlob.slice(0, 8)}`;
