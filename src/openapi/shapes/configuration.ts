import {
  bool,
  countedOf,
  document,
  fields,
  id,
  imageType,
  int,
  oneOf,
  optional,
  repeated,
  text,
  url,
  version,
  type Fields,
  type Shape,
} from "#openapi/shape";

export const network = fields({
  type: oneOf("manual", "dhcp", "ask_on_first_boot", "network_manager", "none"),
  hostname: optional(text("desk1")),
  ip: optional(text("192.0.2.20")),
  netmask: optional(text("255.255.255.0")),
  route: optional(text("192.0.2.1")),
  nameservers: optional(text("192.0.2.2, 192.0.2.3")),
});

export const firewall = fields({ enabled: bool(true), open_port: repeated(text("ssh")) });

const user = fields({
  uid: int(1000),
  name: text("clerk"),
  password: text("quiet please"),
  group: text("users"),
  shell: text("/bin/sh"),
  homedir: text("/home/clerk"),
});

const database = fields({
  type: oneOf("pgsql", "mysql"),
  users: countedOf(
    "user",
    fields({ username: text("loans"), password: text("return it"), database_list: text("loans") }),
  ),
});

const autostart = fields({
  command: text("/usr/bin/counterd"),
  description: text("Counts visitors"),
  enabled: bool(true),
  user: text("clerk"),
});

const settings = fields({
  memory_size: int(512),
  disk_size: int(4),
  swap_size: int(0),
  pae_enabled: bool(false),
  xen_host_mode_enabled: bool(false),
  cdrom_enabled: bool(true),
  webyast_enabled: bool(false),
  live_installer_enabled: bool(false),
  public_clonable: bool(true),
  runlevel: int(3),
  automatic_login: optional(text("clerk")),
});

const lvm = fields({
  enabled: bool(true),
  volume_group: optional(text("roomVG")),
  volumes: optional(countedOf("volume", fields({ size: int(2000), path: text("/srv") }))),
});

const script = (example: string) => fields({ enabled: bool(true), script: optional(text(example)) });

const settable = {
  name: text("Reading room"),
  description: optional(text("One screen, no login.")),
  version: version("0.0.3"),
  type: imageType("oem"),
  website: optional(url("https://reading.example.org")),
  tags: optional(countedOf("tag", text("library"))),
  locale: fields({
    keyboard_layout: text("english-uk"),
    language: text("en_GB.UTF-8"),
    timezone: fields({ location: text("Europe/London") }),
  }),
  network,
  firewall,
  users: countedOf("user", user),
  eulas: countedOf("eula", text("Books stay here.")),
  databases: optional(countedOf("database", database)),
  autostarts: optional(countedOf("autostart", autostart)),
  settings,
  lvm,
  scripts: fields({
    build: script("#!/bin/sh\nrm -rf /usr/share/man"),
    boot: script("#!/bin/sh\necho open > /etc/motd"),
    autoyast: fields({ enabled: bool(false), script: optional(text("")) }),
  }),
};

export const configuration = document("Configuration", "configuration", fields({ id: id(1004), ...settable }));

/** Any part of it: what is left out stays, a list that is sent replaces the list. */
export const wantedConfiguration = document("WantedConfiguration", "configuration", allOptional(fields(settable)));

function allOptional(shape: Fields): Fields {
  return fields(Object.fromEntries(Object.entries(shape.fields).map(([name, one]) => [name, partOf(one)])));
}

function partOf(shape: Shape): Shape {
  return optional(shape.kind === "fields" ? allOptional(shape) : shape);
}
