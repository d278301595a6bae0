import { followEvents } from "#domain/events/events";
import { Refusal } from "#domain/refusal";
import { eventStreamHeaders } from "#http/event-stream";
import { factory } from "#api/factory";
import { v2Only } from "#api/v2-only";

/** What happens to the account's builds, testdrives and publications, as server-sent events. */
export const events = factory.createApp().get("/events", v2Only, async (c) => {
  const after = idIn(c.req.header("last-event-id"));
  if (c.req.method === "HEAD") return new Response(null, { headers: eventStreamHeaders });
  return new Response(await followEvents(c.env, c.var.account, after), { headers: eventStreamHeaders });
});

/** An empty one is what a client sends that has seen none. */
function idIn(lastEventId: string | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw new Refusal("invalid_value", { message: "Last-Event-ID is the id of an event: a number." });
}
