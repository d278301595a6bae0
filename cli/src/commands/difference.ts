import type { AnswerOf, Client, RequestOf } from "../client/client.ts";
import { command, value } from "../command.ts";
import type { Painter } from "../output/painter.ts";
import { bytes, table } from "../output/table.ts";
import { buildId } from "../resolve.ts";

type Difference = AnswerOf<"compareBuilds">["difference"];

/** The service's largest page. */
const filesOfPage = 1000;

export const difference = [
  command("diff <build> <other>", {
    tool: "reads",
    summary: "Show how two builds differ: packages, licences, settings and files",
    options: { path: value("path", "only files at and below this path") },
    examples: ["kiln diff 12 15", "kiln diff 12 15 --path /etc"],
    act: async ({ client, show, paint }, { build, other, path }) => {
      const pair = { build_id: await buildId(client, build), to: await buildId(client, other) };
      const found = await compare(client, { ...pair, ...(path !== undefined && { path }) });
      show({ difference: found }, () => shown(paint, found));
    },
  }),
];

/** The difference with the files of all pages. */
async function compare(client: Client, request: RequestOf<"compareBuilds">): Promise<Difference> {
  const { difference: found } = await client.call("compareBuilds", { ...request, limit: String(filesOfPage) });
  const { next_url: next, ...files } = found.files;
  const after = next === undefined ? null : new URL(next, client.url).searchParams.get("after");
  if (after === null) return { ...found, files };
  const rest = await compare(client, { ...request, after });
  return { ...found, files: { ...files, file: [...files.file, ...rest.files.file] } };
}

function shown(paint: Painter, { from, to, packages, licenses, settings, files }: Difference): string {
  const sizes = `${from.name} ${from.version} ${bytes(from.file_size)} → ${to.name} ${to.version} ${bytes(to.file_size)}`;
  const parts: [string, readonly (readonly (string | number | undefined)[])[], readonly string[]][] = [
    ["Packages", packages.map((one) => [sign(one.change), one.name, one.from?.version, one.to?.version]), versions],
    [
      "Settings",
      settings.map((one) => ["~", [one.name, one.item].filter(Boolean).join(" "), one.from, one.to]),
      versions,
    ],
    ["Files", files.file.map((one) => [sign(one.change), one.path, sizeIn(one.from), sizeIn(one.to)]), versions],
  ];
  const tables = parts.flatMap(([title, rows, headings]) =>
    rows.length === 0 ? [] : [`${paint.bold(title)}\n${table(paint, headings, rows)}`],
  );
  const licences = [...licenses.added.map((name) => `+ ${name}`), ...licenses.removed.map((name) => `- ${name}`)];
  const licenceLines = licences.length > 0 ? [`${paint.bold("Licences")}\n${licences.join("\n")}`] : [];
  const gone = files.state === "gone" ? ["The files of one of the images are no longer stored."] : [];
  const all = [...tables, ...licenceLines, ...gone];
  return [sizes, ...(all.length > 0 ? all : ["They do not differ."])].join("\n\n");
}

const versions = ["", "NAME", "BEFORE", "AFTER"];

const sign = (change: "changed" | "added" | "removed"): string => ({ changed: "~", added: "+", removed: "-" })[change];

const sizeIn = (file: { size?: number } | undefined): string | undefined =>
  file?.size === undefined ? undefined : bytes(file.size);
