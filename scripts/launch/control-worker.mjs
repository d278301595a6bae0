// Runs in workerd next to the service, only for the launcher. control.ts calls it over a Unix socket.

/**
 * Whether this workerd is new. Its queues are in memory, so after a restart the service must continue the work that was
 * queued before.
 */
let isNew = true;

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/batch") {
      const statements = (await request.json()).map(({ sql, values }) => env.DB.prepare(sql).bind(...values));
      const answers = await env.DB.batch(statements);
      return Response.json(answers.map(({ results }) => results));
    }
    if (pathname === "/scheduled") {
      const cron = isNew ? "start" : "* * * * *";
      isNew = false;
      const { outcome } = await env.SERVICE.scheduled({ cron, scheduledTime: new Date() });
      if (outcome !== "ok" && cron === "start") isNew = true;
      return Response.json(outcome, { status: outcome === "ok" ? 200 : 500 });
    }
    return new Response(null, { status: 404 });
  },
};
