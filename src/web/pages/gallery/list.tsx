import type { Context } from "hono";
import { listGallery, type GalleryPage, type GalleryQuery } from "#domain/gallery/list";
import { Refusal } from "#domain/refusal";
import { listBaseTitles } from "#storage/appliances";
import { factory, type WebEnv } from "../../factory.ts";
import { page } from "../../page.tsx";
import { Content } from "../../parts/column.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Empty } from "../../parts/panel.tsx";
import { Search } from "../../parts/search.tsx";
import { number } from "../../parts/words.ts";
import { personOf } from "../../session.ts";
import { addressOf, askedOf, type Asked } from "./asked.ts";
import { Card } from "./card.tsx";
import { Filters, type Choice } from "./filters.tsx";
import { FromAShell, Hero } from "./hero.tsx";

const perPage = 24;

/** Published appliances, for everyone: the front page and the search results. */
export const galleryPages = factory
  .createApp()
  .get("/", (c) => showGallery(c))
  .get("/gallery", (c) => showGallery(c));

async function showGallery(c: Context<WebEnv>): Promise<Response> {
  const asked = askedOf(c);
  const [found, person, bases] = await Promise.all([foundFor(c, asked), personOf(c), listBaseTitles(c.var.db)]);
  const isFront = c.req.path === "/" && Object.keys(addressOf(asked)).length === 0 && asked.at === 1;
  const title =
    asked.search === "" ? (isFront ? "Appliances, baked to order" : "Gallery") : `${asked.search} · Gallery`;
  return await page(
    c,
    <Content>
      {isFront ? <Hero /> : <SearchAgain asked={asked} />}
      <Found
        asked={asked}
        found={found}
        me={person?.account.id}
        bases={bases.map(({ name, title }) => [name, title])}
      />
      {isFront && <FromAShell baseUrl={c.var.baseUrl} />}
    </Content>,
    { title, section: "gallery" },
  );
}

/** A deleted account has no published appliances. */
async function foundFor(c: Context<WebEnv>, asked: Asked): Promise<GalleryPage> {
  try {
    return await listGallery(c.var.db, queryOf(asked), { page: asked.at, perPage, ...asked });
  } catch (error) {
    if (error instanceof Refusal) return { total: 0, pages: 1, page: 1, entries: [] };
    throw error;
  }
}

function queryOf({ search, username, order }: Asked): GalleryQuery {
  if (search !== "") return { kind: "search", term: search };
  return username === "" ? { kind: order === "latest" ? "latest" : "popular" } : { kind: "username", username };
}

const SearchAgain = ({ asked }: { asked: Asked }) => (
  <div class="stack">
    <h1>Gallery</h1>
    <Search
      action="/gallery"
      value={asked.search}
      label="Search the gallery"
      placeholder="kiosk, rescue …"
      button="Search"
      look="large"
    />
  </div>
);

interface FoundProps {
  asked: Asked;
  found: GalleryPage;
  me: number | undefined;
  bases: readonly Choice[];
}

const Found = ({ asked, found, me, bases }: FoundProps) => (
  <section class="stack" aria-labelledby="published" id="found">
    <div class="row spread section-head">
      <h2 id="published">
        {headingOf(asked)} <span class="count">{number(found.total)}</span>
      </h2>
    </div>
    <Filters asked={asked} bases={bases} />
    {found.entries.length === 0 ? (
      <Nothing asked={asked} />
    ) : (
      <ul class="cards">
        {found.entries.map((entry) => (
          <Card entry={entry} isSignedIn={me !== undefined} isMine={entry.accountId === me} />
        ))}
      </ul>
    )}
    <Pager
      page={found.page}
      pages={found.pages}
      at={(at) => `/gallery?${new URLSearchParams({ ...addressOf(asked), page: String(at) })}`}
    />
  </section>
);

const headingOf = ({ search, username }: Asked): string =>
  search === "" ? (username === "" ? "In the gallery" : `Published by ${username}`) : `Found for “${search}”`;

const Nothing = ({ asked: { search, traits } }: { asked: Asked }) =>
  Object.keys(traits).length > 0 ? (
    <div class="panel flush">
      <Empty title="Nothing is published with these filters" isH3>
        <p>
          <a href="/gallery">See all</a>
        </p>
      </Empty>
    </div>
  ) : (
    <div class="panel flush">
      <Empty title={search === "" ? "Nothing is published here yet" : `Nothing found for “${search}”`} isH3>
        {search === "" ? (
          <p>
            Here is what people publish: finished systems, which everyone can try in the browser, download and clone. To
            be the first, build an appliance and publish it. <a href="/appliances/new">Make an appliance</a>
          </p>
        ) : (
          <p>
            Each word must be in the name, the description, the tags or the packages. <a href="/gallery">See all</a>
          </p>
        )}
      </Empty>
    </div>
  );
