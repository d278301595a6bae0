import type { Context } from "hono";
import { examineAgain, overviewOf, type Overview } from "#domain/appliances/overview";
import { listAround } from "#storage/appliance-list";
import type { SharedAppliance } from "#storage/shares";
import { factory, type WebEnv } from "../../factory.ts";
import { page } from "../../page.tsx";
import { ButtonLink, ActionButton } from "../../parts/button.tsx";
import { Content } from "../../parts/column.tsx";
import { FaultsOf } from "../../parts/form.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Empty } from "../../parts/panel.tsx";
import { number } from "../../parts/words.ts";
import { withSession } from "../../session.ts";
import { RunningTestdrives, runningTestdrives, type RunningTestdrive } from "../testdrive/running.tsx";
import { addressOf, askedOf, isFiltered, type Asked } from "./asked.ts";
import { ChosenBar, chosenForm, chosenPath } from "./chosen.tsx";
import { ListFilter } from "./list-filter.tsx";
import { ApplianceRow } from "./row.tsx";
import { Picture } from "../../parts/picture.tsx";
import { State } from "../../parts/state.tsx";
import { pictureOf } from "../appliance/pictures.ts";
import { applianceAt } from "../appliance/with-appliance.ts";

/** With more rows, names of 200 random letters would make the page larger than 35 kB. */
const perPage = 30;
const maxShared = 100;

/** A person's appliances at a glance. Without any appliances, it leads to the templates. */
export const appliancesPage = factory.createApp().get("/appliances", withSession, async (c) => {
  const listed = await listedFor(c);
  const { asked, seen, shared } = listed;
  if (seen.total === 0 && !isFiltered(asked) && shared.length === 0) return c.redirect("/appliances/new", 303);
  return await showList(c, listed);
});

/** Shows the list again, for example below a refused form. */
export const showAppliances = async (c: Context<WebEnv>): Promise<Response> => await showList(c, await listedFor(c));

interface Listed {
  asked: Asked;
  seen: Overview;
  shared: readonly SharedAppliance[];
  testdrives: readonly RunningTestdrive[];
  tags: readonly string[];
  hasAdvisories: boolean;
  /** Keyed by the name of the base system. */
  titles: ReadonlyMap<string, string>;
}

async function listedFor(c: Context<WebEnv>): Promise<Listed> {
  const { db, account } = c.var;
  const services = { env: c.env, db };
  const asked = askedOf(c);
  const { at: page, isAllChosen: _isAllChosen, ...wanted } = asked;
  const choice = { accountId: account.id, only: null, ...wanted, page, perPage };
  const [seen, testdrives, around] = await Promise.all([
    overviewOf(services, choice),
    runningTestdrives(c, null),
    listAround(db, account.id, maxShared),
  ]);
  c.executionCtx.waitUntil(examineAgain(services, account.id, seen.stale));
  return { asked, seen, testdrives, ...around };
}

async function showList(c: Context<WebEnv>, listed: Listed): Promise<Response> {
  const isChanging = listed.seen.glances.some(({ running, state }) => running.length > 0 || state === "unknown");
  return await page(c, <List listed={listed} />, {
    title: "My appliances",
    section: "appliances",
    refreshSeconds: isChanging ? 10 : undefined,
    refreshIds: "found",
  });
}

const List = ({ listed: { asked, seen, shared, testdrives, tags, hasAdvisories, titles } }: { listed: Listed }) => (
  <Content>
    <div class="stack">
      <div class="row spread">
        <h1>
          My appliances{" "}
          <span class="count" id="count">
            {number(seen.total)}
          </span>
        </h1>
        <div class="row">
          <ButtonLink icon="search" href="/appliances/images">
            Find images
          </ButtonLink>
          <ButtonLink look="primary" icon="plus" href="/appliances/new">
            New appliance
          </ButtonLink>
        </div>
      </div>
      <RunningTestdrives of={testdrives} />
      <ListFilter asked={asked} tags={tags} hasAdvisories={hasAdvisories} />
      <FaultsOf action={chosenPath} shown={[chosenForm]} />
      <div id="found" class="stack">
        {seen.glances.length === 0 ? (
          <div class="panel flush">
            <Nothing asked={asked} />
          </div>
        ) : (
          <div class="panel flush">
            <ChosenBar asked={asked} />
            <ul class="rows appliances">
              {seen.glances.map((glance) => (
                <ApplianceRow glance={glance} titles={titles} isChosen={asked.isAllChosen} />
              ))}
            </ul>
          </div>
        )}
        <Pager page={seen.page} pages={seen.pages} at={(at) => addressOf({ ...asked, at, isAllChosen: false })} />
      </div>
      {shared.length > 0 && <SharedList shared={shared} titles={titles} />}
    </div>
  </Content>
);

const SharedList = ({ shared, titles }: Pick<Listed, "shared" | "titles">) => (
  <section aria-labelledby="shared" class="stack">
    <h2 id="shared">
      Shared with me <span class="count">{shared.length}</span>
    </h2>
    <div class="panel flush">
      <ul class="rows appliances">
        {shared.map((appliance) => (
          <SharedRow appliance={appliance} base={titles.get(appliance.baseSystem) ?? appliance.baseSystem} />
        ))}
      </ul>
    </div>
  </section>
);

const Nothing = ({ asked }: { asked: Asked }) => {
  if (!isFiltered(asked))
    return (
      <Empty title="You have no appliance of your own yet">
        <p>Start from a template, or clone one from the gallery.</p>
      </Empty>
    );
  const isSearch = asked.search !== "";
  return (
    <Empty title={isSearch ? `Nothing found for “${asked.search}”` : "No appliance is like that"}>
      <p>
        {isSearch && "The search looks at names, and at the names of selected packages. "}
        <a href="/appliances">See all</a>
      </p>
    </Empty>
  );
};

/** An appliance that another account shares. It can be viewed and cloned. */
const SharedRow = ({ appliance, base }: { appliance: SharedAppliance; base: string }) => (
  <li>
    <span></span>
    <Picture src={pictureOf(appliance)} look="small" />
    <div>
      <h3>
        <a href={applianceAt(appliance.id)}>{appliance.name}</a>
      </h3>
      <p class="sub">
        {appliance.version} · {base}, {appliance.arch}
      </p>
    </div>
    <div class="at">
      <State icon="eye">You can view and clone</State>
    </div>
    <div class="at">
      <span class="small-text">by {appliance.owner}</span>
    </div>
    <div class="quick">
      <ActionButton
        action="/appliances"
        fields={{ clone_from: appliance.id, arch: appliance.arch }}
        once
        look="small"
        icon="copy"
        about={`: ${appliance.name}`}
      >
        <span class="words">Clone</span>
      </ActionButton>
    </div>
  </li>
);
