import type { WatchedBuild } from "#domain/builds/build";
import { ActionButton } from "../../../parts/button.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { Progress, State, TypeBadge } from "../../../parts/state.tsx";
import { counted, secondsLeft } from "../../../parts/words.ts";
import { applianceAt } from "../with-appliance.ts";

interface RunningProps {
  applianceId: number;
  running: readonly WatchedBuild[];
}

/** The running and waiting builds: their progress, step and remaining time. */
export const Running = ({ applianceId, running }: RunningProps) =>
  running.length === 0 ? null : (
    <Panel id="now" title="Now" count={running.length} isFlush>
      <p class="hidden" role="status">
        {running.map(spoken).join(". ")}
      </p>
      {running.map((build) => (
        <One build={build} applianceId={applianceId} />
      ))}
    </Panel>
  );

const One = ({ build, applianceId }: { build: WatchedBuild; applianceId: number }) => {
  const name = `${build.version} ${build.imageType}`;
  const isWaiting = build.state === "queued";
  return (
    <article class="body stack-s top-line" aria-label={name}>
      <div class="row">
        <State {...(isWaiting ? { icon: "clock" } : { tone: "busy" })}>{build.version}</State>
        <TypeBadge type={build.imageType} />
        <span class="grow">{build.message}</span>
        <span class="num">
          {isWaiting ? placeOf(build) : <b>{build.percent} %</b>}{" "}
          {build.secondsLeft !== undefined && <span class="quiet">{secondsLeft(build.secondsLeft)}</span>}
        </span>
        <ActionButton action={applianceAt(applianceId, `builds/${build.id}/cancel`)} look="small" about={name}>
          Cancel
        </ActionButton>
      </div>
      {!isWaiting && <Progress percent={build.percent} label={name} />}
    </article>
  );
};

const placeOf = ({ queuePosition }: WatchedBuild): string =>
  queuePosition === undefined ? "" : `Number ${queuePosition} in the queue`;

/** In steps of ten, so that a screen reader does not read each percent. */
const spoken = ({ imageType, message, percent }: WatchedBuild): string =>
  `${imageType}: ${message}, ${counted(Math.floor(percent / 10) * 10, "percent", "percent")}`;

/** The log of a build, which follows it. Without scripts, there is only the link. */
export const BuildLog = ({ build }: { build: WatchedBuild }) => {
  const name = `${build.version} ${build.imageType}`;
  return (
    <section class="panel flush" aria-labelledby="log-title" id={`log-${build.id}`}>
      <div class="head">
        <h2 id="log-title">Log of {name}</h2>
        <a class="hint" href={`/builds/${build.id}/log`}>
          The whole log as text
        </a>
      </div>
      <ul class="findings small-text" id="findings" />
      <div
        class="log"
        role="log"
        aria-live="off"
        aria-label={`Log of ${name}`}
        tabindex={0}
        data-log={`/builds/${build.id}/log`}
      >
        <ol></ol>
      </div>
    </section>
  );
};
