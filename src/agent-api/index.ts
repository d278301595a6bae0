import { z } from "zod";
import { hasFullDisk } from "#domain/full-disk";
import { Refusal } from "#domain/refusal";
import { agents } from "#agent-api/agents";
import { artifacts } from "#agent-api/artifacts";
import { authenticate } from "#agent-api/authenticate";
import { builds } from "#agent-api/builds";
import { downloads } from "#agent-api/downloads";
import { factory } from "#agent-api/factory";
import { AgentRefusal } from "#agent-api/refusal";
import { BodyFault, causeOf } from "#http/request-body";
import { storedPackages } from "#agent-api/stored-packages";
import { testdrives } from "#agent-api/testdrives";
import { logFailure } from "#log/log";

const largeBytes = 1024 * 1024;

/** Agents retry refused requests. The disk space that remains is for heartbeats and logs. */
const refuseLargeBodiesOnFullDisk = factory.createMiddleware(async (c, next) => {
  const isLarge = Number(c.req.header("content-length") ?? 0) >= largeBytes;
  if (isLarge && (await hasFullDisk(c.env))) throw new AgentRefusal("disk_full");
  await next();
});

/** JSON for builder agents. Its messages are in src/lib/contract. */
export const agentApi = factory
  .createApp()
  .use(authenticate, refuseLargeBodiesOnFullDisk)
  .route("/", agents)
  .route("/builds", builds)
  .route("/builds", artifacts)
  .route("/builds", downloads)
  .route("/builds", storedPackages)
  .route("/testdrives", testdrives);

agentApi.onError((thrown, c) => {
  const error = causeOf(c, thrown);
  const { status, code, message } = shown(error);
  c.set("refused", code);
  if (status >= 500) logFailure("a request failed", error);
  return c.json({ error: { code, message } }, status);
});

function shown(error: unknown) {
  if (error instanceof AgentRefusal) return error;
  if (error instanceof BodyFault) return { status: error.status, code: "no_body", message: error.message };
  if (error instanceof Refusal) return { status: 400 as const, code: error.code, message: error.message };
  if (error instanceof z.ZodError) return new AgentRefusal("invalid", z.prettifyError(error));
  if (error instanceof SyntaxError) return new AgentRefusal("invalid", "The body is not JSON.");
  return { status: 500 as const, code: "internal_error", message: "Something went wrong inside the service." };
}
