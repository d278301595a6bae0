import { Complaint } from "../../launch/complaint.ts";
import { readTextOrInput } from "../../launch/given-file.ts";
import { makeSecrets } from "../../launch/secrets.ts";
import { opensQueue } from "../cloudflare.ts";
import type { Deployment } from "../deployment.ts";
import type { Step } from "../walk.ts";

const queueToken = "QUEUE_API_TOKEN";

/**
 * Creates the secrets that neither the Worker nor this machine has. Stores them on this machine first, because an
 * interrupted run must not lose a secret that the Worker already uses. They are uploaded together with the code.
 */
export function secretsStep(deployment: Deployment): Step {
  return {
    name: "Secrets",
    isDone: async () => (await missingSecrets(deployment)).length === 0,
    async do() {
      const missing = await missingSecrets(deployment);
      const made: Record<string, string> = makeSecrets();
      const added: Record<string, string> = {};
      for (const name of missing.filter((each) => each !== queueToken)) {
        const value = made[name];
        if (value === undefined)
          throw new Complaint(
            `wrangler.toml requires the secret ${name}. Put it into ${deployment.folder.file("secrets.json")}.`,
          );
        added[name] = value;
      }
      if (missing.includes(queueToken)) added[queueToken] = await queueTokenOf(deployment);
      deployment.folder.write("secrets.json", { ...deployment.folder.readSecrets(), ...added });
    },
  };
}

/** Required secrets that neither the Worker nor this machine has. */
async function missingSecrets(deployment: Deployment): Promise<string[]> {
  const stored = deployment.folder.readSecrets();
  return (await secretsToPut(deployment)).filter((name) => !(name in stored));
}

/** Required secrets that the Worker does not have. */
export async function secretsToPut({ api, configuration }: Deployment): Promise<string[]> {
  const { name, secrets } = configuration();
  const put = (await (await api())?.secrets(name)) ?? [];
  return secrets.required.filter((each) => !put.includes(each));
}

async function queueTokenOf({ options, env, ask, configuration }: Deployment): Promise<string> {
  const file = options["queue-token-file"];
  const question = "API token with Account > Queues > Edit, made at https://dash.cloudflare.com/profile/api-tokens";
  const token = (
    file === undefined ? (env[queueToken] ?? (await ask(question, "--queue-token-file"))) : await readTextOrInput(file)
  ).trim();
  const { account_id: accountId = "", vars } = configuration();
  if (await opensQueue(token, { accountId, queueId: vars["QUEUE_ID"] ?? "", env })) return token;
  throw new Complaint(
    "Cloudflare does not accept this token for the queue of the agents. It needs Account > Queues > Edit.",
  );
}
