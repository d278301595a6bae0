import { architectures, productOf } from "#lib/contract/index";
import { canHaveUnifiedKernel } from "#domain/images/firmware";
import { ActionButton } from "../../parts/button.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Facts, Panel } from "../../parts/panel.tsx";
import { bootWords } from "../../parts/words.ts";
import type { Overview } from "./overview-seen.ts";
import { applianceAt } from "./with-appliance.ts";

/** The purpose of the appliance, and its origin. */
export const About = ({ seen }: { seen: Overview }) => {
  const { look, configuration, readers, published, base, isOwn } = seen;
  const { appliance } = look;
  return (
    <Panel
      id="about"
      title="About"
      look="stack"
      hint={isOwn && <a href={applianceAt(appliance.id, "configuration/general")}>Change</a>}
    >
      {configuration.description === "" ? (
        <p class="quiet">There is no description.</p>
      ) : (
        <p class="breaks">{configuration.description}</p>
      )}
      <Facts
        of={[
          ["Based on", basedOn(base, appliance.parentName)],
          ["Architecture", appliance.arch],
          ["Boots by", hasBoot(seen) && <BootsBy seen={seen} />],
          ["Changed", <Moment at={appliance.lastEditedAt} />],
          ["Shared with", readers.join(", ")],
          ["In the gallery", published && <a href={`/gallery/${appliance.id}/${published}`}>{published}</a>],
          ["Tags", configuration.tags.join(", ")],
        ]}
      />
    </Panel>
  );
};

const hasBoot = ({ look, firmware }: Overview): boolean =>
  !productOf(look.appliance.imageType).startsAlone || firmware !== undefined;

/**
 * An image that boots only with BIOS can also get the boot loader for UEFI, then the one for Secure Boot, and then a
 * kernel that its owner can sign.
 */
const BootsBy = ({ seen }: { seen: Overview }) => {
  const { look, firmware = "bios", efiBootLoader, signedLoader } = seen;
  const { id, arch, imageType } = look.appliance;
  const more = {
    bios: ["Add UEFI", efiBootLoader],
    efi: ["Add Secure Boot", signedLoader],
    uefi: ["Add a kernel to sign", missingKernelMaker(seen)],
  } as const;
  const [words, name] = productOf(imageType).startsAlone && architectures[arch].hasEfi ? more[firmware] : [];
  return (
    <span class="row">
      {bootWords(look.appliance, firmware)}
      {name !== undefined && (
        <ActionButton action={applianceAt(id, "software")} fields={{ do: "add", kind: "package", name }} look="small">
          {words}
        </ActionButton>
      )}
    </span>
  );
};

/** Only disks can have such a kernel. */
function missingKernelMaker({ look, kernelMaker, selection }: Overview): string | undefined {
  const isPossible = canHaveUnifiedKernel(look.appliance.imageType);
  return isPossible && !selection.some(({ kind, name }) => kind === "package" && name === kernelMaker)
    ? kernelMaker
    : undefined;
}

/** The names of templates begin with their base. */
const basedOn = (base: string, parent: string | null): string =>
  parent === null || parent.startsWith(base) ? (parent ?? base) : `${base}, ${parent}`;
