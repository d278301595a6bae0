import type { TestdriveLook } from "#domain/testdrives/testdrive";
import type { Testdrive } from "#storage/testdrives";
import { Brand } from "../../parts/brand.tsx";
import type { TestdriveStatus } from "./status.ts";

interface TestdriveViewProps {
  testdrive: Testdrive;
  status: TestdriveStatus;
  look: TestdriveLook | undefined;
  /** The URL of the machine's web server, if the machine has a network. */
  webUrl: string | undefined;
}

/** The console: a bar with the status, the machine's screen, and the actions. */
export const TestdriveView = ({ testdrive, status, look, webUrl }: TestdriveViewProps) => (
  <>
    <header class="bar">
      <Brand />
      <h1>Testdrive {testdrive.id}</h1>
      <p class="status" role="status" data-tone={status.state === "ended" ? "ended" : "busy"} id="status">
        <span class="dot" aria-hidden="true"></span>
        <span id="words">{firstWords(status)}</span>
      </p>
      <dl class="facts">
        <div>
          <dt>Time left</dt>
          <dd id="time-left">–</dd>
        </div>
        <div>
          <dt>Viewers</dt>
          <dd id="viewers">{status.viewers}</dd>
        </div>
      </dl>
    </header>
    <main class="stage" id="stage">
      <div class="screen" id="screen"></div>
      <div class="veil" id="veil">
        <div class="ember" aria-hidden="true"></div>
        <p id="veil-words">{firstWords(status)}</p>
        <noscript>
          <p>Showing the screen needs JavaScript, which is disabled in your browser. A VNC client works without it.</p>
        </noscript>
      </div>
    </main>
    <footer class="bar">
      <Actions />
      {webUrl !== undefined && status.state !== "ended" && (
        <a class="button" id="web" href={webUrl} target="_blank" rel="noopener noreferrer">
          Open the machine's web page
        </a>
      )}
      <VncPanel look={look} hidden={status.state === "ended"} />
    </footer>
  </>
);

const Actions = () => (
  <div class="actions" role="group" aria-label="The machine">
    <button class="button" type="button" id="ctrl-alt-del" disabled>
      Ctrl-Alt-Del
    </button>
    <button class="button" type="button" id="keyboard" hidden>
      Keyboard
    </button>
    <button class="button" type="button" id="full-screen" hidden>
      Full screen
    </button>
    <button class="button" type="button" id="reconnect" disabled>
      Reconnect
    </button>
    <button class="button danger" type="button" id="stop" disabled>
      Stop
    </button>
    <label class="hidden" for="typing">
      Text for the machine
    </label>
    <textarea class="typing" id="typing" autocapitalize="off" autocomplete="off" spellcheck={false} tabindex={-1} />
  </div>
);

const VncPanel = ({ look, hidden }: { look: TestdriveLook | undefined; hidden: boolean }) => (
  <details class="vnc" id="vnc" hidden={hidden}>
    <summary class="button">VNC client</summary>
    <div class="panel">
      {look?.vnc ? (
        <>
          <p>You can also connect with any VNC client:</p>
          <dl>
            <dt>Host</dt>
            <dd>{look.vnc.host}</dd>
            <dt>Port</dt>
            <dd>{look.vnc.port}</dd>
            <dt>Password</dt>
            <dd>{look.password}</dd>
          </dl>
        </>
      ) : (
        <p>This machine has no address for VNC clients. You can only use it on this page.</p>
      )}
    </div>
  </details>
);

function firstWords({ state, message }: TestdriveStatus): string {
  if (state === "ended") return `Ended: ${message}`;
  return state === "running" ? "Connecting …" : "Waiting for an agent …";
}
