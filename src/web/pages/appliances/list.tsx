import type { Context } from "hono";
import { examineAgain, overviewOf, type Overview } from "#domain/appliances/overview";
import { listSharedWith } from "#storage/shares";
import { factory, type WebEnv } from "../../factory.ts";
import { page } from "../../page.tsx";
import { ButtonLink } from "../../parts/button.tsx";
import { Content } from "../../parts/column.tsx";
import { Pager, pageIn } from "../../parts/pager.tsx";
import { Empty } from "../../parts/panel.tsx";
import { Search } from "../../parts/search.tsx";
import { number } from "../../parts/words.ts";
import { withSession } from "../../session.ts";
import { RunningTestdrives, runningTestdrives, type RunningTestdrive } from "../testdrive/running.tsx";
import { ApplianceRow } from "./row.tsx";
import { SharedRow, type Shared } from "./shared-row.tsx";

const perPage = 50;
const maxShared = 100;

/** A person's appliances at a glance. Without any, it leads to the templates. */
export const appliancesPage = factory.createApp().get("/appliances", withSession, async (c) => {
  const search = (c.req.query("search") ?? "").trim().slice(0, 100);
  const seen = await overviewFor(c, search);
  const [shared, testdrives] = await Promise.all([
    listSharedWith(c.var.db, c.var.account.id, maxShared),
    runningTestdrives(c, null),
  ]);
  if (seen.total === 0 && search === "" && shared.length === 0) return c.redirect("/appliances/new", 303);
  return await showList(c, { search, seen, shared, testdrives });
});

async function overviewFor(c: Context<WebEnv>, search: string): Promise<Overview> {
  const place = { env: c.env, db: c.var.db };
  const asked = { accountId: c.var.account.id, only: null, search, page: pageIn(c.req.query("page")), perPage };
  const seen = await overviewOf(place, asked);
  c.executionCtx.waitUntil(examineAgain(place, seen.stale));
  return seen;
}

interface Listed {
  search: string;
  seen: Overview;
  shared: readonly Shared[];
  testdrives: readonly RunningTestdrive[];
}

async function showList(c: Context<WebEnv>, listed: Listed): Promise<Response> {
  const isWorking = listed.seen.glances.some(({ running }) => running.length > 0);
  return await page(c, <List listed={listed} />, {
    title: "My appliances",
    section: "appliances",
    refreshSeconds: isWorking ? 10 : undefined,
    refreshIds: "found",
  });
}

const List = ({ listed: { search, seen, shared, testdrives } }: { listed: Listed }) => (
  <Content>
    <div class="stack">
      <div class="row spread">
        <h1>
          My appliances <span class="count">{number(seen.total)}</span>
        </h1>
        <Search
          action="/appliances"
          value={search}
          label="Search my appliances"
          placeholder="Name or package"
          look="list-search"
          swap="found"
        />
        <ButtonLink look="primary" icon="plus" href="/appliances/new">
          New appliance
        </ButtonLink>
      </div>
      <RunningTestdrives of={testdrives} />
      <div id="found" class="stack">
        <div class="panel flush">
          {seen.glances.length === 0 ? (
            <Nothing search={search} />
          ) : (
            <ul class="rows appliances">
              {seen.glances.map((glance) => (
                <ApplianceRow glance={glance} />
              ))}
            </ul>
          )}
        </div>
        <Pager
          page={seen.page}
          pages={seen.pages}
          at={(at) => `/appliances?${new URLSearchParams({ ...(search !== "" && { search }), page: String(at) })}`}
        />
      </div>
      {shared.length > 0 && <SharedList shared={shared} />}
    </div>
  </Content>
);

const SharedList = ({ shared }: { shared: readonly Shared[] }) => (
  <section aria-labelledby="shared" class="stack">
    <h2 id="shared">
      Shared with me <span class="count">{shared.length}</span>
    </h2>
    <div class="panel flush">
      <ul class="rows appliances">
        {shared.map((appliance) => (
          <SharedRow appliance={appliance} />
        ))}
      </ul>
    </div>
  </section>
);

const Nothing = ({ search }: { search: string }) =>
  search === "" ? (
    <Empty title="You have no appliance of your own yet">
      <p>Start from a template, or clone one from the gallery.</p>
    </Empty>
  ) : (
    <Empty title={`Nothing found for “${search}”`}>
      <p>
        The search looks at names, and at the names of selected packages. <a href="/appliances">See all</a>
      </p>
    </Empty>
  );
