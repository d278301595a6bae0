import type { Appliance } from "#storage/appliances";
import type { PictureKind } from "#storage/pictures";
import { vesselOf } from "../../parts/picture.tsx";
import { applianceAt } from "./with-appliance.ts";

/** The address of an appliance's own logo, or of the vessel that stands for it. It changes with the logo. */
export const pictureOf = ({ id, logoBlob }: Pick<Appliance, "id" | "logoBlob">): string =>
  logoBlob === null ? vesselOf(id) : pictureAt({ id, logoBlob, backgroundBlob: null }, "logo");

/** The address of one of its pictures, or of the service's own. It changes with the picture. */
export function pictureAt(
  { id, logoBlob, backgroundBlob }: Pick<Appliance, "id" | "logoBlob" | "backgroundBlob">,
  kind: PictureKind,
): string {
  const blob = kind === "logo" ? logoBlob : backgroundBlob;
  return `${applianceAt(id, kind)}?${blob?.slice(0, 8) ?? "none"}`;
}
