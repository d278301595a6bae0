import type { Fetch } from "#domain/repositories/download";
import type { RepositoryFiles } from "./mirror.ts";

/** A mirror that sends the first byte of one file, and the rest after the test allows it. */
export function heldMirror(url: string, files: RepositoryFiles, heldPath: string) {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const fetchOutside: Fetch = async (to) => {
    const path = to.slice(url.length + 1);
    const file = to.startsWith(`${url}/`) ? files[path] : undefined;
    if (file === undefined) return new Response("There is no such file.", { status: 404 });
    if (path !== heldPath) return new Response(file);
    const bytes = typeof file === "string" ? new TextEncoder().encode(file) : file;
    return new Response(
      new ReadableStream<Uint8Array>({
        async start(controller) {
          controller.enqueue(bytes.subarray(0, 1));
          begun.resolve();
          await released.promise;
          controller.enqueue(bytes.subarray(1));
          controller.close();
        },
      }),
    );
  };
  return { fetchOutside, begun: begun.promise, release: released.resolve };
}
