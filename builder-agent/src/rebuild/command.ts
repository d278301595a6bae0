import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { packageListDigest, publicKeyOf, type PublicKey } from "../attest.ts";
import { orRefuse, UsageRefused } from "../command-line.ts";
import { ConfigRefused, readConfig, type Config } from "../config.ts";
import { lockStateDir } from "../lock.ts";
import { sentenceOf } from "../log.ts";
import { clearWorkDirs } from "../work-dir.ts";
import { exits, impossible, NoRebuild, unverified } from "./outcome.ts";
import { readProvenance, refuseOtherImage, type Claimed } from "./provenance.ts";
import { buildUrlOf, fetchInput, fetchKeys } from "./published.ts";
import { rebuildImage } from "./rebuild.ts";

const usage = `kiln-agent rebuild IMAGE.intoto.jsonl [options]
npm run agent -- rebuild IMAGE.intoto.jsonl [options]

Builds a published image again from its signed provenance, and compares the SHA-256 of the two. It needs no account.
If the image is next to the provenance, it is compared with it first.

  --service URL      the service that built it: its keys are fetched from there, and what the image was built from
  --key FILE         its public key in PEM, in place of the keys of --service. "-" is standard input
  --image FILE       the image, if it is somewhere else
  --root FILE        the builder root that the provenance names, if one is named
  --bare             runs the scripts of the appliance and its packages as root on this machine, and not in a guest:
                     only on a machine that you delete afterwards
  --state DIR        keeps downloads and guests here for the next time. Default: a directory that is deleted
  --config FILE      of a builder agent: its guests, allowed hosts and proxy
  --help

Exit code: 0 if the bytes are the same, 2 if they differ, 4 if it could not be built again, 6 if a signature, a checksum
or the image does not match the provenance, 64 for a wrong command line.
`;

const options = {
  service: { type: "string" },
  key: { type: "string" },
  image: { type: "string" },
  root: { type: "string" },
  bare: { type: "boolean" },
  state: { type: "string" },
  config: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

const parse = (args: string[]) => parseArgs({ args, options, allowPositionals: true });
type Values = ReturnType<typeof parse>["values"];

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** `kiln-agent rebuild FILE`. Prints one line with the result. Returns the exit code. */
export async function rebuildCommand(args: string[], signal: AbortSignal): Promise<number> {
  try {
    const { values, positionals } = orRefuse(() => parse(args), usage);
    const [file, ...more] = positionals;
    if (values.help) return print(usage.trimEnd(), 0);
    if (file === undefined || more.length > 0) throw new UsageRefused(`Name one provenance.\n\n${usage}`);
    const { isSame, line } = await rebuild(file, values, signal);
    return print(line, isSame ? exits.same : exits.differs);
  } catch (error) {
    if (error instanceof NoRebuild) return print(error.message, error.exit);
    if (error instanceof UsageRefused || error instanceof ConfigRefused) return print(error.message, exits.misused);
    return print(`It could not be built again: ${sentenceOf(error)}`, exits.impossible);
  }
}

function print(line: string, exit: number): number {
  process.stdout.write(`${line}\n`);
  return exit;
}

async function rebuild(file: string, values: Values, signal: AbortSignal): Promise<{ isSame: boolean; line: string }> {
  const claimed = readProvenance(await textOf(file), await keysOf(values, signal));
  const { image, root } = claimed;
  await refuseOtherImage(claimed, { provenance: file, file: values.image });
  const service = serviceOf(values, claimed);
  const buildUrl = buildUrlOf(service, claimed);
  const input = await fetchInput(buildUrl, claimed, signal);
  await using state = await stateOf(values);
  const config = await configOf(values, { service, stateDir: state.path });
  const job = { claimed, input, config, buildUrl, rootFile: values.root, signal, say };
  const { sha256, packages } = await rebuildImage(job, async ({ digests, installed }) => ({
    sha256: digests.sha256,
    packages: packageListDigest(installed),
  }));
  const isImage = sha256 === image.sha256;
  if (isImage && claimed.packages !== undefined && claimed.packages !== packages)
    return { isSame: false, line: otherPackages(image.name) };
  if (isImage)
    return { isSame: true, line: `Same bytes: ${image.name} was built again here, with the SHA-256 ${sha256}.` };
  const tools = root
    ? ""
    : ` It was built with the tools of its build host (KIWI ${claimed.kiwi}), which may differ from the tools here.`;
  const digests = `the SHA-256 of what was built here is ${sha256}, and the provenance names ${image.sha256}`;
  return { isSame: false, line: `Other bytes: ${image.name} differs: ${digests}.${tools}` };
}

const otherPackages = (name: string): string =>
  `Other packages: ${name} was built again here with the same bytes, but its bills of materials do not list the packages that are in it.`;

async function textOf(file: string): Promise<string> {
  const reading = file === "-" ? text(process.stdin) : readFile(file, "utf8");
  return await reading.catch((cause: unknown) => {
    throw impossible(`${file} cannot be read.`, { cause });
  });
}

/**
 * A key that comes with the provenance, or from an address in it, would prove nothing. So the user must name the key or
 * the service.
 */
async function keysOf({ key, service }: Values, signal: AbortSignal): Promise<PublicKey[]> {
  if (key === undefined && service === undefined)
    throw new UsageRefused(
      "Name the service that built the image with --service URL, or its public key with --key FILE.",
    );
  if (key === undefined) return await fetchKeys(addressOf(service), signal);
  const pem = await textOf(key);
  try {
    return [publicKeyOf(pem)];
  } catch {
    throw unverified(`${key} is not a public key in PEM.`);
  }
}

function serviceOf({ service }: Values, claimed: Claimed): string {
  if (service !== undefined) return addressOf(service);
  if (/^https?:\/\//.test(claimed.service)) return addressOf(claimed.service);
  throw new UsageRefused("The provenance names no address of the service: name it with --service URL.");
}

function addressOf(given = ""): string {
  if (/^https?:\/\/[^/]/.test(given) && URL.canParse(given)) return given.replace(/\/+$/, "");
  throw new UsageRefused(`${given} is not the address of a service: write it as https://kiln.example.org.`);
}

/** The directory for downloads and for the build. */
async function stateOf({ state }: Values): Promise<{ path: string } & AsyncDisposable> {
  const path = state === undefined ? await mkdtemp("/var/tmp/kiln-rebuild-") : resolve(state);
  await mkdir(path, { recursive: true, mode: 0o700 });
  await lockStateDir(path);
  await clearWorkDirs(path, say);
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3 });
  return { path, [Symbol.asyncDispose]: async () => void (state === undefined && (await remove())) };
}

/** An agent's configuration. The scripts are untrusted, so they run in a guest unless an option turns that off. */
async function configOf(values: Values, { service, stateDir }: { service: string; stateDir: string }): Promise<Config> {
  const env = {
    ...process.env,
    KILN_AGENT_URL: service,
    KILN_AGENT_TOKEN: "not-an-agent",
    KILN_AGENT_STATE_DIR: stateDir,
    KILN_AGENT_ISOLATION: values.bare === true ? "none" : "vm",
  };
  return await readConfig(values.config, env);
}
