import { Log, LogLevel, Miniflare, convertV4MiniflareOptions, type V4MiniflareOptions } from "miniflare";
import { bundleWorker } from "../scripts/launch/bundle.ts";
import { keepingSignals } from "../scripts/launch/runtime.ts";

export interface ConstantWorker {
  /** Answers immediately. */
  url: string;
  /** First reads one row from D1, as every Worker with accounts in D1 must. */
  askingUrl: string;
  stop: () => Promise<void>;
}

/** The fastest possible Worker: it always answers the same bytes, and runs in the same way as Kiln's Worker. */
export async function startConstantWorker(text: string): Promise<ConstantWorker> {
  const { worker } = await bundleWorker();
  const { compatibilityDate, compatibilityFlags } = worker;
  const options = {
    host: "127.0.0.1",
    port: 0,
    cf: false,
    log: new Log(LogLevel.ERROR),
    logRequests: false,
    telemetry: { enabled: false },
    workers: [
      {
        name: "constant",
        compatibilityDate,
        compatibilityFlags,
        modules: true,
        script: scriptAnswering(text),
        d1Databases: { DB: "constant" },
        unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
      },
    ],
  } as V4MiniflareOptions;
  const miniflare = keepingSignals(() => new Miniflare(convertV4MiniflareOptions(options)));
  await miniflare.ready;
  const { href: url } = await miniflare.unsafeGetDirectURL("constant");
  return { url, askingUrl: `${url}ask`, stop: () => miniflare.dispose() };
}

const scriptAnswering = (text: string) => `
  const bytes = new TextEncoder().encode(${JSON.stringify(text)});
  const headers = { "content-type": "application/xml; charset=utf-8" };
  export default {
    async fetch(request, env) {
      if (request.url.endsWith("/ask")) await env.DB.prepare("SELECT ?1 AS id").bind(1).raw();
      return new Response(bytes, { headers });
    },
  };
`;
