import type { Context } from "hono";
import { listGallery, type GalleryPage, type GalleryQuery } from "#domain/gallery/list";
import { Refusal } from "#domain/refusal";
import { factory, type WebEnv } from "../../factory.ts";
import { page } from "../../page.tsx";
import { Button } from "../../parts/button.tsx";
import { Content } from "../../parts/column.tsx";
import { Pager, pageIn } from "../../parts/pager.tsx";
import { Empty } from "../../parts/panel.tsx";
import { Search } from "../../parts/search.tsx";
import { number } from "../../parts/words.ts";
import { personOf } from "../../session.ts";
import { Card } from "./card.tsx";
import { FromAShell, Hero } from "./hero.tsx";

const perPage = 24;

/** Published appliances, for everyone: the front page, and what a search finds. */
export const galleryPages = factory
  .createApp()
  .get("/", (c) => showGallery(c))
  .get("/gallery", (c) => showGallery(c));

interface Asked {
  search: string;
  username: string;
  order: "popular" | "latest";
  at: number;
}

async function showGallery(c: Context<WebEnv>): Promise<Response> {
  const asked = askedOf(c);
  const [found, person] = [await foundFor(c, asked), await personOf(c)];
  const isFront = c.req.path === "/" && asked.search === "" && asked.username === "" && asked.at === 1;
  const title =
    asked.search === "" ? (isFront ? "Appliances, baked to order" : "Gallery") : `${asked.search} · Gallery`;
  return await page(
    c,
    <Content>
      {isFront ? <Hero /> : <SearchAgain asked={asked} />}
      <Found asked={asked} found={found} me={person?.account.id} />
      {isFront && <FromAShell baseUrl={c.var.baseUrl} />}
    </Content>,
    { title, section: "gallery" },
  );
}

function askedOf(c: Context): Asked {
  const { search = "", username = "", order, page: at } = c.req.query();
  return {
    search: search.trim().slice(0, 100),
    username: username.slice(0, 100),
    order: order === "latest" ? "latest" : "popular",
    at: pageIn(at),
  };
}

/** A deleted account has published nothing. */
async function foundFor(c: Context<WebEnv>, asked: Asked): Promise<GalleryPage> {
  try {
    return await listGallery(c.var.db, queryOf(asked), { page: asked.at, perPage });
  } catch (error) {
    if (error instanceof Refusal) return { total: 0, pages: 1, page: 1, entries: [] };
    throw error;
  }
}

function queryOf({ search, username, order }: Asked): GalleryQuery {
  if (search !== "") return { kind: "search", term: search };
  return username === "" ? { kind: order } : { kind: "username", username };
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

const Found = ({ asked, found, me }: { asked: Asked; found: GalleryPage; me: number | undefined }) => (
  <section class="stack" aria-labelledby="published" id="found">
    <div class="row spread section-head">
      <h2 id="published">
        {headingOf(asked)} <span class="count">{number(found.total)}</span>
      </h2>
      {asked.search === "" && asked.username === "" && <Order order={asked.order} />}
    </div>
    {found.entries.length === 0 ? (
      <Nothing asked={asked} />
    ) : (
      <ul class="cards">
        {found.entries.map((entry) => (
          <Card entry={entry} isSignedIn={me !== undefined} isMine={entry.accountId === me} />
        ))}
      </ul>
    )}
    <Pager page={found.page} pages={found.pages} at={(at) => `/gallery?${new URLSearchParams(addressOf(asked, at))}`} />
  </section>
);

const headingOf = ({ search, username }: Asked): string =>
  search === "" ? (username === "" ? "In the gallery" : `Published by ${username}`) : `Found for “${search}”`;

const addressOf = ({ search, username, order }: Asked, at: number): Record<string, string> => ({
  ...(search !== "" && { search }),
  ...(username !== "" && { username }),
  ...(order === "latest" && { order }),
  page: String(at),
});

const Order = ({ order }: { order: Asked["order"] }) => (
  <form class="row" action="/gallery">
    <label class="hidden" for="order">
      Order
    </label>
    <select class="input auto" id="order" name="order">
      <option value="popular" selected={order === "popular"}>
        Popular first
      </option>
      <option value="latest" selected={order === "latest"}>
        Newest first
      </option>
    </select>
    <Button>Show</Button>
  </form>
);

const Nothing = ({ asked: { search } }: { asked: Asked }) => (
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
