import type { Cloudflare } from "../cloudflare.ts";
import { databasesOf, pulledQueue, queueNames } from "../configuration.ts";
import type { Deployment } from "../deployment.ts";
import type { Step } from "../walk.ts";

/** How long an agent has to acknowledge a job that it pulled. */
const visibilitySeconds = 30;

/** The databases, the bucket, the queues, and the consumer that wrangler.toml cannot declare. */
export function storageSteps(deployment: Deployment): Step[] {
  const configuration = deployment.configuration();
  return [
    ...[...databasesOf(configuration).keys()].map((name) => databaseStep(deployment, name)),
    bucketStep(deployment),
    ...queueNames(configuration).map((name) => queueStep(deployment, name)),
    queueIdStep(deployment),
    pullConsumerStep(deployment),
  ];
}

function databaseStep({ api, configuration, settings, store, wrangler }: Deployment, name: string): Step {
  const find = async () => await (await api())?.database(name);
  return {
    name: `D1 database ${name}`,
    async isDone() {
      const id = databasesOf(configuration()).get(name);
      return id !== "" && (await find())?.uuid === id;
    },
    async do() {
      if (!(await find())) await create(wrangler, configuration().account_id, ["d1", "create", name]);
      const found = await find();
      if (found) store({ databaseIds: { ...settings().databaseIds, [name]: found.uuid } });
    },
  };
}

function bucketStep({ api, configuration, wrangler }: Deployment): Step {
  const name = configuration().r2_buckets[0].bucket_name;
  return {
    name: `R2 bucket ${name}`,
    isDone: async () => (await (await api())?.bucketExists(name)) === true,
    do: () => create(wrangler, configuration().account_id, ["r2", "bucket", "create", name]),
  };
}

function queueStep({ api, configuration, wrangler }: Deployment, name: string): Step {
  return {
    name: `Queue ${name}`,
    isDone: async () => (await (await api())?.queue(name)) !== undefined,
    do: () => create(wrangler, configuration().account_id, ["queues", "create", name]),
  };
}

/** The Worker forwards agents to the queue by its id. */
function queueIdStep({ api, configuration, store }: Deployment): Step {
  const find = async () => (await (await api())?.queue(pulledQueue(configuration())))?.queue_id;
  return {
    name: "Id of the agents' queue",
    isDone: async () => configuration().vars["QUEUE_ID"] !== "" && (await find()) === configuration().vars["QUEUE_ID"],
    async do() {
      const id = await find();
      if (id) store({ queueId: id });
    },
  };
}

function pullConsumerStep({ api, configuration, wrangler }: Deployment): Step {
  const name = pulledQueue(configuration());
  return {
    name: `Pull consumer of ${name}`,
    isDone: async () => await hasPullConsumer(await api(), name),
    do: () => {
      const timeout = ["--visibility-timeout-secs", String(visibilitySeconds)];
      return create(wrangler, configuration().account_id, ["queues", "consumer", "http", "add", name, ...timeout]);
    },
  };
}

async function hasPullConsumer(api: Cloudflare | undefined, name: string): Promise<boolean> {
  const queue = await api?.queue(name);
  const consumers = queue ? await api?.consumers(queue.queue_id) : undefined;
  return consumers?.some(({ type }) => type === "http_pull") === true;
}

async function create(wrangler: Deployment["wrangler"], account: string | undefined, args: readonly string[]) {
  await wrangler.must(args, account);
}
