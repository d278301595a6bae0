import { app } from "./app.ts";
import { takeJobs } from "#queues/jobs";
import { sweep } from "#queues/sweep";

export { Build } from "#objects/build";
export { Mailbox } from "#objects/mailbox";
export { Switchboard } from "#objects/switchboard";
export { Testdrive } from "#objects/testdrive";

export default {
  fetch: app.fetch,
  queue: takeJobs,
  scheduled: sweep,
} satisfies ExportedHandler<Env>;
