import { imageFormats } from "#lib/contract/index";
import { attestationFormats, type AttestationFormat } from "#domain/builds/attestation";
import { proofSuffix } from "#lib/attest/log/proof";
import type { Build } from "#storage/builds";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { ChannelAddresses } from "../../parts/channel-addresses.tsx";
import { imageAddress } from "../../parts/image-address.ts";
import { ImageUse } from "../../parts/image-use.tsx";
import { Panel } from "../../parts/panel.tsx";
import { TypeBadge } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { size } from "../../parts/words.ts";
import { signInTo } from "../../session.ts";
import type { Published } from "./published.ts";
import { galleryAt } from "./card.tsx";

/** The release notes, and links to the other versions. */
export const Notes = ({ published: { publication, versions } }: { published: Published }) => {
  const { applianceId, version, releaseNotes } = publication;
  const before = versions[versions.indexOf(version) + 1];
  return (
    <section class="panel" aria-labelledby="notes">
      <div class="head">
        <h2 id="notes">Release notes</h2>
        {versions.length > 1 && <Versions id={applianceId} version={version} versions={versions} />}
      </div>
      {releaseNotes.trim() === "" ? (
        <p class="quiet">The publisher has written none for this version.</p>
      ) : (
        <p class="prose breaks">{releaseNotes}</p>
      )}
      {before !== undefined && (
        <p class="small-text push-top">
          <a href={`${galleryAt(applianceId, version)}/difference/${before}`}>Everything that changed since {before}</a>
        </p>
      )}
    </section>
  );
};

const Versions = ({ id, version, versions }: { id: number; version: string; versions: readonly string[] }) => (
  <form class="row push" action={galleryAt(id)}>
    <label class="hidden" for="version">
      Version
    </label>
    <select class="input auto" id="version" name="version">
      {versions.map((each) => (
        <option selected={each === version}>{each}</option>
      ))}
    </select>
    <Button look="small">Show</Button>
  </form>
);

/** The images of the version, their contents, and how to start them. Downloads need an account, as in the API. */
export const Images = ({ published: { images, publication, person, channels } }: { published: Published }) => (
  <Panel id="images" title="Images" isFlush hint="Stored as long as the version is published">
    <Table
      labelledBy="images"
      isCards
      columns={[
        "Format",
        "For",
        { words: "Download", isNumber: true },
        { words: "Disk", isNumber: true },
        "What is in it",
        { words: "Actions", isHidden: true },
      ]}
    >
      {images.map((build) => (
        <Image build={build} href={person ? imageAddress(build) : undefined} />
      ))}
    </Table>
    {!person && (
      <p class="body small-text">
        <a href={signInTo(`${galleryAt(publication.applianceId, publication.version)}#images`)}>Sign in</a> to download
        an image of this version, or to read what is in it.
        {channels.length > 0 && (
          <>
            {" "}
            <a href="#channels">The addresses that last</a> need no account.
          </>
        )}
      </p>
    )}
    {images.map((build) => (
      <ImageUse build={build} />
    ))}
  </Panel>
);

/** An image. Without `href`, it has no download link. */
const Image = ({ build, href }: { build: Build; href: string | undefined }) => (
  <tr>
    <th scope="row">
      <TypeBadge type={build.imageType} />
    </th>
    <td>{imageFormats[build.imageType].label}</td>
    <td class="num" data-label="Download">
      {build.fileSize === null ? "" : size(build.fileSize)}
    </td>
    <td class="num" data-label="Disk">
      {build.rawSize === null ? "" : size(build.rawSize)}
    </td>
    <td class="nowrap">
      {billNames.map(([format, words], at) => (
        <>
          {at > 0 && ", "}
          {href === undefined ? (
            words
          ) : (
            <a href={href + attestationFormats[format].suffix}>
              {words}
              <span class="hidden"> of {build.imageType}</span>
            </a>
          )}
        </>
      ))}
      {build.logPosition !== null && <LogEntry build={build} href={href} />}
    </td>
    <td class="actions">
      {href !== undefined && (
        <ButtonLink look="small" icon="download" href={href} about={build.imageType} isDownload>
          Download
        </ButtonLink>
      )}
    </td>
  </tr>
);

/** The place of an image in the public log, and the proof of it. */
const LogEntry = ({ build, href }: { build: Build; href: string | undefined }) => {
  const words = `log entry ${build.logPosition}`;
  return (
    <>
      {", "}
      {href === undefined ? (
        words
      ) : (
        <a href={href + proofSuffix}>
          {words}
          <span class="hidden"> of {build.imageType}</span>
        </a>
      )}
    </>
  );
};

/** The addresses that always lead to the newest image of a channel. Nothing if the appliance has no channels. */
export const Channels = ({ published: { channels, baseUrl } }: { published: Published }) =>
  channels.length === 0 ? null : (
    <Panel id="channels" title="Addresses that last" look="stack">
      <p class="quiet">
        Each leads to the newest image that the publisher has put into the channel. It needs no account. Add .sha256 for
        its checksum.
      </p>
      {channels.map((channel) => (
        <div class="stack-s">
          <h3>
            {channel.name} <span class="quiet num">{channel.version}</span>
          </h3>
          <ChannelAddresses channel={channel} baseUrl={baseUrl} />
        </div>
      ))}
    </Panel>
  );

const billNames = [
  ["spdx", "SPDX"],
  ["cyclonedx", "CycloneDX"],
  ["provenance", "provenance"],
] as const satisfies readonly (readonly [AttestationFormat, string])[];
