import { productOf } from "#lib/contract/index";
import type { WatchedBuild } from "#domain/builds/build";
import type { Build } from "#storage/builds";
import { ActionButton, ButtonLink } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Empty, Panel } from "../../parts/panel.tsx";
import { Progress, State, TypeBadge } from "../../parts/state.tsx";
import { secondsLeft, size } from "../../parts/words.ts";
import type { Overview } from "./overview-seen.ts";
import { applianceAt } from "./with-appliance.ts";

/** Builds that are running or waiting. */
export const RunningBuilds = ({ applianceId, running }: { applianceId: number; running: readonly WatchedBuild[] }) => (
  <div id="running" class="stack">
    {running.length > 0 && (
      <Panel id="now" title={running.some(({ state }) => state === "running") ? "Building now" : "Waiting"}>
        <div class="stack">
          {running.map((build) => (
            <Running build={build} at={applianceAt(applianceId, "build")} />
          ))}
        </div>
      </Panel>
    )}
  </div>
);

const Running = ({ build, at }: { build: WatchedBuild; at: string }) => (
  <div class="stack-s">
    <p class="row spread">
      {build.state === "running" ? (
        <State tone="busy">
          <code>{build.imageType}</code> <span class="num">{build.percent} %</span>
        </State>
      ) : (
        <State icon="clock">
          <code>{build.imageType}</code> waits
        </State>
      )}
      {build.secondsLeft !== undefined && <span class="sub num">{secondsLeft(build.secondsLeft)}</span>}
    </p>
    <Progress percent={build.percent} label={`Build of ${build.imageType}`} />
    <p class="row spread small-text">
      <span class="quiet">{build.message}</span>
      <a href={at}>Watch</a>
    </p>
  </div>
);

export const shownBuilds = 5;

/** The last builds that have ended, newest first. */
export const LastBuilds = ({ seen: { look, builds, isOwn } }: { seen: Overview }) => {
  const at = applianceAt(look.appliance.id, "build");
  return (
    <div id="builds">
      <Panel id="last" title="Last builds" isFlush hint={isOwn && builds.length > 0 && <a href={at}>All builds</a>}>
        {builds.length === 0 ? (
          <Empty title="No builds yet" isH3>
            <p>A build makes a bootable image of what you have chosen.</p>
          </Empty>
        ) : (
          <ul class="rows tight">
            {builds.map((build) => (
              <LastBuild build={build} at={at} isOwn={isOwn} />
            ))}
          </ul>
        )}
      </Panel>
    </div>
  );
};

const LastBuild = ({ build, at, isOwn }: { build: Build; at: string; isOwn: boolean }) => {
  const { status, version, imageType, completedAt, createdAt, message } = build;
  const isFinished = status === "finished";
  return (
    <li>
      <div class="line">
        <span class="state" data-tone={isFinished ? "good" : "bad"}>
          <Icon name={isFinished ? "circle-check" : "circle-x"} label={isFinished ? "Finished" : "Not finished"} />
        </span>
        <TypeBadge type={imageType} />
        <span class="grow">
          {version}{" "}
          <span class="quiet">
            <Moment at={completedAt ?? createdAt} />
            {isFinished ? build.fileSize !== null && `, ${size(build.fileSize)}` : `: ${message}`}
          </span>
        </span>
        {isFinished && build.expiredAt === null ? (
          <FinishedActions build={build} isOwn={isOwn} />
        ) : (
          isOwn && (
            <ButtonLink href={at} look="small" about={`of ${version} ${imageType}`}>
              Details
            </ButtonLink>
          )
        )}
      </div>
    </li>
  );
};

const FinishedActions = ({ build, isOwn }: { build: Build; isOwn: boolean }) => {
  const about = `of ${build.version} ${build.imageType}`;
  return (
    <>
      {isOwn && productOf(build.imageType).startsAlone && (
        <ActionButton action="/testdrives" fields={{ build_id: build.id }} once look="small" icon="play" about={about}>
          Testdrive
        </ActionButton>
      )}
      <a
        class="button small plain square"
        href={`/download/${build.downloadToken}/${build.fileName}`}
        aria-label={`Download ${build.version} ${build.imageType}`}
      >
        <Icon name="download" />
      </a>
    </>
  );
};
