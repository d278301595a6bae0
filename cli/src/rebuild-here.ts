import { spawn } from "node:child_process";
import { provenanceSuffix } from "./attest.ts";
import { Complaint, exitCodes, type Exit } from "./complaint.ts";
import { readText } from "./files.ts";
import type { Kiln } from "./kiln.ts";
import { storedLogins } from "./login/login.ts";
import { openEnvelope } from "./verify/envelope.ts";
import { trustedKeys } from "./verify/keys.ts";

/** Whether the argument of `kiln rebuild` is a file, and not a build of the service. */
export const isProvenance = (given: string): boolean => given.endsWith(provenanceSuffix);

export interface Here {
  key: string | undefined;
  root: string | undefined;
  bare: boolean | undefined;
}

/**
 * Has the builder agent of this machine build an image again from its provenance. It gets the key that has signed it,
 * so it trusts the same keys as this program.
 */
export async function rebuildHere(kiln: Kiln, file: string, { key: keyFile, root, bare }: Here): Promise<Exit> {
  if (kiln.isForAssistant)
    throw new Complaint(
      "refused",
      "An assistant may not build on this machine.",
      `Run \`kiln rebuild ${file}\` yourself.`,
    );
  const logins = storedLogins();
  const keys = trustedKeys(
    keyFile,
    logins.flatMap(({ keys }) => keys),
  );
  const { key } = openEnvelope(readText(file, "Name the provenance of an image, which `kiln download` fetches."), keys);
  const service = kiln.url ?? logins.find(({ keys }) => keys.some(({ kid }) => kid === key.kid))?.url;
  const more = [
    ...(service === undefined ? [] : ["--service", service]),
    ...(root === undefined ? [] : ["--root", root]),
    ...(bare ? ["--bare"] : []),
  ];
  const { code, text } = await runAgent(["rebuild", file, "--key", "-", ...more], key.pem);
  const exit = exits.find((each) => exitCodes[each].code === code) ?? "refused";
  kiln.show({ rebuild: { result: exit, message: text } }, () => text);
  return exit;
}

/** The exit codes of the agent, which mean the same here. */
const exits = ["done", "difference", "broken", "unverified", "misused"] as const satisfies readonly Exit[];

async function runAgent(args: readonly string[], input: string): Promise<{ code: number | null; text: string }> {
  const child = spawn("kiln-agent", args, { stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  child.stdin.on("error", () => {}).end(input);
  return await new Promise((resolve, reject) => {
    child.on("error", () => reject(notInstalled()));
    child.on("close", (code) => resolve({ code, text: text.trimEnd() }));
  });
}

const notInstalled = () =>
  new Complaint(
    "refused",
    "Only the builder agent can build an image, and it is not installed here.",
    "Install its package, kiln-agent; or omit .intoto.jsonl to have the service build it again.",
  );
