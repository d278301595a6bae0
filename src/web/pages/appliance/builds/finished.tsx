import type { Build } from "#storage/builds";
import { Button, ButtonLink } from "../../../parts/button.tsx";
import { Moment } from "../../../parts/moment.tsx";
import { Empty, Panel } from "../../../parts/panel.tsx";
import { TypeBadge } from "../../../parts/state.tsx";
import { applianceAt } from "../with-appliance.ts";
import { Columns, DeleteBuild, Image } from "./image.tsx";
import type { Builds } from "./shown-builds.ts";
import { logAt, nameOf } from "./names.ts";

/** A page of the ended builds, newest first, with their actions. */
export const Finished = ({ seen }: { seen: Builds }) => {
  const { over, applianceId, before, hasOlder } = seen;
  const images = over.filter((build) => hasImage(build));
  return (
    <Panel
      id="done"
      title={before === undefined ? "Finished" : "Finished earlier"}
      count={before === undefined && !hasOlder ? over.length : undefined}
      isFlush
      hint={images.length > 1 && <Compare builds={images} applianceId={applianceId} />}
    >
      {over.length === 0 ? (
        <Empty title="No builds yet" isH3>
          <p>
            {before === undefined
              ? "Choose a format above. The image is here when it is finished."
              : "There are no older ones."}
          </p>
        </Empty>
      ) : (
        <div class="builds">
          {images.length > 0 && <Columns />}
          <ul class="rows">
            {over.map((build) =>
              hasImage(build) ? <Image build={build} seen={seen} /> : <Gone build={build} seen={seen} />,
            )}
          </ul>
          <OtherPages seen={seen} />
        </div>
      )}
    </Panel>
  );
};

const OtherPages = ({ seen: { over, applianceId, before, hasOlder } }: { seen: Builds }) => {
  const at = applianceAt(applianceId, "build");
  return before === undefined && !hasOlder ? null : (
    <nav class="pages row center" aria-label="Pages">
      {before !== undefined && (
        <ButtonLink href={`${at}#done`} icon="chevron-left">
          Newest
        </ButtonLink>
      )}
      {hasOlder && (
        <ButtonLink href={`${at}?before=${over.at(-1)?.id}#done`} icon="chevron-right">
          Older
        </ButtonLink>
      )}
    </nav>
  );
};

export const hasImage = ({ status, expiredAt }: Build): boolean => status === "finished" && expiredAt === null;

/** A form to choose two builds, which leads to the page of their difference. */
const Compare = ({ builds, applianceId }: { builds: readonly Build[]; applianceId: number }) => {
  const [newest, before] = builds;
  const options = (chosen: Build | undefined) =>
    builds.map((build) => (
      <option value={String(build.id)} selected={build === chosen}>
        {nameOf(build)}
      </option>
    ));
  return (
    <form class="row" action={applianceAt(applianceId, "difference")}>
      <label class="hidden" for="from">
        Earlier build
      </label>
      <select class="input auto" id="from" name="from">
        {options(before)}
      </select>
      <label class="hidden" for="to">
        Later build
      </label>
      <select class="input auto" id="to" name="to">
        {options(newest)}
      </select>
      <Button icon="git-compare">Compare</Button>
    </form>
  );
};

/** A build without an image: it failed, was cancelled, or its image has expired. */
const Gone = ({ build, seen }: { build: Build; seen: Builds }) => (
  <li>
    <div class="gone">
      <span />
      <span class="num quiet">{build.version}</span>
      <span>
        <TypeBadge type={build.imageType} />
      </span>
      <span class="quiet breaks">
        <Moment at={build.completedAt ?? build.createdAt} />
        {": "}
        {build.expiredAt === null ? build.message : "The image was removed because of its age."}
      </span>
      <span class="row ends">
        <ButtonLink href={logAt(build)} look="small plain" about={`of ${nameOf(build)}`}>
          Log
        </ButtonLink>
        <DeleteBuild build={build} seen={seen} />
      </span>
    </div>
  </li>
);
