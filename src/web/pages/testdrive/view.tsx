import { emptyForMs } from "#domain/testdrives/machine";
import type { TestdriveLook } from "#domain/testdrives/testdrive";
import { Brand } from "../../parts/brand.tsx";
import { ActionButton, ButtonLink } from "../../parts/button.tsx";
import { MachineBar } from "./machine-bar.tsx";
import { stages, startOf, type TestdriveStatus } from "./status.ts";
import { titleOf, type Subject } from "./subject.ts";
import type { Child } from "hono/jsx";

interface TestdriveViewProps {
  /** The address of the page. */
  at: string;
  subject: Subject;
  status: TestdriveStatus;
  look: TestdriveLook | undefined;
  /** The URL of the machine's web server, if the machine has a network. */
  webUrl: string | undefined;
  drawer: Child;
}

/** The console: a bar with the status and the actions, the machine's screen, and the files that it has changed. */
export const TestdriveView = ({ at, subject, status, look, webUrl, drawer }: TestdriveViewProps) => (
  <div class="testdrive">
    <header class="strip">
      <Brand />
      <Title subject={subject} />
      <p class="status" role="status" data-tone={status.state === "ended" ? "ended" : "busy"} id="status">
        <span class="dot" aria-hidden="true"></span>
        <span id="words">{firstWords(status)}</span>
      </p>
      <p class="sub way-out" id="way-out" hidden={status.state === "ended"}>
        <kbd>Ctrl+Alt+Shift</kbd> leaves the screen, and returns to it.
      </p>
      <Facts viewers={status.viewers} />
    </header>
    <main class="stage" id="stage" aria-label="Screen of the machine">
      <div class="screen" id="screen"></div>
      <div class="veil" id="veil" hidden={status.state === "ended"}>
        <div class="ember" aria-hidden="true"></div>
        <h2>Starting {titleOf(subject)}</h2>
        <Stages status={status} />
        <p id="veil-words">{firstWords(status)}</p>
        <noscript>
          <p>
            The screen of the machine is drawn by JavaScript, which is switched off here. A VNC client works without it,
            and so do modified files.
          </p>
        </noscript>
      </div>
      <Over subject={subject} status={status} />
    </main>
    {drawer}
    <MachineBar at={at} subject={subject} status={status} look={look} webUrl={webUrl} />
  </div>
);

const Facts = ({ viewers }: Pick<TestdriveStatus, "viewers">) => (
  <dl class="facts push inline">
    <div>
      <dt>Time left</dt>
      <dd class="num" id="time-left">
        –
      </dd>
    </div>
    <div>
      <dt>If you leave, it ends after</dt>
      <dd class="num">{emptyForMs / 1000} s</dd>
    </div>
    <div>
      <dt>Viewers</dt>
      <dd class="num" id="viewers">
        {viewers}
      </dd>
    </div>
  </dl>
);

/** The progress of the start, which the script updates. The text below shows the same. */
const Stages = ({ status }: { status: TestdriveStatus }) => {
  const { stage, percent } = startOf(status);
  return (
    <>
      <ol class="stages" id="stages">
        {stages.map((words, at) => (
          <li data-state={at < stage ? "" : undefined} aria-current={at === stage ? "step" : undefined}>
            {words}
          </li>
        ))}
      </ol>
      <progress id="start" aria-label="Start" max={100} value={percent} />
    </>
  );
};

const Title = ({ subject }: { subject: Subject }) => {
  const { name, build, home } = subject;
  if (name === undefined || !build) return <h1>Testdrive of {titleOf(subject)}</h1>;
  return (
    <h1>
      {home === undefined ? name : <a href={home}>{name}</a>}{" "}
      <span class="quiet">
        {build.version} {build.imageType}
      </span>
    </h1>
  );
};

/** The content after the end. The script shows it when the testdrive ends. */
const Over = ({ subject: { home, again }, status }: { subject: Subject; status: TestdriveStatus }) => (
  <div class="veil" id="over" hidden={status.state !== "ended"}>
    <div class="ember" data-tone="ended" aria-hidden="true"></div>
    <h2>The session is over</h2>
    <p id="over-words">{status.state === "ended" ? firstWords(status) : ""}</p>
    <div class="row center">
      {again && (
        <ActionButton action={again.action} fields={again.fields} look="primary large" icon="play" once>
          Start again
        </ActionButton>
      )}
      {home !== undefined && (
        <ButtonLink href={home} look="large" icon="arrow-left">
          Back to the appliance
        </ButtonLink>
      )}
    </div>
    <p class="sub">A new session starts from a clean disk.</p>
  </div>
);

function firstWords({ state, message }: TestdriveStatus): string {
  if (state === "ended") return `Ended: ${message}`;
  return state === "running" ? "Connecting …" : "Waiting for a builder …";
}
