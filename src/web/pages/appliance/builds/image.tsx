import { productOf } from "#lib/contract/index";
import { attestationFormats, madeFormats } from "#domain/builds/attestation";
import { secondsBetween } from "#domain/builds/progress";
import type { Build } from "#storage/builds";
import { ActionButton, ButtonLink } from "../../../parts/button.tsx";
import { Confirm, useConfirmRefused } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { imageAddress } from "../../../parts/image-address.ts";
import { ImageUse } from "../../../parts/image-use.tsx";
import { Moment } from "../../../parts/moment.tsx";
import { useRefused } from "../../../parts/form.tsx";
import { Facts } from "../../../parts/panel.tsx";
import { TypeBadge } from "../../../parts/state.tsx";
import { duration, size, counted } from "../../../parts/words.ts";
import { applianceAt } from "../with-appliance.ts";
import { Checks, ChecksMark } from "./checks.tsx";
import { seedForm, SeededTestdrive, testdrivesPath } from "./seeded.tsx";
import { logAt, nameOf } from "./names.ts";
import type { Builds } from "./shown-builds.ts";
import { isAttested, RebuildMark, Rebuilds } from "./rebuilds.tsx";
import { StageTimes } from "./stages.tsx";
import { Advisories } from "./advisories.tsx";
import { Updates, UpdatesLink } from "./updates.tsx";
import { Table } from "../../../parts/table.tsx";

interface ImageProps {
  build: Build;
  seen: Builds;
}

/** The headings of the columns. Narrow screens and screen readers get a word next to each number instead. */
export const Columns = () => (
  <div class="columns" aria-hidden="true">
    <span />
    <span>Version</span>
    <span>Format</span>
    <span>Finished</span>
    <span class="num">Download</span>
    <span class="num">Disk</span>
    <span class="num">Built in</span>
  </div>
);

/** A finished image: its sizes, its actions, and its contents. */
export const Image = ({ build, seen }: ImageProps) => (
  <li>
    <details
      open={
        useRefused(testdrivesPath, seedForm(build.id)) ||
        useConfirmRefused(deleteAt(build, seen), deleteId(build)) ||
        build === seen.over[0] ||
        build.id === seen.updates?.build.id
      }
    >
      <Summary build={build} seen={seen} />
      <Actions build={build} seen={seen} />
      <Updates build={build} seen={seen} />
      <Advisories build={build} seen={seen} />
      <Services build={build} seen={seen} />
      <Checks build={build} seen={seen} />
      <Rebuilds build={build} seen={seen} />
      {seen.hasFirstBoot && <SeededTestdrive build={build} />}
      <ImageUse build={build} />
      <Inside build={build} seen={seen} />
    </details>
  </li>
);

const Summary = ({ build, seen }: ImageProps) => {
  const { version, imageType, completedAt, createdAt, startedAt, fileSize, rawSize } = build;
  const seconds = secondsBetween(startedAt?.getTime() ?? null, completedAt?.getTime() ?? 0);
  return (
    <summary>
      <Icon name="chevron-right" />
      <b class="num">{version}</b>
      <span>
        <TypeBadge type={imageType} />
      </span>
      <span class="quiet">
        <Moment at={completedAt ?? createdAt} /> <ChecksMark build={build} seen={seen} />{" "}
        <RebuildMark build={build} seen={seen} />
      </span>
      <span class="num">
        <span class="what">Download </span>
        {size(fileSize ?? 0)}
      </span>
      <span class="num quiet">
        <span class="what">Disk </span>
        {size(rawSize ?? 0)}
      </span>
      <span class="num quiet">
        <span class="what">Built in </span>
        {duration(seconds)}
      </span>
    </summary>
  );
};

export const Testdrive = ({ build }: { build: Build }) =>
  !productOf(build.imageType).startsAlone ? null : (
    <ActionButton
      action={testdrivesPath}
      fields={{ build_id: build.id }}
      once
      look="small"
      icon="play"
      about={`of ${nameOf(build)}`}
    >
      Testdrive
    </ActionButton>
  );

export const Download = ({ build }: { build: Build }) => (
  <ButtonLink href={imageAddress(build)} look="small" icon="download" about={nameOf(build)} isDownload>
    Download
  </ButtonLink>
);

const Actions = ({ build, seen }: ImageProps) => (
  <div class="line-actions">
    <Testdrive build={build} />
    <Download build={build} />
    <ButtonLink href={logAt(build)} look="small plain" icon="scroll-text" about={`of ${nameOf(build)}`}>
      Log
    </ButtonLink>
    <ButtonLink href={applianceAt(seen.applianceId, "share")} look="small plain" icon="globe" about={nameOf(build)}>
      {seen.publishedVersions.includes(build.version) ? "Published" : "Publish"}
    </ButtonLink>
    <UpdatesLink build={build} seen={seen} />
    <DeleteBuild build={build} seen={seen} />
  </div>
);

const Inside = ({ build, seen }: ImageProps) => (
  <div class="inside">
    <div>
      <h3 class="as-label">Checksums</h3>
      <Facts
        of={[
          ["SHA-256", <Hash of={build.sha256} />],
          ["SHA-1", <Hash of={build.sha1} />],
          ["MD5", <Hash of={build.md5} />],
        ]}
      />
    </div>
    <div>
      <h3 class="as-label">What is in it, and where it comes from</h3>
      <ul class="small-text stack-s">
        {madeFormats.map((format) => (
          <li class="row">
            <Icon name="file" />
            <a href={imageAddress(build) + attestationFormats[format].suffix}>{documentNames[format]}</a>
          </li>
        ))}
        {isAttested(build, seen) && (
          <li class="row">
            <Icon name="file" />
            <a href={imageAddress(build) + attestationFormats.rebuilds.suffix}>What rebuilds have shown, signed</a>
          </li>
        )}
        {seen.advisories?.isKnown && seen.advisories.build.id === build.id && (
          <li class="row">
            <Icon name="file" />
            <a href={imageAddress(build) + attestationFormats.vex.suffix}>Known vulnerabilities (OpenVEX), signed</a>
          </li>
        )}
      </ul>
    </div>
    <div class="whole-row">
      <h3 class="as-label">Time of each stage</h3>
      <StageTimes steps={build.steps} />
    </div>
  </div>
);

const documentNames = {
  spdx: "Bill of materials, SPDX",
  cyclonedx: "Bill of materials, CycloneDX",
  provenance: "Provenance, signed",
} as const;

const Hash = ({ of: hash }: { of: string | null }) => <span class="hash">{hash ?? ""}</span>;

const deleteAt = (build: Build, { applianceId }: Builds): string =>
  applianceAt(applianceId, `builds/${build.id}/delete`);

const deleteId = ({ id }: Build): string => `delete-${id}`;

/** Asks for confirmation before it deletes a build. */
export const DeleteBuild = ({ build, seen }: ImageProps) => (
  <Confirm
    id={deleteId(build)}
    words="Delete"
    about={nameOf(build)}
    look="small plain danger"
    title={`Delete ${nameOf(build)}?`}
    action={deleteAt(build, seen)}
    no="Keep it"
    yes={`Delete ${nameOf(build)}`}
  >
    Its image, its log and its bills of materials are deleted with it. This cannot be undone.
  </Confirm>
);

/** The services that start when the image boots, and their packages. Omitted if they are unknown. */
const Services = ({ build, seen: { updates, services } }: { build: Build; seen: Builds }) => {
  if (updates?.build.id !== build.id || services.length === 0) return null;
  const count = services.reduce((sum, { units }) => sum + units.length, 0);
  return (
    <details class="use">
      <summary>{counted(count, "service starts", "services start")} at boot</summary>
      <Table label={`Services of ${nameOf(build)} that start at boot`} isCards columns={["Package", "Starts"]}>
        {services.map(({ name, units }) => (
          <tr>
            <th scope="row" class="breaks">
              {name}
            </th>
            <td data-label="Starts" class="breaks mono">
              {units.join(", ")}
            </td>
          </tr>
        ))}
      </Table>
    </details>
  );
};
