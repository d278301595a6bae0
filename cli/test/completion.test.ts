import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMachine, run, type Machine } from "./support/machine.ts";
import { newKey, signedInto, standIn, type StandIn } from "./support/service.ts";

let service: StandIn;
let machine: Machine;

const appliances = [
  { id: 1000, name: "First", basesystem: "tiny-1.0", builds: [] },
  { id: 1001, name: "Reading room", basesystem: "tiny-1.0", builds: [] },
  { id: 1002, name: "Web: shop", basesystem: "tiny-1.0", builds: [] },
  { id: 1003, name: "Left \u202Eright", basesystem: "tiny-1.0", builds: [] },
];
const found = { software_map: [{ software: { package: [{ value: "hello" }], pattern: [] } }] };

beforeAll(async () => {
  machine = newMachine();
  writeFileSync(join(machine.folder, "image.iso"), "");
  service = await standIn({
    ...signedInto(newKey()),
    "/api/v2/user/appliances": { appliances },
    "/api/v2/user/appliances/1000/software/search": found,
    "/api/v2/user/appliances/1000/configuration": { configuration: { network: { type: "dhcp" } } },
    "/api/v2/user/appliances/1000/software": {
      software: { package: [{ value: "nano", version: "7.2" }], pattern: [] },
    },
  });
  const signedIn = await machine.kiln(["login", service.url, "--account", "tux"], { input: "key\n" });
  expect(signedIn).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
});

/** The words of each line when Tab was pressed after it. */
const completed: [string, string[]][] = [
  ["kiln stat", ["status"]],
  ["kiln config g", ["config", "get"]],
  ["kiln show Fi", ["show", "First"]],
  ["kiln show Rea", ["show", "Reading room"]],
  ["kiln add First hel", ["add", "First", "hello"]],
  ["kiln remove First na", ["remove", "First", "nano"]],
  ["kiln --json show Fi", ["--json", "show", "First"]],
  ["kiln build First --ty", ["build", "First", "--type"]],
  ["kiln verify ima", ["verify", "image.iso"]],
  ["kiln show 'Rea", ["show", "Reading room"]],
  ['kiln show "Reading r', ["show", "Reading room"]],
  ["kiln show Reading\\ r", ["show", "Reading room"]],
  ["kiln show We", ["show", "Web: shop"]],
  ["kiln show Web:\\ s", ["show", "Web: shop"]],
  ["kiln show Le", ["show", "Le"]],
  ["kiln build First --type oem,is", ["build", "First", "--type", "oem,iso"]],
  ["kiln build First --type=is", ["build", "First", "--type=iso"]],
  ["kiln config set First network.ty", ["config", "set", "First", "network.type="]],
  ["kiln config set First network.type=ma", ["config", "set", "First", "network.type=manual"]],
  ["kiln config set First firewall.enabled=t", ["config", "set", "First", "firewall.enabled=true"]],
];

const setUps = {
  bash: ["bash --norc --noprofile -i", "source <(kiln completion bash)"],
  zsh: ["zsh -f -i", "autoload -U compinit; compinit -u; source <(kiln completion zsh)"],
} as const;

describe.each(["bash", "zsh"] as const)("in %s", (shell) => {
  it("completes commands, options, files, and what the service has", async () => {
    using terminal = openTerminal(setUps[shell][0]);
    await terminal.enter(`${setUps[shell][1]}; printf '<%s>' set up`, "<set><up>");
    const results = [];
    for (const [line] of completed) results.push(await terminal.complete(line));
    expect(results).toEqual(completed.map(([, words]) => ["kiln", ...words]));
    const withUrl = ["--url", service.url, "show"];
    expect(await terminal.complete(`kiln ${withUrl.join(" ")} Fi`)).toEqual(["kiln", ...withUrl, "First"]);
  });
});

it("completes in fish, and says what each word is", async () => {
  expect(await fish("kiln stat")).toEqual(["status\tShow whether an appliance can be built, and what is missing"]);
  expect(await fish("kiln show Rea")).toEqual(["Reading room\t1001, tiny-1.0"]);
  expect(await fish("kiln add First hel")).toEqual(["hello"]);
  expect(await fish("kiln verify ima")).toEqual(["image.iso"]);
  expect(await fish('kiln show "Rea')).toEqual(["Reading room\t1001, tiny-1.0"]);
  expect(await fish("kiln show Reading\\\\ r")).toEqual(["Reading room\t1001, tiny-1.0"]);
  expect(await fish("kiln show Web: s")).toEqual([""]);
  expect(await fish("kiln config set First network.type=m")).toEqual(["network.type=manual"]);
  expect(await fish("kiln build First --type=is")).toEqual(["--type=iso"]);
});

it("completes from the service that --url names", async () => {
  await using other = await standIn({
    "/api/v2/user/appliances": { appliances: [{ id: 7, name: "Elsewhere", basesystem: "tiny-1.0", builds: [] }] },
  });
  const env = { KILN_ACCOUNT: "tux", KILN_TOKEN: "key" };
  const ended = await machine.kiln(["__complete", "--", "--url", other.url, "show", ""], { env });
  expect(ended.stdout).toBe("Elsewhere\t7, tiny-1.0\n");
});

it("completes nothing and prints nothing without a service", async () => {
  const env = { KILN_URL: "http://127.0.0.1:1", KILN_ACCOUNT: "tux", KILN_TOKEN: "key" };
  expect(await machine.kiln(["__complete", "--", "show", ""], { env })).toEqual({ code: 0, stdout: "", stderr: "" });
});

/** The completions that fish offers for a line. */
async function fish(line: string): Promise<string[]> {
  const ask = `kiln completion fish | source; complete -C '${line}'`;
  const ended = await run("fish", ["--no-config", "-c", ask], { env: machine.env, input: "", cwd: machine.folder });
  return ended.stdout.trimEnd().split("\n");
}

interface Terminal extends Disposable {
  /** Types a line, and waits until it has printed this text. */
  enter: (line: string, until: string) => Promise<void>;
  /** Types a line and Tab, and returns the words that the shell has then. */
  complete: (line: string) => Promise<string[]>;
}

function openTerminal(shell: string): Terminal {
  const terminal = spawn("script", ["-qfc", shell, "/dev/null"], { env: machine.env, cwd: machine.folder });
  let output = "";
  const news = new EventEmitter();
  let hasEnded = false;
  terminal.stdout.on("data", (chunk) => {
    output += chunk;
    news.emit("more");
  });
  terminal.on("close", () => {
    hasEnded = true;
    news.emit("more");
  });
  const shown = async (what: RegExp) => {
    for (;;) {
      const [match] = what.exec(output) ?? [];
      if (match !== undefined) return match;
      if (hasEnded) throw new Error(`the shell ended: ${output}`);
      await once(news, "more");
    }
  };
  return {
    enter: async (line, until) => {
      terminal.stdin.write(`${line}\n`);
      await shown(new RegExp(`${until}`));
    },
    complete: async (line) => {
      output = "";
      // Ctrl-A moves to the beginning. The words of the line become arguments of a command that prints them.
      terminal.stdin.write(`${line}\t\u0001printf '<%s>' \u0005 end\n`);
      const printed = await shown(/<kiln>(<[^>]*>)*<end>/);
      return [...printed.matchAll(/<([^>]*)>/g)].map(([, word = ""]) => word).slice(0, -1);
    },
    [Symbol.dispose]: () => void terminal.kill("SIGKILL"),
  };
}
