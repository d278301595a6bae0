import { imagesWithPackage, maxListed, type ImageFound } from "#domain/advisories/images-with";
import { id } from "#http/params";
import { z } from "zod";
import { factory } from "../../factory.ts";
import { page } from "../../page.tsx";
import { ButtonLink } from "../../parts/button.tsx";
import { Content } from "../../parts/column.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Empty, Panel } from "../../parts/panel.tsx";
import { Search } from "../../parts/search.tsx";
import { TypeBadge } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { withSession } from "../../session.ts";
import { applianceAt } from "../appliance/with-appliance.ts";

const path = "/appliances/images";
const Asked = z.object({ before: id("invalid_value").optional() });

/** A person's images that have a package. */
export const imagesWithPage = factory.createApp().get(path, withSession, async (c) => {
  const { db, account } = c.var;
  const asked = (c.req.query("with") ?? "").trim().slice(0, 100);
  const [name = "", version] = asked.split("=");
  const { before } = Asked.safeParse(c.req.query()).data ?? {};
  const wanted = { accountId: account.id, only: null, before, name, version };
  const found = name === "" ? [] : await imagesWithPackage(db, wanted);
  return await page(c, <Images asked={asked} found={found} isFirst={before === undefined} />, {
    title: asked === "" ? "Find images" : `Images with ${asked}`,
    section: "appliances",
  });
});

interface ImagesProps {
  asked: string;
  found: readonly ImageFound[];
  isFirst: boolean;
}

const Images = ({ asked, found, isFirst }: ImagesProps) => (
  <Content look="stack">
    <h1>Find images</h1>
    <p class="quiet">Which of your images have a package? Enter its name, or NAME=VERSION for one version.</p>
    <Search
      action={path}
      name="with"
      value={asked}
      label="Name of a package"
      placeholder="openssl"
      button="Find"
      look="large"
    />
    {asked !== "" && <Found asked={asked} found={found} isFirst={isFirst} />}
  </Content>
);

const Found = ({ asked, found, isFirst }: ImagesProps) =>
  found.length === 0 ? (
    <Empty title={`No image has ${asked}`}>
      <p>Images are found a minute or two after they are built, as long as they have a file.</p>
    </Empty>
  ) : (
    <>
      <Panel id="images" title={`Images with ${asked}`} isFlush>
        <Table labelledBy="images" columns={["Image", "Packages", "Built"]} isCards>
          {found.map((image) => (
            <Row image={image} />
          ))}
        </Table>
      </Panel>
      <nav class="row center" aria-label="Pages">
        {!isFirst && <ButtonLink href={addressOf(asked)}>Newest</ButtonLink>}
        {found.length === maxListed && (
          <ButtonLink href={addressOf(asked, found.at(-1)?.id)} icon="chevron-right">
            Earlier
          </ButtonLink>
        )}
      </nav>
    </>
  );

const addressOf = (asked: string, before?: number): string =>
  `${path}?${new URLSearchParams({ with: asked, ...(before !== undefined && { before: String(before) }) }).toString()}`;

const Row = ({ image: { applianceId, name, version, imageType, packages, completedAt } }: { image: ImageFound }) => (
  <tr>
    <th scope="row">
      <a class="breaks" href={applianceAt(applianceId, "build")}>
        {name} {version}
      </a>{" "}
      <TypeBadge type={imageType} />
    </th>
    <td data-label="Packages" class="breaks">
      {packages.map((one) => `${one.name} ${one.version}`).join(", ")}
    </td>
    <td data-label="Built">{completedAt && <Moment at={completedAt} />}</td>
  </tr>
);
