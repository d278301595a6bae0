import type { WatchedBuild } from "#domain/builds/build";
import { ActionButton, CopyButton } from "../../../parts/button.tsx";
import { Panel } from "../../../parts/panel.tsx";
import { Progress, State, TypeBadge } from "../../../parts/state.tsx";
import { counted, duration, secondsLeft } from "../../../parts/words.ts";
import { applianceAt } from "../with-appliance.ts";
import { FullScreen } from "./log.tsx";
import { logAt } from "./names.ts";
import { Stages } from "./stages.tsx";

interface RunningProps {
  applianceId: number;
  running: readonly WatchedBuild[];
}

/** The start of the browser tab's title, while a build runs or waits: how far the slowest one is. */
export function runningTitle(running: readonly WatchedBuild[]): string | undefined {
  const [percent] = running.map((build) => build.percent).toSorted((one, other) => one - other);
  return percent === undefined ? undefined : `${percent} % · `;
}

/** The part of the page that is kept up to date while builds run (`live.tsx`). */
export const RunningPart = ({ applianceId, running }: RunningProps) => (
  <div class="stack" id="running" data-live={running.length > 0 ? applianceAt(applianceId, "live") : undefined}>
    <Running applianceId={applianceId} running={running} />
  </div>
);

/** The running and waiting builds: their progress, step and remaining time. */
const Running = ({ applianceId, running }: RunningProps) =>
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
          {isWaiting ? positionOf(build) : <b>{build.percent} %</b>}{" "}
          {!isWaiting && <span class="quiet">{timesOf(build)}</span>}
        </span>
        <ActionButton action={applianceAt(applianceId, `builds/${build.id}/cancel`)} look="small" about={name}>
          Cancel
        </ActionButton>
      </div>
      {!isWaiting && <Progress percent={build.percent} label={name} />}
      {build.steps && !isWaiting && <Stages steps={build.steps} />}
    </article>
  );
};

const timesOf = ({ secondsLeft: left, secondsElapsed: elapsed }: WatchedBuild): string =>
  [...(left === undefined ? [] : [secondsLeft(left)]), `${duration(elapsed)} so far`].join(", ");

const positionOf = ({ queuePosition }: WatchedBuild): string =>
  queuePosition === undefined ? "" : `Number ${queuePosition} in the queue`;

/** The progress in steps of ten, so that a screen reader does not announce each percent. */
const spoken = ({ imageType, message, percent }: WatchedBuild): string =>
  `${imageType}: ${message}, ${counted(Math.floor(percent / 10) * 10, "percent", "percent")}`;

/**
 * The warnings and the log of a running build, updated live. Without scripts, there is only the link to the page with
 * the log. The log starts at its first line, so that the line numbers match that page.
 */
export const BuildLog = ({ build }: { build: WatchedBuild }) => {
  const name = `${build.version} ${build.imageType}`;
  return (
    <section class="panel flush log-panel" aria-labelledby="log-title" id="log-panel">
      <div class="head">
        <h2 id="log-title">Log of {name}</h2>
        <a class="hint" href={logAt(build)}>
          Search the log
        </a>
      </div>
      <ul class="findings small-text" id="findings" />
      <details class="log-box">
        <summary>Lines</summary>
        <div class="row log-tools">
          <label class="choice">
            <input type="checkbox" class="wraps" checked /> <span>Wrap</span>
          </label>
          <CopyButton of="log-lines" words="Copy" look="" />
          <FullScreen of="log-panel" />
        </div>
        <div
          class="log"
          role="log"
          aria-live="off"
          aria-label={`Log of ${name}`}
          tabindex={0}
          data-log={`/builds/${build.id}/log?from=0`}
          data-page={logAt(build)}
        >
          <ol id="log-lines"></ol>
        </div>
      </details>
    </section>
  );
};
