import { imagesWithAdvisory, imagesWithPackage, maxListed, type ImageFound } from "#domain/advisories/images-with";
import { spending } from "#domain/accounts/rates";
import { Refusal } from "#domain/refusal";
import type { Database } from "#storage/db";
import { id } from "#http/params";
import { z } from "zod";
import { factory } from "../../factory.ts";
import { page } from "../../page.tsx";
import { ButtonLink } from "../../parts/button.tsx";
import { Content } from "../../parts/column.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Notice } from "../../parts/notice.tsx";
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
  const { before } = Asked.safeParse(c.req.query()).data ?? {};
  const find = () => findAsked(db, asked, { accountId: account.id, only: null, before });
  const found = await spending({ env: c.env, db }, { accountId: account.id, what: "reads" }, find);
  return await page(c, <Images asked={asked} found={found} isFirst={before === undefined} />, {
    title: asked === "" ? "Find images" : `Images with ${asked}`,
    section: "appliances",
  });
});

type Account = Omit<Parameters<typeof imagesWithPackage>[1], "name" | "version">;

/** The images, or why there is no answer. */
async function findAsked(db: Database, asked: string, wanted: Account): Promise<ImageFound[] | Refusal> {
  const [name = "", version] = asked.split("=");
  if (name === "") return [];
  if (!/^(CVE|DSA|DLA)-\d/i.test(name)) return await imagesWithPackage(db, { ...wanted, name, version });
  return await imagesWithAdvisory(db, { ...wanted, id: name.toUpperCase() }).catch((error: unknown) => {
    if (error instanceof Refusal) return error;
    throw error;
  });
}

interface ImagesProps {
  asked: string;
  found: readonly ImageFound[] | Refusal;
  isFirst: boolean;
}

const Images = ({ asked, found, isFirst }: ImagesProps) => (
  <Content look="stack">
    <h1>Find images</h1>
    <p class="quiet">
      Which of your images have a package, or a vulnerability? Enter a name, NAME=VERSION, or the id of a CVE or a DSA.
    </p>
    <Search
      action={path}
      name="with"
      value={asked}
      label="Name of a package, or CVE"
      placeholder="openssl or CVE-2026-1234"
      button="Find"
      look="large"
    />
    {asked !== "" && <Found asked={asked} found={found} isFirst={isFirst} />}
  </Content>
);

const Found = ({ asked, found, isFirst }: ImagesProps) =>
  found instanceof Refusal ? (
    <Notice tone="warn">{found.message}</Notice>
  ) : found.length === 0 ? (
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
      {packages.map(wordsOf).join(", ")}
    </td>
    <td data-label="Built">{completedAt && <Moment at={completedAt} />}</td>
  </tr>
);

const wordsOf = ({ name, version, state, fixed }: ImageFound["packages"][number]): string => {
  if (state === undefined) return `${name} ${version}`;
  return `${name} ${version} (${fixed === undefined ? "not fixed yet" : `fixed in ${fixed}`})`;
};
