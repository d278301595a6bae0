import type { Context } from "hono";
import { pathId } from "#http/params";
import { diskUseByKind } from "#domain/accounts/quota";
import { deleteBuild } from "#domain/builds/deletion";
import { listStoredImages, type ImageCursor, type StoredImage } from "#storage/stored-images";
import { factory, type WebEnv } from "../../factory.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Empty, Panel } from "../../parts/panel.tsx";
import { TypeBadge } from "../../parts/state.tsx";
import { StoragePanel, type Disk } from "../../parts/storage.tsx";
import { Table } from "../../parts/table.tsx";
import { size } from "../../parts/words.ts";
import { submit } from "../../submit.ts";
import { accountPage } from "./account-page.tsx";

const path = "/account/storage";
const perPage = 50;

/** The stored bytes of the account, and its images, the largest first. `accountPages` requires the session. */
export const storagePage = factory
  .createApp()
  .get(path, (c) => showStorage(c))
  .post(`${path}/:build{\\d{1,15}}/delete`, (c) =>
    submit(c, {
      again: showStorage,
      act: async () => {
        await deleteBuild({ env: c.env, db: c.var.db }, c.var.account.id, pathId(c, "build", "invalid_build_id"));
        return { to: path, result: { text: "The build is deleted." } };
      },
    }),
  );

async function showStorage(c: Context<WebEnv>): Promise<Response> {
  const { db, account } = c.var;
  const after = placeIn(c.req.query("after"));
  const [disk, found] = await Promise.all([
    diskUseByKind({ env: c.env, db }, account),
    // Reads one more than the page shows, to know whether there is another page.
    listStoredImages(db, account.id, { after, limit: perPage + 1 }),
  ]);
  const content = (
    <StorageView disk={disk} images={found.slice(0, perPage)} hasMore={found.length > perPage} isFirst={!after} />
  );
  return await accountPage(c, content, { title: "What you store", tab: path });
}

/** Cursor: the size and id of the last image on the previous page, as "BYTES-ID". */
function placeIn(given: string | undefined): ImageCursor | undefined {
  const [, bytes, id] = /^(\d{1,15})-(\d{1,15})$/.exec(given ?? "") ?? [];
  return bytes === undefined ? undefined : { bytes: Number(bytes), id: Number(id) };
}

interface StorageViewProps {
  disk: Disk;
  images: readonly StoredImage[];
  hasMore: boolean;
  isFirst: boolean;
}

const StorageView = ({ disk, images, hasMore, isFirst }: StorageViewProps) => {
  const last = images.at(-1);
  return (
    <>
      <StoragePanel disk={disk} />
      <Panel id="images" title="The largest images" isFlush>
        {last !== undefined && (
          <p class="body small-text quiet">
            Besides the image that you download, Kiln keeps its files one by one, to show them and to compare versions,
            and an update from the previous image. All of them count.
          </p>
        )}
        {last === undefined ? (
          <Empty title="No images" isH3>
            <p>Each finished build stores its image here until you delete it.</p>
          </Empty>
        ) : (
          <Table labelledBy="images" columns={columns} isCards>
            {images.map((image) => (
              <Row image={image} />
            ))}
          </Table>
        )}
      </Panel>
      {(hasMore || !isFirst) && (
        <nav class="row center" aria-label="Pages">
          {!isFirst && <ButtonLink href={path}>Largest</ButtonLink>}
          {hasMore && last && (
            <ButtonLink href={`${path}?after=${last.bytes}-${last.id}`} icon="chevron-right">
              Smaller
            </ButtonLink>
          )}
        </nav>
      )}
    </>
  );
};

const columns = ["Image", { words: "Size", isNumber: true }, { words: "Actions", isHidden: true }] as const;

/** The parts of the size, if there are several. */
function partsOf({ bytes, imageBytes, deltaBytes }: StoredImage): string {
  const filesBytes = bytes - imageBytes - deltaBytes;
  const files = filesBytes > 0 ? ` + files ${size(filesBytes)}` : "";
  const delta = deltaBytes > 0 ? ` + update ${size(deltaBytes)}` : "";
  return `image ${size(imageBytes)}${files}${delta}`;
}

const Row = ({ image }: RowProps) => {
  const { id, applianceId, name, version, imageType, completedAt, bytes, imageBytes, isPublished } = image;
  return (
    <tr>
      <th scope="row">
        <a class="breaks" href={`/appliance/${applianceId}/build`}>
          {name} {version}
        </a>{" "}
        <TypeBadge type={imageType} />
        {completedAt && (
          <p class="sub">
            <Moment at={completedAt} />
          </p>
        )}
      </th>
      <td class="num">
        {size(bytes)}
        {bytes > imageBytes && <p class="sub">{partsOf(image)}</p>}
      </td>
      <td class="actions">
        {isPublished ? (
          <a class="small-text" href={`/appliance/${applianceId}/share`}>
            In the gallery
          </a>
        ) : (
          <Confirm
            id={`delete-${id}`}
            words="Delete"
            about={`${name} ${version} ${imageType}`}
            look="small plain danger"
            title={`Delete ${name} ${version} ${imageType}?`}
            action={`${path}/${id}/delete`}
            no="Keep it"
            yes={`Delete ${version} ${imageType}`}
          >
            Its image, its log and its bills of materials are deleted with it, {size(bytes)} in all. This cannot be
            undone.
          </Confirm>
        )}
      </td>
    </tr>
  );
};

interface RowProps {
  image: StoredImage;
}
