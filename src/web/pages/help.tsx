import type { Context } from "hono";
import type { Child } from "hono/jsx";
import { factory, type WebEnv } from "../factory.ts";
import { page } from "../page.tsx";
import { Content } from "../parts/column.tsx";
import { Panel } from "../parts/panel.tsx";
import { ShortcutList } from "../parts/shortcuts.tsx";

/** The main tasks, where to do each one, and where to read more. For everyone. */
export const helpPage = factory
  .createApp()
  .get("/help", (c: Context<WebEnv>) => page(c, <Help baseUrl={c.var.baseUrl} />, { title: "Help", section: "help" }));

const tasks: readonly (readonly [name: string, words: Child])[] = [
  [
    "Make an appliance",
    <>
      <a href="/appliances/new">Choose a template</a> and a name, or clone an appliance from the{" "}
      <a href="/gallery">gallery</a>.
    </>,
  ],
  [
    "Choose its software",
    "On the tab Software, type part of a package's name. Each hit says what it would add. Add selects it, and Undo takes it back.",
  ],
  [
    "Set it up",
    "On the tab Configuration: language, network, users, disk, services and scripts. On the tab Files: files of your own.",
  ],
  [
    "Build it",
    "Build makes an image: a disk image (oem), a live system (iso), or another format next to it. The page shows the progress and the log.",
  ],
  [
    "Try it",
    "Testdrive boots an image and shows its screen. Modified files shows what you changed in it, and builds it into the next image.",
  ],
  ["Give it to others", "On the tab Share, publish a version in the gallery, or share the appliance with an account."],
];

const Help = ({ baseUrl }: { baseUrl: string }) => (
  <Content look="narrow stack">
    <h1>Help</h1>
    <Panel id="tasks" title="From nothing to a running system">
      <ol class="tasks stack-s">
        {tasks.map(([name, words]) => (
          <li>
            <b>{name}.</b> {words}
          </li>
        ))}
      </ol>
    </Panel>
    <Terminal baseUrl={baseUrl} />
    <Panel id="keys" title="Keyboard shortcuts" look="stack-s">
      <p>
        They work on every page while no field has the focus. To turn them off, press Shortcuts at the foot of a page.
      </p>
      <ShortcutList />
    </Panel>
    <Panel id="more" title="More">
      <ul class="stack-s">
        <li>
          <a href="/api/docs">Every call of the API</a>, with a line for the shell
        </li>
        <li>
          <a href="/status">Whether the service works</a>
        </li>
        <li>
          <a href="/account">Your keys, tokens, webhooks and storage</a>
        </li>
      </ul>
    </Panel>
  </Content>
);

const Terminal = ({ baseUrl }: { baseUrl: string }) => (
  <Panel id="command-line-help" title="The command line" look="stack-s">
    <p>
      <code>kiln</code> does the same from a terminal, a script or CI. It needs Node 20 or newer. In a checkout of Kiln:
    </p>
    <pre class="code" tabindex={0}>
      <code>{[install, `kiln login ${baseUrl}`, "kiln --help"].join("\n")}</code>
    </pre>
    <p>
      It asks for your account name, and for <a href="/account">your API key</a> or a token.
    </p>
  </Panel>
);

const install = "npm pack -w @kiln-build/cli && npm install --global ./kiln-build-cli-*.tgz";
