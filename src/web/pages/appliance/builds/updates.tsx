import type { Context } from "hono";
import { spending } from "#domain/accounts/rates";
import { Refusal } from "#domain/refusal";
import type { Knowledge } from "#domain/repositories/knowledge";
import { updatesOf, type BuildUpdates } from "#domain/updates/of-build";
import type { Build } from "#storage/builds";
import type { WebEnv } from "../../../factory.ts";
import { ActionButton, ButtonLink } from "../../../parts/button.tsx";
import { Moment } from "../../../parts/moment.tsx";
import { Badge, State } from "../../../parts/state.tsx";
import { Table } from "../../../parts/table.tsx";
import { counted, exactTime } from "../../../parts/words.ts";
import { applianceAt } from "../with-appliance.ts";
import type { Builds } from "./shown-builds.ts";
import { nameOf } from "./names.ts";

/**
 * The updates of the image that the address names, or of the newest one. Undefined if there is no image, or if they
 * must be compared and the account reads too much at the moment: the rest of the page is useful without them.
 */
export async function shownUpdates(c: Context<WebEnv>, images: readonly Build[]): Promise<BuildUpdates | undefined> {
  const asked = Number(c.req.query("updates") ?? c.req.param("build"));
  const build = images.find(({ id }) => id === asked) ?? images[0];
  if (!build) return undefined;
  const services = { env: c.env, db: c.var.db };
  try {
    return await updatesOf(services, build, (compare) =>
      spending(services, { accountId: c.var.account.id, what: "reads" }, compare),
    );
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

interface UpdatesProps {
  build: Build;
  seen: Builds;
}

const updatesId = (build: Build): string => `updates-${build.id}`;

/** The same page of builds, with the updates of this one. */
function updatesAt({ build, seen: { applianceId, before } }: UpdatesProps): string {
  const query = new URLSearchParams({
    updates: String(build.id),
    ...(before !== undefined && { before: String(before) }),
  });
  return `${applianceAt(applianceId, "build")}?${query.toString()}#${updatesId(build)}`;
}

/** A link that shows the updates of another image. */
export const UpdatesLink = ({ build, seen }: UpdatesProps) =>
  seen.updates?.build.id === build.id ? null : (
    <ButtonLink href={updatesAt({ build, seen })} look="small plain" icon="shield" about={`of ${nameOf(build)}`}>
      Updates
    </ButtonLink>
  );

/** The packages of an image that have newer versions now, and a button that builds it again. */
export const Updates = ({ build, seen }: UpdatesProps) => {
  const { updates: found } = seen;
  if (found?.build.id !== build.id) return null;
  const { updates, unlisted, repositories } = found;
  return (
    <section class="use stack-s" id={updatesId(build)} aria-label={`Updates of ${nameOf(build)}`}>
      <div class="row">
        <h3 class="as-label">Updates</h3>
        <Summary found={found} />{" "}
        <span class="sub">
          looked <Moment at={found.lookedAt} />
        </span>
        {updates.length > 0 && (
          <ActionButton
            action={applianceAt(seen.applianceId, "builds")}
            fields={{ image_type: build.imageType }}
            once
            look="small"
            icon="hammer"
            about={`as ${build.imageType}, with the newer versions`}
          >
            Build again
          </ActionButton>
        )}
      </div>
      {repositories.map(({ name, knowledge }) =>
        knowledge === "current" ? null : (
          <p class="hint">
            {name}: {why[knowledge]}
          </p>
        ),
      )}
      {unlisted > 0 && (
        <p class="hint">
          {counted(unlisted, "installed package is", "installed packages are")} in none of the appliance's repositories.
        </p>
      )}
      {updates.length > 0 && <Packages found={found} build={build} />}
      {found.automaticBuild && <LastAutomaticBuild build={found.automaticBuild} />}
      {found.automaticBuildWaitsUntil && (
        <p class="small-text">The next automatic build waits until {exactTime(found.automaticBuildWaitsUntil)}.</p>
      )}
    </section>
  );
};

/** The last automatic build of the appliance by Kiln, and its result. */
const LastAutomaticBuild = ({
  build: { state, message, at },
}: {
  build: NonNullable<BuildUpdates["automaticBuild"]>;
}) => (
  <p class="small-text">
    <State tone={automaticTones[state]}>{automaticWords[state]}</State> <Moment at={at} />: {message}
  </p>
);

const automaticWords = {
  building: "Being built again",
  done: "Built",
  failed: "The automatic build failed",
  refused: "Not built again",
} as const;
const automaticTones = { building: undefined, done: "good", failed: "bad", refused: "warn" } as const;

const why: Readonly<Record<Exclude<Knowledge, "current">, string>> = {
  stale: "the last refresh failed, so there may be newer versions.",
  unknown: "it cannot be read, so nothing is known about its packages.",
};

const Summary = ({ found: { updates, securityCount, repositories } }: { found: BuildUpdates }) => {
  if (securityCount > 0) return <State tone="warn">{counted(securityCount, "security update")}</State>;
  if (updates.length > 0) return <State>{counted(updates.length, "newer version")}</State>;
  const isUnknown = repositories.some(({ knowledge }) => knowledge === "unknown");
  return isUnknown ? <State tone="warn">not known</State> : <State tone="good">no newer versions</State>;
};

function countWords({ updates, securityCount }: BuildUpdates): string {
  const all = counted(updates.length, "package has a newer version", "packages have newer versions");
  if (securityCount === 0) return all;
  return updates.length === 1
    ? `${all}, a security update`
    : `${all}, ${counted(securityCount, "of them a security update", "of them security updates")}`;
}

const Packages = ({ found, build }: { found: BuildUpdates; build: Build }) => (
  <details class="use">
    <summary>{countWords(found)}</summary>
    <Table label={`Packages of ${nameOf(build)} with newer versions`} isCards columns={columns}>
      {found.updates.map((one) => (
        <tr>
          <th scope="row" class="breaks">
            {one.name} {one.isSecurity && <Badge tone="good">security</Badge>}
          </th>
          <td data-label="Installed" class="breaks">
            {one.installed}
          </td>
          <td data-label="Newest" class="breaks">
            {one.available}
          </td>
          <td data-label="Repository" class="breaks">
            {one.repository.name}
          </td>
        </tr>
      ))}
    </Table>
  </details>
);

const columns = ["Package", "Installed", "Newest", "Repository"];
