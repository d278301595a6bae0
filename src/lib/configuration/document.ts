import { imageFormats, imageTypes } from "#lib/contract/index";
import {
  bool,
  countedOf,
  fields,
  group,
  id,
  inside,
  lines,
  oneOf,
  repeated,
  script,
  text,
  through,
  url,
  version,
  words,
} from "#lib/wire/field";
import { autostart, check, database, user } from "#lib/configuration/lists";
import { lvm } from "#lib/configuration/division";
import { settings } from "#lib/configuration/settings";
import * as leaves from "#lib/wire/leaf";
import { document } from "#lib/wire/shape";
import { anyPartOf } from "#lib/wire/variants";

/**
 * The element `configuration` (compatibility.md, "Configuration"). It is the source of the document and its reader, its
 * forms, the schema of `appliance.yaml`, and the stored form. Settings that a template or an older row lacks have an
 * initial value here. Each field has a question, or the reason why no form asks for it. If an import from KIWI does not
 * read a field, it also has the reason for that.
 */

/** The source of an image's address. With `none`, the image's network is not configured. */
export const networkTypes = ["dhcp", "manual", "ask_on_first_boot", "network_manager", "none"] as const;

export const locale = {
  keyboard_layout: text("keyboardLayout", "english-uk").asked("Keyboard", { page: "locale", entered: "keyboard" }),
  language: text("language", "en_GB.UTF-8").asked("Language", {
    page: "locale",
    isFirst: true,
    entered: "language",
    hint: "Type a language or a country to search.",
  }),
  timezone: group(
    fields({
      location: text("timezone", "Europe/London").asked("Time zone", {
        page: "locale",
        entered: "time zone",
        hint: "Type a city to search, or UTC.",
      }),
    }),
  ),
};

/**
 * Addresses are stored with every type, but used and shown only with `manual`. The original API treats the name alike.
 */
const isManual = ({ type }: { type: string }) => type === "manual";

const ofManual = { page: "network", usedWith: "manual" };

export const network = fields({
  type: oneOf("type", networkTypes, "manual")
    .initially("dhcp")
    .asked("Address", {
      page: "network",
      options: [
        ["dhcp", "By DHCP"],
        ["manual", "Fixed"],
        ["ask_on_first_boot", "Ask at the first boot"],
        ["network_manager", "NetworkManager"],
        ["none", "Keep the settings of the base system"],
      ],
    }),
  hostname: text("hostname", "desk1").unlessEmpty().inXmlWhen(isManual).initially("").asked("Host name", {
    page: "network",
    isFirst: true,
    hint: "Empty: the name that the base system or DHCP gives.",
  }),
  ip: text("ip", "192.0.2.20")
    .unlessEmpty()
    .when(isManual)
    .initially("")
    .asked("IP address", { ...ofManual, hint: "Every machine that boots this image has the same." }),
  netmask: text("netmask", "255.255.255.0")
    .unlessEmpty()
    .when(isManual)
    .initially("")
    .asked("Netmask", { ...ofManual, hint: "255.255.255.0, or 24 for short." }),
  route: text("route", "192.0.2.1").unlessEmpty().when(isManual).initially("").asked("Gateway", ofManual),
  nameservers: words("nameservers", ["192.0.2.2", "192.0.2.3"], ", ")
    .unlessEmpty()
    .when(isManual)
    .initially([])
    .asked("Name servers", { ...ofManual, hint: "Separated by commas." }),
});

export const firewall = fields({
  enabled: bool("enabled", true).asked("Firewall", {
    page: "network",
    hint: "Closes all ports to others, except those below. Needs nftables, firewalld or SuSEfirewall2.",
  }),
  open_port: repeated("openPorts", leaves.text("ssh")).asked("Open ports", {
    page: "network",
    entered: "ports",
    hint: "Other services or numbers, separated by commas, e.g. 8080, 53/udp.",
    usedWith: "firewall",
  }),
});

const enabled = (example: boolean) => bool("enabled", example).initially(false);
const scriptText = (example: string) => script("script", example).unlessEmpty().initially("");
const nothing = { enabled: false, script: "" };

const build = fields({
  enabled: enabled(true).asked("Run a script at the end of each build", { page: "scripts" }),
  script: scriptText("#!/bin/sh\nrm -rf /usr/share/man").asked("Script of the build", {
    page: "scripts",
    entered: "script",
    hint: "Runs as root in the image. If it fails, the build fails.",
    usedWith: "build-script",
  }),
});

const boot = fields({
  enabled: enabled(true).asked("Run a script at each boot", { page: "scripts" }),
  script: scriptText("#!/bin/sh\necho open > /etc/motd").asked("Script at boot", {
    page: "scripts",
    entered: "script",
    hint: "Runs as root on the machine, when it has started.",
    usedWith: "boot-script",
  }),
});

const onlyYast =
  "Only in the specification: a file /autoinst.xml of the appliance does the same, and only YaST reads it.";
const autoyast = fields({ enabled: enabled(false).notAsked(onlyYast), script: scriptText("").notAsked(onlyYast) });

const scripts = fields({
  build: inside("build", build).initially(nothing),
  boot: inside("boot", boot).initially(nothing),
  autoyast: inside("autoyast", autoyast).initially(nothing),
});

const sections = {
  locale: inside("locale", fields(locale)),
  network: inside("network", network).initially({
    type: "dhcp",
    hostname: "",
    ip: "",
    netmask: "",
    route: "",
    nameservers: [],
  }),
  firewall: inside("firewall", firewall).initially({ enabled: true, openPorts: ["ssh"] }),
  users: inside("users", countedOf("user", user)),
  eulas: inside("eulas", countedOf("eula", leaves.lines("Books stay here.")))
    .initially([])
    .asked("Text"),
  databases: inside("databases", countedOf("database", database)).unlessEmpty().initially([]),
  autostarts: inside("autostarts", countedOf("autostart", autostart)).unlessEmpty().initially([]),
  settings: inside("settings", settings),
  lvm: inside("lvm", lvm).initially({ enabled: false, kind: "lvm", volumeGroup: "", volumes: [] }),
  scripts: inside("scripts", scripts).initially({ build: nothing, boot: nothing, autoyast: nothing }),
  // XML clients of the original API refuse unknown elements.
  checks: inside("checks", countedOf("check", check))
    .unlessEmpty()
    .inXmlWhen(() => false)
    .initially([])
    .notImported("Checks test the image. They are not part of it."),
};

const description = {
  description: lines("description", "One screen, no login.")
    .unlessEmpty()
    .initially("")
    .asked("Description", { page: "general", hint: "For you, the gallery, and /etc/kiln-release." }),
};
const links = {
  website: url("website", "https://reading.example.org")
    .unlessEmpty()
    .initially("")
    .asked("Website", { page: "general" }),
  tags: inside("tags", countedOf("tag", leaves.text("library")))
    .unlessEmpty()
    .initially([])
    .asked("Tags", { page: "general", entered: "list", hint: "Separated by commas." })
    .notImported("Only the gallery uses them."),
};

/** The part of a configuration that a row stores as JSON. Name, version and image type are separate columns. */
export const storedConfiguration = fields({ ...description, ...links, ...sections });

export const configuration = document(
  "Configuration",
  "configuration",
  fields({
    id: id("id", 1004).ignored(),
    name: text("name", "Reading room").asked("Name", { page: "general", isFirst: true }),
    ...through("configuration", description),
    version: version("version", "0.0.3").asked("Version", {
      page: "general",
      isFirst: true,
      hint: "The version of the next build. Each finished build raises its last number.",
    }),
    type: oneOf("imageType", imageTypes).asked("Format", {
      page: "general",
      hint: "The format of builds for which you choose no other.",
      options: imageTypes.map((type) => [type, `${type}: ${imageFormats[type].label}`]),
    }),
    ...through("configuration", links),
    ...through("configuration", sections),
  }),
);

/** A change of any part of the configuration. Omitted parts stay, and a list that is sent replaces the stored one. */
export const configurationChange = anyPartOf("WantedConfiguration", configuration);
