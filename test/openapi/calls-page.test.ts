import { expect, it } from "vitest";
import { z } from "zod";
import { type Group, type Operation, scopeOf } from "#api/operation";
import { groups } from "#api/groups";
import { imageTypes } from "#lib/contract/index";
import { type Parameter, parametersOf } from "#openapi/parameters";
import { client } from "./support/client.ts";

/** docs/api/calls.md, which is generated from the calls themselves. */
const page = (): string =>
  [
    "# All calls",
    "",
    "This page is made from the descriptions of the calls. To change it, change those, and run its test with `--update`:",
    "[CONTRIBUTING.md](../../CONTRIBUTING.md).",
    "",
    'Paths are below `/api/v1/user` and `/api/v2/user`; "v2" marks calls that only version 2 has. A parameter in **bold**',
    "is required. [errors.md](errors.md) has the codes.",
    ...groups.flatMap(section),
    "",
  ].join("\n");

const section = ({ title, about, operations }: Group): string[] => [
  "",
  `## ${title}`,
  "",
  about,
  "",
  "| Call | Whose | Scope | What it does | Parameters | Refused with |",
  "|---|---|---|---|---|---|",
  ...operations.map(row),
];

function row(operation: Operation): string {
  const { method, path, versions, access, summary, details, refuses = [], unknown = [] } = operation;
  const call = `\`${method} ${path.slice(1)}\`${versions.includes("v1") ? "" : " (v2)"}`;
  const parameters = parametersOf(operation).filter(({ place }) => place === "query");
  const codes = [...new Set([...unknown, ...refuses])].map((code) => `\`${code}\``);
  const what = [summary, details].filter(Boolean).map((sentence) => `${sentence?.replace(/\.$/, "")}.`);
  const cells = [
    call,
    whose[access],
    scopeOf(operation),
    what.join(" "),
    parameters.map(parameter).join("<br>"),
    codes.join(", "),
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

const whose = { own: "yours", readable: "yours, shared, templates", public: "everyone's" } as const;

function parameter({ name, isRequired, meaning, schema }: Parameter): string {
  const values = z.array(z.string()).safeParse(schema["enum"]).data ?? [];
  return `${isRequired ? `**\`${name}\`**` : `\`${name}\``}: ${meaning}${choice(values)}`;
}

function choice(values: readonly string[]): string {
  if (values.join() === imageTypes.join()) return " One of the [image types](builds.md#image-types).";
  return values.length === 0 ? "" : ` One of ${values.map((value) => `\`${value}\``).join(", ")}.`;
}

it("matches the descriptions of the calls", async () => {
  await expect(page()).toMatchFileSnapshot("../../docs/api/calls.md");
});

it("matches the command line's client", async () => {
  await expect(client()).toMatchFileSnapshot("../../cli/src/client/calls.ts");
});
