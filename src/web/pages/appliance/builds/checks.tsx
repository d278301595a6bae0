import { isInProgress, machineKeptUntil, sentenceOfCheck, type CheckResult } from "#lib/contract/index";
import { whyNoTestdrive } from "#domain/testdrives/testdrive";
import type { Build } from "#storage/builds";
import type { CheckRun } from "#storage/check-runs";
import { ActionButton } from "../../../parts/button.tsx";
import { Moment } from "../../../parts/moment.tsx";
import type { Tone } from "../../../parts/notice.tsx";
import { State } from "../../../parts/state.tsx";
import { Table } from "../../../parts/table.tsx";
import { applianceAt } from "../with-appliance.ts";
import type { Builds } from "./shown-builds.ts";
import { nameOf } from "./names.ts";
import { testdrivesPath } from "./seeded.tsx";

interface ChecksProps {
  build: Build;
  seen: Builds;
}

const runOf = ({ build, seen }: ChecksProps): CheckRun | undefined =>
  seen.checkRuns.find(({ buildId }) => buildId === build.id);

/** The part of the page that changes while the checks of a build run. */
export const idOfChecks = (buildId: number): string => `checks-${buildId}`;

/** The last run of the checks on an image, and a button for another one. */
export const Checks = ({ build, seen }: ChecksProps) => {
  const run = runOf({ build, seen });
  const canRun = seen.hasChecks && whyNoTestdrive(build.imageType) === undefined;
  if (!run && !canRun) return null;
  return (
    <section class="use stack-s" id={idOfChecks(build.id)} aria-label={`Checks of ${nameOf(build)}`}>
      <div class="row">
        <h3 class="as-label">Checks</h3>
        {run && <RunState run={run} />}
        {canRun && !(run && isInProgress(run)) && (
          <ActionButton
            action={applianceAt(seen.applianceId, `builds/${build.id}/checks`)}
            fields={{}}
            once
            look="small"
            icon="circle-check"
            about={`of ${nameOf(build)}`}
          >
            {run ? "Run again" : "Run the checks"}
          </ActionButton>
        )}
      </div>
      {run && <Run run={run} build={build} seen={seen} />}
    </section>
  );
};

const states: Readonly<Record<CheckRun["state"], [tone: Tone, words: string]>> = {
  waiting: ["busy", "waiting for a builder"],
  running: ["busy", "running"],
  passed: ["good", "passed"],
  failed: ["bad", "failed"],
  error: ["warn", "could not be checked"],
};

const RunState = ({ run: { state } }: { run: CheckRun }) => <State tone={states[state][0]}>{states[state][1]}</State>;

/** A mark in the line of an image whose checks have not passed. */
export const ChecksMark = (props: ChecksProps) => {
  const run = runOf(props);
  return run?.state !== "failed" ? null : <State tone="bad">checks failed</State>;
};

const Run = ({ run, build, seen }: ChecksProps & { run: CheckRun }) => (
  <>
    {run.message !== "" && <p class="hint">{run.message}</p>}
    {!isInProgress(run) && (
      <p class="hint">
        {run.loginSeconds !== null && <>Login after {Math.round(run.loginSeconds)} s. </>}
        {run.isEmulated && "The processor was emulated, which makes a machine slower. "}
        Checked <Moment at={run.endedAt ?? run.createdAt} />.
      </p>
    )}
    <Table label={`Checks of ${nameOf(build)}`} isCards columns={["Result", "Expected", "Seen"]}>
      {run.checks.map((check, index) => {
        const result = run.results?.[index];
        return (
          <tr>
            <th scope="row">
              <Outcome of={result?.outcome} />
            </th>
            <td data-label="Expected" class="breaks">
              {sentenceOfCheck(check)}
            </td>
            <td data-label="Seen" class="breaks">
              {result?.seen ?? ""}
            </td>
          </tr>
        );
      })}
    </Table>
    {run.state === "failed" && <SeeIt run={run} build={build} />}
    {run.screenBlob !== null && <Screen run={run} build={build} seen={seen} />}
    {run.console !== "" && (
      <details class="use">
        <summary>The end of the serial console</summary>
        <pre class="code">{run.console}</pre>
      </details>
    )}
  </>
);

const SeeIt = ({ run, build }: { run: CheckRun; build: Build }) => {
  const until = machineKeptUntil(run);
  if (!until || until <= new Date())
    return <p class="hint">To look at the machine yourself, start a testdrive of this image.</p>;
  return (
    <div class="row">
      <ActionButton
        action={testdrivesPath}
        fields={{ build_id: build.id, check_run: run.id }}
        once
        look="small"
        icon="play"
        about={`as it was when the checks of ${nameOf(build)} ended`}
      >
        Continue this machine
      </ActionButton>
      <p class="hint">A testdrive shows the machine as it was when its checks ended. A builder keeps it for a day.</p>
    </div>
  );
};

const Screen = ({ run, build, seen }: ChecksProps & { run: CheckRun }) => (
  <figure class="narrow-form">
    <img
      class="screen"
      loading="lazy"
      src={applianceAt(seen.applianceId, `builds/${build.id}/checks/${run.id}/screen`)}
      alt="The screen when the checks ended"
    />
    <figcaption class="hint">
      The screen when the checks ended.
      {run.state === "passed" && ` A check can compare the screens of later builds with it: build ${build.id}.`}
    </figcaption>
  </figure>
);

const outcomes: Readonly<Record<CheckResult["outcome"], [tone: Tone, words: string]>> = {
  passed: ["good", "passed"],
  failed: ["bad", "failed"],
  not_run: ["warn", "not run"],
};

const Outcome = ({ of: outcome }: { of: CheckResult["outcome"] | undefined }) =>
  outcome === undefined ? (
    <span class="quiet">–</span>
  ) : (
    <State tone={outcomes[outcome][0]}>{outcomes[outcome][1]}</State>
  );
