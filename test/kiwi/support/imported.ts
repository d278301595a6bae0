import { importXml, type Imported } from "#lib/kiwi/import/index";

export const serviceUrl = "https://kiln.test";

type Choice = Parameters<typeof importXml>[1]["choice"];

/** The result of importing a folder with `config.xml`. */
export function imported(files: Record<string, string>, choice?: Choice): Imported {
  const bytes = Object.entries(files).map(
    ([path, text]) => [path, { content: new TextEncoder().encode(text), mode: 0o644 }] as const,
  );
  return importXml(files["config.xml"] ?? "", {
    nextTo: { files: new Map(bytes) },
    readIncluded: (path) => files[path],
    serviceUrl,
    ...(choice && { choice }),
  });
}
