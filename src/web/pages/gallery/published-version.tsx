import type { Build } from "#storage/builds";
import { Button, ButtonLink } from "../../parts/button.tsx";
import { Panel } from "../../parts/panel.tsx";
import { TypeBadge } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { size } from "../../parts/words.ts";
import { formatWords } from "../appliance/formats.ts";
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

/** The images of the version. Only the publisher downloads them here; everyone can try and clone it. */
export const Images = ({ published: { images, publication, person } }: { published: Published }) => {
  const isMine = person?.account.id === publication.accountId;
  return (
    <Panel id="images" title="Images" isFlush hint="Stored as long as the version is published">
      <Table
        labelledBy="images"
        columns={[
          "Format",
          "For",
          { words: "Download", isNumber: true },
          { words: "Disk", isNumber: true },
          ...(isMine ? [{ words: "Actions", isHidden: true } as const] : []),
        ]}
      >
        {images.map((build) => (
          <Image build={build} isMine={isMine} />
        ))}
      </Table>
    </Panel>
  );
};

const Image = ({ build, isMine }: { build: Build; isMine: boolean }) => (
  <tr>
    <th scope="row">
      <TypeBadge type={build.imageType} />
    </th>
    <td>{formatWords[build.imageType]}</td>
    <td class="num">{build.fileSize === null ? "" : size(build.fileSize)}</td>
    <td class="num">{build.rawSize === null ? "" : size(build.rawSize)}</td>
    {isMine && (
      <td class="actions">
        <ButtonLink
          look="small"
          icon="download"
          href={`/download/${build.downloadToken}/${build.fileName}`}
          about={build.imageType}
        >
          Download
        </ButtonLink>
      </td>
    )}
  </tr>
);
