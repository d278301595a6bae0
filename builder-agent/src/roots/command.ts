import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { orRefuse, UsageRefused } from "../command-line.ts";
import { getConfig } from "../found-config.ts";
import { ownCommand } from "../own-command.ts";
import { definitionsDir, RootFault, readDefinition, withMirrors } from "./definition.ts";
import { makeRoot } from "./make.ts";
import { clearRoots, findRoot, listRoots, removeRoot, type StoredRoot } from "./store.ts";
import { exportRoot, importRoot } from "./transfer.ts";

const usage = `${ownCommand("root", "COMMAND [options]")}

Builder roots: read-only systems with KIWI and its tools, in which builds run.

  make NAME|FILE.json   makes a root of a definition, of the mirror's newest packages.
                        NAME.json is in ${definitionsDir}
  list                  the roots of this agent
  packages NAME         what a root is made of: package, version, SHA-256
  export NAME FILE      copies a root into FILE, and its digest into FILE.sha256
  import FILE           stores an exported root
  remove NAME

  --config FILE           of the builder agent
  --state DIR             of npm start (.kiln)
  --mirror URL            in place of http://deb.debian.org/debian
  --security-mirror URL   in place of http://deb.debian.org/debian-security
  --accept-expired        make: also of an index that is past its Valid-Until. The root records that
  --sha256 DIGEST         import: which digest FILE must have. Without it FILE.sha256 says that
  --help
`;

const options = {
  config: { type: "string" },
  state: { type: "string" },
  mirror: { type: "string" },
  "security-mirror": { type: "string" },
  "accept-expired": { type: "boolean" },
  sha256: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

type Values = ReturnType<typeof parse>["values"];
const parse = (args: string[]) => parseArgs({ args, options, allowPositionals: true });

/** `npm run agent -- root …`, and `kiln-agent root …` of a package. */
export async function rootCommand(args: string[], print: (text: string) => void, signal: AbortSignal): Promise<void> {
  const { values, positionals } = orRefuse(() => parse(args), usage);
  const [command = "", ...words] = positionals;
  const wanted = wordsOf[command];
  if (values.help) return print(usage);
  if (wanted === undefined || wanted !== words.length)
    throw new UsageRefused(
      `${command === "" ? "Give a command." : `Unknown command: root ${positionals.join(" ")}`}\n\n${usage}`,
    );
  const { stateDir } = await getConfig(values);
  await clearRoots(stateDir);
  await commands[command]?.({ stateDir, values, print, signal, words });
}

/** The number of arguments of each command. */
const wordsOf: Record<string, number> = { make: 1, list: 0, packages: 1, export: 2, import: 1, remove: 1 };

interface Call {
  stateDir: string;
  values: Values;
  words: string[];
  print: (text: string) => void;
  signal: AbortSignal;
}

const commands: Record<string, (call: Call) => Promise<void>> = {
  async make({ stateDir, values, words: [given = ""], print, signal }) {
    const mirrors = { mirror: values.mirror, securityMirror: values["security-mirror"] };
    const definition = withMirrors(await readDefinition(given), mirrors);
    const acceptExpired = values["accept-expired"] === true;
    print(lineOf(await makeRoot(definition, { stateDir, acceptExpired, signal, say: print })));
  },
  async list({ stateDir, print }) {
    const roots = await listRoots(stateDir);
    if (roots.length === 0) print("This agent has no builder root.");
    for (const root of roots) print(lineOf(root));
  },
  async packages({ stateDir, words: [name = ""], print }) {
    const { facts } = await getRoot(stateDir, name);
    for (const one of facts.packages) print(`${one.name} ${one.version} ${one.sha256}`);
  },
  async export({ stateDir, words: [name = "", file = ""], print }) {
    const root = await getRoot(stateDir, name);
    await exportRoot(root, resolve(file));
    print(lineOf(root));
  },
  async import({ stateDir, values, words: [file = ""], print }) {
    print(lineOf(await importRoot(resolve(file), { stateDir, sha256: values.sha256 })));
  },
  async remove({ stateDir, words: [name = ""] }) {
    await removeRoot(await getRoot(stateDir, name));
  },
};

async function getRoot(stateDir: string, name: string): Promise<StoredRoot> {
  const root = await findRoot(stateDir, name);
  if (!root) throw new RootFault(`This agent has no builder root ${name}: ${ownCommand("root", `make ${name}`)}`);
  return root;
}

const lineOf = ({ facts, sha256, bytes }: StoredRoot): string =>
  `${facts.name}  sha256:${sha256}  ${Math.round(bytes / 1e6)} MB  KIWI ${facts.builder}  ${facts.packages.length} packages`;
