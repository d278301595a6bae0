import { env } from "cloudflare:workers";
import { app } from "./app.ts";
import { guestOriginProblem } from "#domain/testdrives/guest-origin";
import { variableProblem } from "#domain/variables";
import { writeLogAs } from "#log/log";
import { consume } from "#queues/consume";
import { sweep } from "#queues/sweep";

export { Build } from "#objects/build";
export { Events } from "#objects/events";
export { ImageLog } from "#objects/image-log";
export { Mailbox } from "#objects/mailbox";
export { Switchboard } from "#objects/switchboard";
export { Testdrive } from "#objects/testdrive";
export { UserRepositoryIndex } from "#objects/user-repository-index";

writeLogAs(env.MODE === "embedded" ? "text" : "json");

// A deploy with such variables fails, with this message.
const problem = guestOriginProblem(env) ?? variableProblem(env);
if (problem !== undefined) throw new Error(problem);

export default {
  fetch: app.fetch,
  queue: consume,
  scheduled: sweep,
} satisfies ExportedHandler<Env>;
