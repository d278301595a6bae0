import { groups } from "#api/groups";
import type { Group } from "#api/operation";
import { docsOf, docsPath } from "./addresses.ts";
import { factory } from "../../factory.ts";

/** Describes the service to assistants, in the format of https://llmstxt.org: its purpose, documentation and calls. */
export const llms = factory.createApp().get("/llms.txt", (c) => {
  c.header("Cache-Control", "public, max-age=300");
  return c.text(textOf(c.var.baseUrl));
});

const textOf = (baseUrl: string): string =>
  [
    "# Kiln",
    "",
    "> Kiln builds software appliances: bootable images made from packages. Clone a template, choose packages, configure the",
    "> system, add files and keys, and build it in one or more formats. Boot the image in the browser, download it, or publish it.",
    "",
    `The API is below ${baseUrl}/api/v2/user. Sign in with HTTP Basic: the name of an account, and its API key or a token as the`,
    "password. Send `Accept: application/json`, or answers are XML. Parameters come in the query or as a form. A build takes",
    "minutes: start it, then ask for its state.",
    "",
    "`kiln mcp`, of the command line, offers these calls as tools of the Model Context Protocol.",
    "",
    "## Documentation",
    "",
    `- [All calls](${baseUrl}${docsPath}): what each takes, answers and refuses, and every error`,
    `- [OpenAPI 3.1](${baseUrl}/api/openapi.json): the same for programs`,
    `- [Schema of appliance.yaml](${baseUrl}/schema/appliance.json): an appliance as a file, for the calls of Definitions`,
    ...groups.flatMap((group) => section(group, baseUrl)),
    "",
  ].join("\n");

const section = (group: Group, baseUrl: string): string[] => [
  "",
  `## ${group.title}`,
  "",
  group.about,
  "",
  ...group.operations
    .filter(({ versions, deprecated }) => versions.includes("v2") && !deprecated)
    .map(
      ({ name, method, path, summary }) => `- [${summary}](${baseUrl}${docsOf(group)}#${name}): \`${method} ${path}\``,
    ),
];
