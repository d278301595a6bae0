import type { Look } from "#domain/appliances/look";
import { isUntouchedSince, lastImage, sinceBuild, type SinceBuild } from "#domain/difference/since-build";
import { firmwareOf, firmwareOfBuild } from "#domain/images/firmware";
import type { Services } from "#domain/services";
import { remembered } from "#domain/software/resolution";
import { softwareOf } from "#domain/software/resolution-request";
import type { Firmware } from "#lib/contract/index";
import type { SoftwareRows } from "#storage/appliance-software";
import type { Appliance } from "#storage/appliances";
import type { Build } from "#storage/builds";
import { Facts, Panel } from "../../parts/panel.tsx";
import { counted } from "../../parts/words.ts";
import { applianceAt } from "./with-appliance.ts";

/** The changes since the newest image in the appliance's own format. */
export interface Since {
  image: Build;
  /** The image before that one. */
  before: Build | undefined;
  /** Null if nothing has changed. Undefined if it cannot be compared now. */
  changes: Pick<SinceBuild, "packages" | "settings"> | null | undefined;
}

interface Asked {
  /** Its `examined` is of the appliance's own format. */
  look: Pick<Look, "appliance" | "rows" | "examined">;
  /** The images that can be downloaded, newest first. */
  images: readonly Build[];
}

/** Resolves the software only if something was edited since the last image. */
export async function sinceLastImage(
  services: Services,
  { look: { appliance, rows, examined }, images }: Asked,
): Promise<{ since: Since | undefined; firmware: Firmware | undefined }> {
  const image = lastImage(images, appliance.imageType);
  if (!image) return { since: undefined, firmware: knownFirmware(appliance, rows) };
  const before = lastImage(images.slice(images.indexOf(image) + 1), appliance.imageType);
  if (isUntouchedSince(image, appliance, rows.repositories))
    return { since: { image, before, changes: null }, firmware: firmwareOfBuild(image) };
  const changes = await sinceBuild(services, appliance, { build: image, examined });
  return { since: { image, before, changes: changes?.isSame ? null : changes }, firmware: changes?.firmware };
}

/** Undefined unless the head of the page has just resolved the software. */
function knownFirmware(appliance: Appliance, rows: SoftwareRows): Firmware | undefined {
  const software = softwareOf(appliance, rows);
  const { baseSystem } = software;
  const resolution = remembered(software);
  if (!baseSystem || resolution?.state !== "solved") return undefined;
  return firmwareOf({ ...software, baseSystem, packages: resolution.packages });
}

const shownNames = 8;

export const ChangesSince = ({ since: { image, before, changes } }: { since: Since }) => (
  <Panel id="since" title={`Changes since ${image.version}`} look="stack">
    {changes === null && <p class="quiet">Nothing has changed.</p>}
    {changes === undefined && <p class="quiet">Not known while the appliance cannot be built.</p>}
    {changes && <Changed packages={changes.packages} settings={changes.settings} />}
    {before && (
      <p class="small-text">
        <a href={applianceAt(image.applianceId, `difference/${before.id}/${image.id}`)}>
          From {before.version} to {image.version}
        </a>
      </p>
    )}
  </Panel>
);

const Changed = ({ packages, settings: all }: Pick<SinceBuild, "packages" | "settings">) => {
  // The list of packages already shows the effect of the selection.
  const settings = all.filter(({ name }) => !name.startsWith("selected_"));
  return (
    <>
      <Facts
        of={[
          [
            "Packages",
            kinds
              .map((kind) => wordsOf(packages, kind))
              .filter(Boolean)
              .join(", "),
          ],
          ["Settings", settings.length > 0 && `${settings.length} changed`],
        ]}
      />
      <ul class="small-text">
        {packages.slice(0, shownNames).map(({ change, name, to }) => (
          <li class="breaks">
            {signs[change]} {name} <span class="quiet">{to?.version}</span>
          </li>
        ))}
      </ul>
      {packages.length > shownNames && <p class="quiet small-text">and {packages.length - shownNames} more</p>}
    </>
  );
};

const kinds = ["added", "removed", "changed"] as const;
const signs = { added: "+", removed: "−", changed: "→" } as const;

function wordsOf(packages: SinceBuild["packages"], kind: (typeof kinds)[number]): string {
  const count = packages.filter(({ change }) => change === kind).length;
  return count === 0 ? "" : `${counted(count, kind, kind)}`;
}
