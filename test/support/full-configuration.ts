import { configuration, configurationChange } from "#lib/configuration/document";
import { withChange } from "#domain/configuration/change";
import { Configuration } from "#lib/configuration/stored";
import { jsonExample } from "#lib/wire/example";
import { readDocument } from "#lib/wire/read";
import { readJson } from "#lib/wire/read-json";
import { settingsWith } from "./settings.ts";

const root = { uid: 0, name: "root", password: "linux", group: "root", shell: "/bin/bash", homedir: "/root" };

const initial = Configuration.parse({
  locale: { keyboardLayout: "german", language: "de_DE.UTF-8", timezone: "Europe/Vienna" },
  users: [{ ...root, sshKeys: [], administrator: false }],
  settings: settingsWith({}),
});

/** The example in the API's description. */
const example = readDocument(
  configurationChange,
  readJson(configurationChange, JSON.stringify(jsonExample(configuration, "v2"))),
);

/** A configuration with a value in each field. The value is the example's, or one that makes a difference. */
export const fullConfiguration: Configuration = withChange(
  { name: "Kiosk", version: "0.0.1", imageType: "oem", configuration: initial },
  {
    ...example,
    users: [root, ...(example.users ?? [])],
    settings: { ...example.settings, swapSizeMb: 64, paeEnabled: true },
    scripts: { ...example.scripts, autoyast: { enabled: true, script: "<profile/>" } },
  },
).configuration;
