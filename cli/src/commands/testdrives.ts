import { spawn } from "node:child_process";
import { command, flag, value, values } from "../command.ts";
import { Complaint } from "../complaint.ts";
import type { Client } from "../client/client.ts";
import { readText } from "../files.ts";
import { facts, table, visible, visibleLines } from "../output/table.ts";
import { applianceId, buildId, numberOf } from "../resolve.ts";
import { howToCheck, lastRun, notChecked } from "./checks.ts";
import { pathOf } from "./contents.ts";

const except = values("path", "omit this path and everything below it; may be repeated");

export const testdrives = [
  command("testdrive <build>", {
    summary: "Boot an image, and open its screen",
    details: "It opens in the browser, or in a VNC viewer. A testdrive that no one watches for 60 seconds ends.",
    options: {
      network: flag("with a network card; the web server of the machine gets an address"),
      vnc: flag("open vncviewer in place of the browser"),
      checked: flag("continue the machine as it was when its last checks ended"),
      noOpen: flag("open nothing, print the addresses"),
      userData: value("file", "what cloud-init or Ignition does at the first boot"),
      metaData: value("file", "the machine's data for cloud-init, in YAML"),
      networkConfig: value("file", "the network that cloud-init configures, in YAML"),
    },
    examples: ["kiln testdrive First"],
    act: async ({ client, show, paint }, { build, network, vnc, checked, noOpen, ...seed }) => {
      const id = await buildId(client, build);
      const answer = await client.call("startTestdrive", {
        build_id: id,
        network: network ? "on" : undefined,
        check_run: checked ? await lastCheckRun(client, id) : undefined,
        user_data: textIn(seed.userData),
        meta_data: textIn(seed.metaData),
        network_config: textIn(seed.networkConfig),
      });
      const { url, server, web_url: web } = answer.testdrive;
      const screen = server.vnc.port === 0 ? undefined : `${server.vnc.host}::${server.vnc.port}`;
      show(answer, () =>
        facts(paint, {
          Testdrive: answer.testdrive.id,
          Screen: url,
          VNC: screen,
          Password: screen && server.vnc.password,
          "Web server": web,
        }),
      );
      if (vnc) await openViewer(screen, server.vnc.password);
      else if (!noOpen) await openBrowser(url);
    },
  }),
  command("testdrives", {
    tool: "reads",
    summary: "List your running testdrives",
    act: async ({ client, show, paint }) => {
      const answer = await client.call("listTestdrives", {});
      const rows = answer.testdrives.map((one) => [one.id, one.build_id, one.state, one.web_url]);
      show(answer, () => table(paint, ["TESTDRIVE", "BUILD", "STATE", "WEB SERVER"], rows));
    },
  }),
  command("stop <testdrive>", {
    summary: "End a testdrive",
    act: async ({ client, show }, { testdrive }) => {
      const answer = await client.call("endTestdrive", { testdrive_id: numberOf(testdrive, "testdrive") });
      show(answer, () => `Testdrive ${testdrive} has ended.`);
    },
  }),
  command("modified <testdrive>", {
    summary: "List the files that a testdrive has changed in its image",
    details:
      "Run `sync` in the machine first: what it has not written to its disk is not seen. CAUTION says why copies of the " +
      "appliance should not get a file: it is a secret, identity or state of one machine, a log, or large.",
    options: {
      path: values("path", "only this path and everything below it; may be repeated"),
      except,
      diff: flag("show how text files differ"),
    },
    examples: ["kiln modified 8 --path /etc --diff"],
    act: async ({ client, show, paint }, { testdrive, path, except: omitted, diff }) => {
      const answer = await client.call("listModifiedFiles", {
        testdrive_id: numberOf(testdrive, "testdrive"),
        path,
        except: omitted,
        difference: diff,
      });
      const { files } = answer.modified_files;
      const rows = files.map((one) => [one.change, one.path, one.type, one.size, one.caution]);
      const differences = files.map(({ difference, change, path: changed }) =>
        difference === undefined ? `${change} ${changed}` : visibleLines(difference.trimEnd()),
      );
      show(answer, () =>
        diff ? differences.join("\n") : table(paint, ["CHANGE", "PATH", "TYPE", "SIZE", "CAUTION"], rows),
      );
    },
  }),
  command("keep <testdrive> <path...>", {
    summary: "Add files that a testdrive has changed to the appliance",
    details:
      "It adds all of them or none. Each replaces the file that was added for the same path. A folder adds no file " +
      "that `kiln modified` shows with a caution: name such a file itself to keep it.",
    options: {
      except,
      appliance: value("appliance", "the appliance that gets them; the default is the one that was built"),
      archive: flag("as one tar.gz"),
    },
    examples: ["kiln keep 8 /etc/motd /srv"],
    act: async ({ client, show }, { testdrive, path, except: omitted, appliance, archive }) => {
      const answer = await client.call("keepModifiedFiles", {
        testdrive_id: numberOf(testdrive, "testdrive"),
        path,
        except: omitted,
        archive,
        appliance_id: appliance === undefined ? undefined : await applianceId(client, appliance),
      });
      const { files, left_out: omittedFiles, appliance_id: stored } = answer.kept_files;
      show(answer, () =>
        [
          ...files.map((one) => `Stored ${pathOf(one)} in appliance ${stored}.`),
          ...omittedFiles.map((one) => visible(`Omitted ${one.path}: ${one.reason}`)),
        ].join("\n"),
      );
    },
  }),
];

async function lastCheckRun(client: Client, build: number): Promise<number> {
  const run = await lastRun({ client }, build);
  if (!run) throw new Complaint("refused", notChecked, howToCheck);
  return run.id;
}

const textIn = (file: string | undefined): string | undefined =>
  file === undefined ? undefined : readText(file, "Name a file with the data of the first boot.");

const openItYourself = "Open the address of the screen yourself.";

/** A server or a terminal over SSH has no browser. Then the address is enough, and the command has not failed. */
async function openBrowser(url: string): Promise<void> {
  const hasScreen = process.env["DISPLAY"] || process.env["WAYLAND_DISPLAY"];
  const opened =
    process.platform === "darwin"
      ? await starts("open", [url])
      : process.platform === "win32"
        ? await starts("explorer", [url])
        : hasScreen
          ? await starts("xdg-open", [url])
          : false;
  if (!opened) process.stderr.write(`kiln: No browser can be opened here. ${openItYourself}\n`);
}

async function openViewer(screen: string | undefined, password: string): Promise<void> {
  if (screen === undefined)
    throw new Complaint(
      "refused",
      "No builder of this service has an address for VNC clients.",
      "Leave out --vnc: the page in the browser works anyway.",
    );
  // TigerVNC reads the password from the environment. Other users could see it on the command line.
  if (!(await starts("vncviewer", [screen], { VNC_PASSWORD: password })))
    throw new Complaint("refused", "vncviewer is not installed. The testdrive is running.", openItYourself);
}

/** Starts a program that outlives this command. Returns false if there is no such program. */
function starts(program: string, args: string[], env: Record<string, string> = {}): Promise<boolean> {
  const child = spawn(program, args, { detached: true, stdio: "ignore", env: { ...process.env, ...env } });
  child.unref();
  return new Promise((resolve) => {
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
  });
}
