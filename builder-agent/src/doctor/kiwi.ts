import { makeKiwiPaths, kiwiEnvironment } from "../run/kiwi.ts";
import { enclosed, endOf, run, whyItFails } from "../process.ts";
import { findProgram, versionOf } from "../programs.ts";
import { answerLimitMs, fine, missing, type Check } from "./check.ts";
import { scratchDir } from "./doctor-dir.ts";

/** The oldest version that Kiln was tested with. */
const oldestKiwi = [9, 24] as const;

/** A busy host may kill or delay a program, which does not mean that the program is missing. */
const tries = 3;

/** Undefined if KIWI is not installed or does not answer. */
export async function findKiwiVersion(): Promise<string | undefined> {
  for (let nth = 1; nth <= tries && (await findProgram("kiwi-ng")) !== undefined; nth += 1) {
    const said = await versionOf("kiwi-ng").catch(() => "");
    const version = /(\d+\.\d+\.\d+)/.exec(said)?.[1];
    if (version !== undefined) return version;
  }
  return undefined;
}

export function checkKiwiVersion(version: string | undefined): Check {
  const name = "KIWI version";
  const fix = "install KIWI NG 9.24 or newer";
  if (version === undefined) return missing(name, "kiwi-ng does not answer", ["builds"], fix);
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNewEnough = major > oldestKiwi[0] || (major === oldestKiwi[0] && minor >= oldestKiwi[1]);
  return isNewEnough
    ? fine(name, version)
    : missing(name, `${version} is older than ${oldestKiwi.join(".")}`, ["builds"], fix);
}

/** Checks rpm as builds see it. With the wrong macros, an image's package database would be in a home directory. */
export async function checkRpmMacros(stateDir: string): Promise<Check> {
  const name = "rpm macros";
  await using dir = await scratchDir(stateDir);
  const paths = await makeKiwiPaths(dir.path);
  const lines: string[] = [];
  const exit = await run("rpm", ["--eval", "%_dbpath", "--eval", "%__gpg"], {
    env: kiwiEnvironment(paths),
    signal: AbortSignal.timeout(answerLimitMs),
    onLine: (line) => lines.push(line),
  }).catch((error: Error) => error);
  const said = lines.join(" ");
  if (said === "/usr/lib/sysimage/rpm /usr/bin/gpg") return fine(name, said);
  const why = exit instanceof Error ? exit.message : `rpm says "${said}" (${endOf(exit)})`;
  return missing(name, why, ["builds"], "report this: the agent's own rpm macros are not read by this rpm");
}

/** Builds run in their own process and mount namespace, so that a killed one leaves nothing behind. */
export async function checkEnclosure(): Promise<Check> {
  const name = "namespaces";
  const why = await whyItFails(...enclosed("true", [])).catch((error: Error) => error.message);
  if (why === "") return fine(name, "unshare works");
  return missing(name, why, ["builds"], "run the agent as root, outside an unprivileged container");
}
