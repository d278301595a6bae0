import { makeKiwiPlace, kiwiEnvironment } from "../build/kiwi.ts";
import { enclosed, endOf, outputOf, run } from "../process.ts";
import { answerLimitMs, fine, missing, type Check } from "./check.ts";
import { scratchDir } from "./scratch-dir.ts";

/** The first that Kiln was tried with. */
const oldestKiwi = [9, 24] as const;

/** → KIWI's version, if it answers at all. */
export async function findKiwiVersion(): Promise<string | undefined> {
  const said = await outputOf("kiwi-ng", ["--version"], AbortSignal.timeout(answerLimitMs)).catch(() => "");
  return /(\d+\.\d+\.\d+)/.exec(said)?.[1];
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

/** rpm as our builds see it. Otherwise an image's package database would be in a home directory, and nothing could be signed. */
export async function checkRpmMacros(stateDir: string): Promise<Check> {
  const name = "rpm macros";
  await using dir = await scratchDir(stateDir);
  const place = await makeKiwiPlace(dir.path);
  const lines: string[] = [];
  const exit = await run("rpm", ["--eval", "%_dbpath", "--eval", "%__gpg"], {
    env: kiwiEnvironment(place),
    signal: AbortSignal.timeout(answerLimitMs),
    onLine: (line) => lines.push(line),
  }).catch((error: Error) => error);
  const said = lines.join(" ");
  if (said === "/usr/lib/sysimage/rpm /usr/bin/gpg") return fine(name, said);
  const why = exit instanceof Error ? exit.message : `rpm says "${said}" (${endOf(exit)})`;
  return missing(name, why, ["builds"], "report this: the agent's own rpm macros are not read by this rpm");
}

/** Builds run in a process and a mount namespace of their own, so that nothing of a killed one stays. */
export async function checkEnclosure(): Promise<Check> {
  const name = "namespaces";
  const lines: string[] = [];
  const options = { signal: AbortSignal.timeout(answerLimitMs), onLine: (line: string) => lines.push(line) };
  const exit = await run(...enclosed("true", []), options).catch((error: Error) => error);
  if (!(exit instanceof Error) && "code" in exit && exit.code === 0) return fine(name, "unshare works");
  return missing(name, lines.join(" "), ["builds"], "run the agent as root outside of an unprivileged container");
}
