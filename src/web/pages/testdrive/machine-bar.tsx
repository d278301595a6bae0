import type { TestdriveLook } from "#domain/testdrives/testdrive";
import { Icon } from "../../parts/icon.tsx";
import type { IconName } from "../../parts/icon-names.ts";
import { loginWords } from "../../parts/words.ts";
import type { TestdriveStatus } from "./status.ts";
import type { Subject } from "./subject.ts";

interface MachineBarProps {
  at: string;
  subject: Subject;
  status: TestdriveStatus;
  look: TestdriveLook | undefined;
  webUrl: string | undefined;
}

/** The actions for the machine. */
export const MachineBar = ({ at, subject, status, look, webUrl }: MachineBarProps) => {
  const isOver = status.state === "ended";
  return (
    <footer class="strip" aria-label="The machine">
      <Actions isOver={isOver} />
      <div class="row push">
        {subject.isOwn && look !== undefined && (
          <a class="button" href={`${at}?panel=files`} data-swap="drawer">
            <Icon name="file-diff" /> Modified files
          </a>
        )}
        {webUrl !== undefined && !isOver && (
          <a class="button" id="web" href={webUrl} target="_blank" rel="noopener noreferrer">
            <Icon name="globe" /> Open its web page
          </a>
        )}
        <Logins of={subject.logins} />
        <button class="button" type="button" id="vnc-button" popovertarget="vnc" hidden={isOver}>
          <Icon name="monitor" /> VNC client
        </button>
        <VncPanel look={look} />
      </div>
    </footer>
  );
};

const ActionOf = ({ id, icon, words, isHidden }: { id: string; icon?: IconName; words: string; isHidden?: true }) => (
  <button class="button" type="button" id={id} disabled hidden={isHidden}>
    {icon && <Icon name={icon} />} <span>{words}</span>
  </button>
);

const Actions = ({ isOver }: { isOver: boolean }) => (
  <div class="row actions" role="group" aria-label="The machine" id="actions" hidden={isOver}>
    <ActionOf id="ctrl-alt-del" words="Ctrl-Alt-Del" />
    <ActionOf id="keyboard" icon="keyboard" words="Keyboard" isHidden />
    <button class="button" type="button" id="send-text" popovertarget="text-panel" disabled>
      <Icon name="clipboard-paste" /> Send text
    </button>
    <ActionOf id="zoom" icon="zoom-in" words="Zoom" />
    <ActionOf id="full-screen" icon="maximize" words="Full screen" isHidden />
    <ActionOf id="reconnect" icon="refresh-cw" words="Reconnect" />
    <button class="button danger" type="button" id="stop" disabled>
      <Icon name="power" /> <span id="stop-words">Stop</span>
    </button>
    <TextPanel />
    <label class="hidden" for="typing">
      Text for the machine
    </label>
    <textarea class="typing" id="typing" autocapitalize="off" autocomplete="off" spellcheck={false} tabindex={-1} />
  </div>
);

/** A text that is typed into the machine, key by key. */
const TextPanel = () => (
  <div class="menu up" id="text-panel" popover="auto">
    <form class="body stack-s" id="text-form" method="dialog">
      <div class="field">
        <label for="text">Text to type into the machine</label>
        <textarea class="input mono" id="text" rows={6} autocomplete="off" spellcheck={false} autofocus></textarea>
        <span class="hint">As on a US keyboard. A line break is Return.</span>
      </div>
      <div class="row">
        <button class="button primary" id="type-text">
          <Icon name="send" /> Send
        </button>
        <button class="button" type="button" id="paste" hidden>
          <Icon name="clipboard-paste" /> Paste
        </button>
      </div>
    </form>
  </div>
);

/** The logins of the machine. */
const Logins = ({ of: logins }: { of: Subject["logins"] }) =>
  logins.length === 0 ? null : (
    <>
      <button class="button" type="button" popovertarget="logins">
        <Icon name="users" /> Log in as
      </button>
      <div class="menu up" id="logins" popover="auto">
        <div class="body stack-s">
          <ul class="stack-s">
            {logins.map((login) => (
              <li class="mono breaks">{loginWords(login)}</li>
            ))}
          </ul>
          <p class="sub">A password is shown only if everyone knows it: that of the template.</p>
        </div>
      </div>
    </>
  );

const VncPanel = ({ look }: { look: TestdriveLook | undefined }) => (
  <div class="menu up" id="vnc" popover="auto">
    <div class="body stack-s">
      {look?.vnc ? (
        <>
          <p>You can also connect with any VNC client:</p>
          <dl class="facts">
            <dt>Host</dt>
            <dd class="mono">{look.vnc.host}</dd>
            <dt>Port</dt>
            <dd class="mono">{look.vnc.port}</dd>
            <dt>Password</dt>
            <dd class="mono">{look.password}</dd>
          </dl>
        </>
      ) : (
        <p>This machine has no address for VNC clients. You can only use it on this page.</p>
      )}
    </div>
  </div>
);
