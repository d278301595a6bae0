import { settingsWith } from "../../support/settings.ts";
import type { ImageFacts } from "#lib/kiwi/facts";

/** The smallest appliance; tests add to it. */
export const plain: ImageFacts = {
  name: "Kiosk",
  title: "Kiosk",
  version: "0.0.3",
  imageType: "oem",
  lvm: { enabled: false, kind: "lvm", volumeGroup: "", volumes: [] },
  locale: { language: "de_DE.UTF-8", keyboardLayout: "german", timezone: "Europe/Vienna" },
  users: [{ name: "root", passwordHash: "$6$salt$hash", homedir: "/root", shell: "/bin/bash", group: "root", uid: 0 }],
  packages: [{ name: "hello", epoch: 0, version: "1.0", release: "1", arch: "noarch" }],
  bootstrap: null,
  description: "",
  website: "",
  network: { type: "none", hostname: "", ip: "", netmask: "", route: "", nameservers: [] },
  firewall: { enabled: false, openPorts: [] },
  eulas: [],
  databases: [],
  autostarts: [],
  checks: [],
  settings: settingsWith({ swapSizeMb: 0 }),
  scripts: {
    build: { enabled: false, script: "" },
    boot: { enabled: false, script: "" },
    autoyast: { enabled: false, script: "" },
  },
  overlay: [],
};
