import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Agent } from "../../admin/client.ts";
import { importWarning, readCatalogue } from "../../launch/catalogue-file.ts";
import { Complaint } from "../../launch/complaint.ts";
import { print, warn } from "../../launch/progress.ts";
import { projectRoot } from "../../launch/project.ts";
import type { Deployment } from "../deployment.ts";
import type { Step } from "../walk.ts";

/** The file with an agent's configuration, including its token. */
const file = (agent: string) => `agent-${agent}.json`;
const lookEveryMs = 2_000;
const Repositories = z.looseObject({ repositories: z.array(z.looseObject({ url: z.string() })) });

/** Creates the first account, base system and agent. Skips each one that the service already has, under any name. */
export function serviceSteps(deployment: Deployment): Step[] {
  return [accountStep(deployment), baseStep(deployment), agentStep(deployment)];
}

function accountStep({ admin, ask, settings, store, configuration }: Deployment): Step {
  return {
    name: "First account",
    isDone: async () => (await admin().accounts()).length > 0,
    async do() {
      const host = URL.parse(configuration().vars["BASE_URL"] ?? "")?.hostname ?? "localhost";
      const { account = await ask("Name of the first account", "--account", "admin") } = settings();
      const { email = await ask("Its email address", "--email", `${account}@${host}`) } = settings();
      store({ account, email });
      const made = await admin().addAccount({ username: account, email });
      print(`  account ${made.username}, password ${made.password ?? ""}   (shown this once)`);
      print("  Its API key is on the page /api-key. A lost password: npm run admin -- account password NAME");
    },
  };
}

function baseStep({ admin, settings, ask, store }: Deployment): Step {
  const repositories = async () => (await admin().catalogues()).flatMap((each) => each.repositories);
  return {
    name: "First base system",
    async isDone() {
      const known = await repositories();
      return known.length > 0 && known.every(({ state }) => state !== "importing");
    },
    async do() {
      if ((await repositories()).length === 0) {
        const { base = await ask("Catalogue of the first base system", "--base", "templates/debian-13.json") } =
          settings();
        const catalogue = readCatalogue(resolve(projectRoot, base));
        refuseOwnRepositories(base, catalogue);
        store({ base });
        await admin().loadCatalogue(catalogue.name, catalogue);
      }
      await imported(repositories);
    },
  };
}

/** The files of such repositories must be in the service before the import reads them. */
function refuseOwnRepositories(base: string, catalogue: unknown): void {
  const own = Repositories.parse(catalogue).repositories.some(({ url }) => url.startsWith("service:"));
  if (own) throw new Complaint(`${base} has repositories that the service itself stores. Choose another with --base.`);
}

type Imported = { name: string; state: string; problem: string | null };

async function imported(repositories: () => Promise<readonly Imported[]>): Promise<void> {
  for (;;) {
    const known = await repositories();
    if (known.every(({ state }) => state !== "importing")) {
      for (const each of known.filter(({ problem }) => problem !== null)) warn(importWarning(each));
      return;
    }
    await sleep(lookEveryMs);
  }
}

function agentStep({ admin, folder, settings, ask, store, serviceUrl }: Deployment): Step {
  // A token is shown once. If the run ended between the answer and the file, it is lost.
  const isLost = ({ name, lastSeenAt }: Agent) =>
    name === settings().agent && lastSeenAt === null && !folder.has(file(name));
  return {
    name: "First agent",
    async isDone() {
      const agents = await admin().agents();
      return agents.length > 0 && !agents.some(isLost);
    },
    async do() {
      const { agent = await ask("Name of the first agent", "--agent", "builder1") } = settings();
      store({ agent });
      if ((await admin().agents()).some(isLost)) await admin().removeAgent(agent);
      const { token } = await admin().addAgent(agent);
      const url = serviceUrl();
      folder.write(file(agent), { url, token, stateDir: "/var/lib/kiln-agent" });
      print("  On the agent's host, as root, with the package of npm run package:agent:");
      print(`    apt install ./kiln-agent_*.deb && kiln-agent setup ${url}`);
      print(`  It reads the agent's token, which is in ${folder.file(file(agent))}`);
    },
  };
}
